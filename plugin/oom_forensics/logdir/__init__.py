"""The runs of a logdir: where they lie, and what is made of them before they are read."""
