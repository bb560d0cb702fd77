"""The arithmetic of the tests: no training, no files."""
