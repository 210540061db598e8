"""The tab: what TensorBoard loads, and what its pages ask for."""
