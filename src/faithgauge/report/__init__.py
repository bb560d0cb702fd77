"""Results to a page; no torch."""
