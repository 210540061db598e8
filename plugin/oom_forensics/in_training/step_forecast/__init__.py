"""Forecasts what a step of a graph will ask its allocator for, without running it.

    step_function ─▶ prepared_graph ─▶ executor ─▶ plane

`step_function` finds the function of a step and what it was called with;
`prepared_graph` gives TensorFlow's optimized graph of it; `executor` runs that graph with
tensors that have a shape but no data (`tensors`, `shapes`, `values`, `kernels`), in several
orders (`orders`); `plane` writes the requests that it made into a run. What they mean for a
pool (its peak, the smallest limit) the converter works out.
"""
