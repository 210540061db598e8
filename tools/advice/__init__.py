"""Runs the jobs of `tests/jobs` into their out-of-memory and follows the advice they get."""
