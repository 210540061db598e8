"""Runs jobs of the stock TensorFlow wheel for GPUs on a stand-in for NVIDIA's libraries."""
