"""What of a request grows with the batch is told from shapes, and from where it is made."""

from __future__ import annotations

from oom_forensics.in_training.step_forecast.batch_bytes import per_example_bytes
from oom_forensics.in_training.step_forecast.memory import Requests, Site
from oom_forensics.in_training.step_forecast.step_function import Argument, StepFunction

FLOAT = 1
WIDTH = 64
WEIGHTS = Argument(20, (), (FLOAT, (WIDTH, WIDTH)), "weights")
STEP = StepFunction("step", {}, (WEIGHTS,))


def per_example(*sites: Site, batch: int) -> list[int]:
    (order,) = per_example_bytes(
        [Requests("fifo", list(sites), [])], batch, STEP, updating=["step/adam/"]
    )
    return [site.per_example_bytes for site in order.sites]


def site(op: str, *shape: int, fixed: bool = False) -> Site:
    size = 4
    for length in shape:
        size *= length
    return Site(op, FLOAT, shape, size, 0, fixed)


def test_the_batch_is_a_dimension_or_a_factor_of_the_first() -> None:
    assert per_example(
        site("dense/Relu", 8, 10), site("heads/MatMul", 32, 5), site("range", 7), batch=8
    ) == [40, 80, 0]


def test_a_layer_as_wide_as_the_batch_grows_in_the_forward_pass_only() -> None:
    square = (WIDTH, WIDTH)
    assert per_example(
        site("step/dense/Relu", *square),
        site("step/gradient_tape/dense/MatMul/MatMul_1", *square),
        site("step/adam/Square", *square),
        batch=WIDTH,
    ) == [4 * WIDTH, 0, 0]


def test_what_is_fixed_stays_whatever_its_shape_is() -> None:
    assert per_example(site("Conv2DBackpropFilter", 88, 4, 9, fixed=True), batch=8) == [0]
