"""What `tools/bench` runs."""
