"""The modules of functions that XLA compiles: which one runs in a step.

What it asks for is planned in it, and worked out by the converter: here a run of it is one
request without bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

from oom_forensics.in_training.evidence.trace_file import ModuleName
from oom_forensics.in_training.step_forecast.memory import Requests, Site


def module_of(function: str, modules: Iterable[ModuleName]) -> ModuleName | None:
    """The last of the modules that XLA made of a function; None: it is not among them."""
    # "__inference_step_12" becomes "a_inference_step_12__.7".
    marked = f"{function.lstrip('_')}_"
    found = [each for each in modules if marked in each.name]
    return found[-1] if found else None


def run_of(module: ModuleName) -> Site:
    """Who asks for all that a run of the module takes."""
    return Site(module.name, 0, None, 0, module=module)


def whole_step(module: ModuleName) -> list[Requests]:
    """The requests of a step that is one run of the module."""
    return [Requests("xla", [run_of(module)], [0, -1])]
