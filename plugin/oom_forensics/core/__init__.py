"""What every room says alike: sizes, and the memory of this machine."""
