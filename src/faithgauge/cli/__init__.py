"""The command line: one small module per command, each parses, calls and prints."""
