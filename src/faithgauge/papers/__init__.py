"""What the five papers print, and what they claim: facts, and arithmetic on rows; no torch, no models."""
