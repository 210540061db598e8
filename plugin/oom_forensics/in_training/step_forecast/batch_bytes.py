"""How many bytes of each request each example of the batch takes.

A graph that was traced for one size of the batch cannot be run for another: sizes stand in
it as constants. What of a request grows with the batch is therefore told from its shape: a
dimension that is the batch, or its multiple in front (heads or time steps folded into it).
The shape of a variable is none of these in the backward pass and in an optimizer: it is a
gradient or a slot there. In the forward pass a layer that is as wide as the batch gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from oom_forensics.in_training.step_forecast.memory import Requests, Site
from oom_forensics.in_training.step_forecast.step_function import StepFunction
from oom_forensics.in_training.step_forecast.tensors import Shape

_GRADIENT = "gradient_tape/"


def per_example_bytes(
    orders: Sequence[Requests],
    batch: int | None,
    step: StepFunction,
    updating: Sequence[str] = (),
) -> list[Requests]:
    """Returns the orders with `Site.per_example_bytes` filled in.

    `updating`: the scopes in which variables are updated, with a slash at their end.
    """
    if not batch:
        return list(orders)
    variables = {a.variable[1] for a in step.arguments if a.variable is not None}
    return [
        replace(
            each,
            sites=[_with_share(site, batch, variables, tuple(updating)) for site in each.sites],
        )
        for each in orders
    ]


def _with_share(site: Site, batch: int, variables: set[Shape], updating: tuple[str, ...]) -> Site:
    shape = site.shape
    if not shape or batch == 1 or site.fixed:
        # Of a batch of one nothing can be told apart.
        return site
    if shape in variables and (_GRADIENT in site.op or site.op.startswith(updating)):
        return site
    grows = any(size == batch for size in shape) or (
        shape[0] is not None and shape[0] > 0 and shape[0] % batch == 0
    )
    return site._replace(per_example_bytes=site.requested_bytes // batch if grows else 0)
