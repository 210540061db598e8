"""Traces that are made to break or to eat a reader."""
