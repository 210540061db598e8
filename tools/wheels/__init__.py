"""The packages that are made of this repository: for viewing anywhere, and for recording on Linux.

`tools/release` makes them; `setup.py` makes the one that holds all of it.
"""
