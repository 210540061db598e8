"""Fleets of real runs: recorded from the demos, converted on a cluster, measured."""
