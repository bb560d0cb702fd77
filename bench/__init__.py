"""Benchmarks: each prints a ratio against an honest baseline that is measured in the same run.

    python -m bench [NAME …] [--json]

A benchmark is a function that returns rows, and one line in `BENCHES`. Times are CPU seconds of one thread
where nothing else is said; an absolute time is never a goal: it says as much of the machine as of the code.
"""
