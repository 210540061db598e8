"""The native part of OOM Forensics for TensorFlow on Linux x86-64.

`bin/oom-forensics` is the converter; the collector lies in `tensorflow-plugins`, where TensorFlow
loads it. There is nothing to import: the package oom-forensics finds both.
"""
