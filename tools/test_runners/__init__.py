"""Runs the tests of every language and counts them together."""
