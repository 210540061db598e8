"""OOM Forensics for TensorFlow: why a job ran out of memory.

This package holds the TensorBoard plugin, the `oom-forensics` command and the
Python interface. What is measured is measured by the collector (a library that
TensorFlow loads by itself); what is computed is computed by the converter (a
program in this package). Python passes their answers on and never recomputes.
"""

__version__ = "0.1.0"
