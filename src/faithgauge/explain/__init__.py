"""A model and a batch to one number per token."""
