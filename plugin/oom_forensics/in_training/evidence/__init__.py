"""What Python adds to a run after the collector, or TensorFlow's profiler, has written it.

The collector sees allocations; only Python knows the user's source lines, the objects
that keep a tensor alive, the graph that was running. A provider is a function that is
told of a written run and returns planes (a serialised XSpace) to append to its trace:

    from oom_forensics.in_training.evidence import providers

    def my_planes(run: WrittenRun) -> bytes | None: ...

    providers.register(my_planes, limit_s=1.0)

    written_run   what a provider is told: file, origin, frames, time left
    out_of_memory  how the collector has providers asked before a refusal returns
    providers     who is asked, in which order, and for how long
    from_out_of_memory  what was learnt at an out-of-memory, for a recording under way
    shown_in_run  one out-of-memory, one run in the list
    trace_file    reading what a trace names without its events; appending planes
    settings      what the user may switch off
    moments       how Python learns that a run was written
"""
