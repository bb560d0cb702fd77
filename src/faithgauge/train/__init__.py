"""Training: one loop, its objectives and its metrics."""
