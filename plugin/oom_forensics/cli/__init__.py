"""The `oom-forensics` command, and a file for each of its commands that is Python's own."""
