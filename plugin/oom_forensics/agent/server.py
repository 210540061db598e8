"""`oom-forensics mcp`: the Model Context Protocol over stdin and stdout.

The official Python SDK speaks the protocol; each tool reads and changes nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

import oom_forensics
from oom_forensics.agent import answers
from oom_forensics.core.errors import OomForensicsError

_Parameters = ParamSpec("_Parameters")
_READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
INSTRUCTIONS = (
    "Explains why a TensorFlow job ran out of memory. Begin with `story` on the job's logdir: it"
    " gives the verdict, the remedies with the code to write and the line to change, and how sure"
    " each is (ENOUGH_ALONE was checked against the whole step; NOT_ENOUGH does not help alone)."
    " Sizes are bytes."
)


def make_server() -> MCPServer[Any]:
    """Returns the server with its tools."""
    server: MCPServer[Any] = MCPServer(
        "oom-forensics",
        instructions=INSTRUCTIONS,
        version=oom_forensics.__version__,
        log_level="ERROR",
    )

    def tool(function: Callable[_Parameters, answers.Answer]) -> None:
        server.tool(annotations=_READ_ONLY, structured_output=True)(_saying_why(function))

    tool(list_runs)
    tool(story)
    tool(holders)
    tool(what_if)
    tool(forecast)
    tool(compare)
    return server


def main(_arguments: object = ()) -> int:
    """Serves until stdin ends."""
    make_server().run("stdio")
    return 0


def list_runs(logdir: str) -> dict[str, Any]:
    """Lists the recorded runs of a logdir, the newest first. A run's path goes into other tools."""
    return answers.list_runs(logdir)


def story(run: str) -> dict[str, Any]:
    """Tells what happened, why, who holds the memory and what to change.

    `run` is a trace, a run's folder, or a logdir (its newest run). A remedy's `code` is what to
    write and `line` where; `sufficiency` says whether it was checked to be enough.
    """
    return answers.story(run)


def holders(run: str, by: str = "line", at: str = "") -> dict[str, Any]:
    """Lists who holds the memory at a moment.

    `by`: line, file, function, scope (layers), op, shape, dtype, role or step. `at`: oom:N, peak,
    end or step:N; by default the first out-of-memory, else the peak. `keepers` are the Python
    objects that keep tensors from being freed.
    """
    return answers.holders(run, by, at)


def what_if(
    run: str,
    limit: str = "",
    batch_scale: float = 0,
    dtype: str = "",
    without: list[str] | None = None,
) -> dict[str, Any]:
    """Replays the recorded requests under other settings: would they have fit?

    `limit`: of the pool, "16GiB". `batch_scale`: 0.5 is half the batch. `dtype`: of floating point
    tensors, "bfloat16". `without`: layers that ask for nothing.
    """
    return answers.what_if(run, limit, batch_scale, dtype, without or [])


def forecast(run: str, limit: str = "") -> dict[str, Any]:
    """Tells what the step that ran out of memory would have needed, and which batches fit."""
    return answers.forecast(run, limit)


def compare(run: str, baseline: str, by: str = "scope") -> dict[str, Any]:
    """Tells what grew from the baseline's peak to the run's. `by` as in `holders`."""
    return answers.compare(run, baseline, by)


def _saying_why(
    function: Callable[_Parameters, answers.Answer],
) -> Callable[_Parameters, answers.Answer]:
    @functools.wraps(function)
    def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> answers.Answer:
        try:
            return function(*args, **kwargs)
        except OomForensicsError as error:
            raise ToolError(str(error)) from None

    return call
