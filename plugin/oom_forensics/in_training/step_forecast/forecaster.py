"""From a step's function to a forecast, in the time that there is."""

from __future__ import annotations

from collections.abc import Sequence

from oom_forensics.in_training.evidence.trace_file import ModuleName
from oom_forensics.in_training.evidence.written_run import Deadline
from oom_forensics.in_training.step_forecast import prepared_graph
from oom_forensics.in_training.step_forecast.batch_bytes import per_example_bytes
from oom_forensics.in_training.step_forecast.compiled_modules import module_of, whole_step
from oom_forensics.in_training.step_forecast.executor import Executor, Library, OutOfTimeError
from oom_forensics.in_training.step_forecast.memory import Requests
from oom_forensics.in_training.step_forecast.orders import MORE_ORDERS, ORDERS
from oom_forensics.in_training.step_forecast.plane import Forecast
from oom_forensics.in_training.step_forecast.step_function import StepFunction
from oom_forensics.in_training.step_forecast.tensors import bytes_of

# Requests and frees of a step that is quickly run in more orders.
_FEW_EVENTS = 2000


def forecast_step(
    step: StepFunction,
    *,
    origin: str,
    deadline: Deadline,
    step_id: int = 0,
    allocator: str = "",
    modules: Sequence[ModuleName] = (),
) -> Forecast:
    """Returns the forecast; where there is none, one that says why.

    The first order may take the whole time, the others only what is left of it. `modules`
    are those that XLA compiled, as far as the run has them.
    """
    from tensorflow.python.framework import errors

    reason = ""
    updating: list[str] = []
    made: list[Requests] = []
    last: Executor | None = None
    held_bytes = held_bytes_of(step)
    batch = step.batch or likely_batch(step)
    compiled = {name: module_of(name, modules) for name in step.compiled_functions}
    known = {name: module for name, module in compiled.items() if module is not None}
    if len(known) < len(compiled):
        reason = "XLA compiles the function, and had not yet said what it needs."
    elif step.compiled:
        made = whole_step(known[step.name])
    elif step.name not in step.definitions:
        reason = "the graph of the function is not in TensorFlow's context any more."
    else:
        try:
            library = Library(prepared_graph.prepare(step), known)
            held_bytes += library.constant_bytes()
            updating = library.updating_scopes()
            new_arguments = {
                prepared_graph.argument_name(i)
                for i, argument in enumerate(step.arguments)
                if not argument.is_live
            }
            for order in (*ORDERS, *MORE_ORDERS):
                if order in MORE_ORDERS and len(made[-1].events) > _FEW_EVENTS:
                    break
                executor = Executor(
                    library, order, deadline, step.element_shapes, new_arguments, allocator
                )
                made.append(executor.run())
                last = executor
        except OutOfTimeError:
            if not made:
                reason = f"it would have taken longer than it may ({deadline})."
        except (errors.OpError, RuntimeError) as error:
            if not made:
                reason = f"TensorFlow does not take its graph apart ({type(error).__name__})."
    if not made:
        return Forecast(
            origin, step.name, held_bytes, (), step.batch, step_id, reason=reason,
            allocator=allocator,
        )  # fmt: skip
    return Forecast(
        origin,
        step.name,
        held_bytes,
        per_example_bytes(made, batch, step, updating),
        batch,
        step_id,
        last.ops_run if last else 0,
        sorted(last.memory.unknown) if last else (),
        sorted(last.assumed) if last else (),
        allocator=allocator,
    )


def likely_batch(step: StepFunction) -> int | None:
    """The first dimension that the function's tensor arguments, or elements, share."""
    shapes = [a.shape for a in step.arguments if a.variable is None and a.shape]
    shapes += [shape for shape in step.element_shapes if shape]
    sizes = {shape[0] for shape in shapes if shape}
    if len(sizes) != 1:
        return None
    (size,) = sizes
    return size if size and size > 0 else None


def held_bytes_of(step: StepFunction) -> int:
    """What its arguments take that are there before it: variables, each once, and inputs."""
    total = 0
    seen = set()
    for argument in step.arguments:
        if argument.variable is None:
            total += bytes_of(argument.dtype, argument.shape) or 0 if argument.is_live else 0
        elif argument.shared_name not in seen:
            seen.add(argument.shared_name)
            total += bytes_of(*argument.variable) or 0
    return total
