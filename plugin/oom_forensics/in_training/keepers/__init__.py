"""Who keeps live tensors from being freed: the chain of references from a root to each.

    list 'losses' in __main__ (200 items) → GradientTape → EagerTensor

The collector knows each live allocation by its address; Python knows which tensor lies
there and what refers to it. Names and lines go into a run, never values.

    objects        all objects that Python knows, a part of them at a time
    heap           what refers to what, by ids
    live_tensors   the tensors and variables of this process with their addresses
    safe_looks     looking at objects without running code of the user
    roots          where references begin: modules, local variables, threads
    links          a reference in words
    chains         from tensors to roots, in bounded time
    keeper_provider  the provider: the largest groups, for one written run

Nothing here holds a reference to what it looked at for longer than a moment (`objects`).
"""
