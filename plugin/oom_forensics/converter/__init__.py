"""The converter as a program: where it lies, and what is spoken with it."""
