"""Jobs that depend on each other: planned, computed once, stored, resumed. Knows nothing of language."""
