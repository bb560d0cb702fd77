"""Ids to outputs: encoders, attention, classifiers, and how they are stored."""
