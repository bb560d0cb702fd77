"""An audit: what is asked within a budget, what it says of each explanation, and the word for it."""
