"""Prints the class of the allocator that TensorFlow gives the CPU by default."""

import ctypes
import os

import tensorflow as tf

library = ctypes.CDLL(os.path.join(os.path.dirname(tf.__file__), "libtensorflow_framework.so.2"))
cpu_allocator = library._ZN3tsl13cpu_allocatorEi
cpu_allocator.restype = ctypes.c_void_p
virtual_table = ctypes.c_void_p.from_address(cpu_allocator(-1)).value
type_info = ctypes.c_void_p.from_address(virtual_table - 8).value
print(ctypes.c_char_p.from_address(type_info + 8).value.decode())
