"""What every room says alike: errors, commands, sizes, and the memory of this machine."""
