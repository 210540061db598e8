"""A program in whose language a number has a comma. Prints one, and then its allocators."""

import ctypes
import json
import locale

import oom_forensics
import tensorflow as tf

locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
text = ctypes.create_string_buffer(8)
ctypes.CDLL(None).snprintf(text, len(text), b"%g", ctypes.c_double(0.5))
print(text.value.decode())
kept = [tf.ones([1000, 100]) for _ in range(10)]
kept = kept[::2]
print(json.dumps(oom_forensics.memory_stats()))
