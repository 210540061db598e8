"""What runs inside the user's training, beside the collector that TensorFlow loaded.

The rest of the package runs in TensorBoard or in a terminal. Here nothing may fail,
hang or change a job: what is not recognized is left alone, and an exception of ours
never reaches the user.

    collector_library   the collector's C functions
    recorder            what `import oom_forensics` offers: configure, snapshot, record
    activation          what the collector starts by itself after `import tensorflow`
    training_steps      which training step runs
    stacks              lets the collector take the stacks of eager allocations
    evidence            what Python adds to a run that was written, by providers:
    source              … the user's lines of a graph's ops
    keepers             … who keeps live tensors from being freed
    step_forecast       … what a step that ran out of memory would have needed
"""
