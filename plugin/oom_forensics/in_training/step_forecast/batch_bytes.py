"""How many bytes of each request each example of the batch takes.

A graph that was traced for one size of the batch cannot be run for another: sizes stand in
it as constants. What of a request grows with the batch is therefore told from its shape: a
dimension that is the batch, or its multiple in front (heads or time steps folded into it).
The shape of a variable is none of these, it is a gradient or an optimizer's slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from oom_forensics.in_training.step_forecast.memory import Requests, Site
from oom_forensics.in_training.step_forecast.step_function import StepFunction
from oom_forensics.in_training.step_forecast.tensors import Shape


def per_example_bytes(
    orders: Sequence[Requests], batch: int | None, step: StepFunction
) -> list[Requests]:
    """Returns the orders with `Site.per_example_bytes` filled in."""
    if not batch:
        return list(orders)
    variables = {a.variable[1] for a in step.arguments if a.variable is not None}
    return [
        replace(each, sites=[_with_share(site, batch, variables) for site in each.sites])
        for each in orders
    ]


def _with_share(site: Site, batch: int, variables: set[Shape]) -> Site:
    shape = site.shape
    if not shape or shape in variables or batch == 1 or site.fixed:
        # Of a batch of one nothing can be told apart.
        return site
    grows = any(size == batch for size in shape) or (
        shape[0] is not None and shape[0] > 0 and shape[0] % batch == 0
    )
    return site._replace(per_example_bytes=site.requested_bytes // batch if grows else 0)
