"""Prints the class of the allocator that TensorFlow gives the CPU by default."""

import ctypes
import os

import tensorflow as tf

library = ctypes.CDLL(os.path.join(os.path.dirname(tf.__file__), "libtensorflow_framework.so.2"))
cpu_allocator = library._ZN3tsl13cpu_allocatorEi
cpu_allocator.restype = ctypes.c_void_p


def pointer_at(address: int) -> int:
    """Returns the pointer that lies at `address`."""
    value = ctypes.c_void_p.from_address(address).value
    assert value is not None
    return value


# Itanium C++ ABI: the type information stands before the virtual table, and in it the name.
type_info = pointer_at(pointer_at(cpu_allocator(-1)) - 8)
name = ctypes.c_char_p.from_address(type_info + 8).value
assert name is not None
print(name.decode())
