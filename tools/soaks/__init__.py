"""A long run of a job that keeps running out of memory (tools/soak)."""
