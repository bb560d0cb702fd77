"""Rank correlation in bulk and intervals: numpy and scipy only, and nothing of what is measured."""
