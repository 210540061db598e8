"""What a function needs that XLA compiles whole, by XLA's own buffer assignment.

XLA lays out all memory of a compiled function before it runs: one block for temporaries, one
for each result. A result that takes an argument's memory (a variable that is updated) has a
block of its own only where somebody else refers to the argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from oom_forensics.in_training.step_forecast.memory import Requests, Site

# In these two ways a function's variables may be held (see above).
_ORDERS = ("xla", "xla_with_copies")


class Block(NamedTuple):
    """Memory that XLA asks for as one piece."""

    name: str
    size_bytes: int
    # What each example of the batch takes of it, about.
    per_example_bytes: int
    # It is asked for only where the argument that it could take is still referred to.
    is_copy: bool

    @property
    def site(self) -> Site:
        """Who asks."""
        return Site(self.name, 0, None, self.size_bytes, self.per_example_bytes, fixed=True)


def blocks_of(module: Any, batch: int | None) -> list[Block]:
    """Returns what a module (an HloProto with its buffer assignment) asks for when it runs."""
    of_batch = _buffers_of_batch(module, batch) if batch else {}
    blocks = []
    for each in module.buffer_assignment.buffer_allocations:
        argument = each.is_entry_computation_parameter
        # Constants are there already, and a thread's own lie on its stack.
        if each.is_constant or each.is_thread_local or each.size == 0:
            continue
        if argument and not each.maybe_live_out:
            continue
        kind = "output" if each.maybe_live_out else "temp"
        in_all = sum(part.size for part in each.assigned)
        grows = sum(part.size for part in each.assigned if part.logical_buffer_id in of_batch)
        share = grows / in_all if in_all else 0.0
        blocks.append(
            Block(
                f"{module.hlo_module.name}/{kind} {each.index}",
                each.size,
                int(each.size * share) // batch if batch else 0,
                argument,
            )
        )
    return blocks


def module_of(function: str, modules: Iterable[Any]) -> Any:
    """The last of the modules that XLA made of a function; None: it is not among them."""
    # "__inference_step_12" becomes "a_inference_step_12__.7".
    marked = f"{function.lstrip('_')}_"
    found = [each for each in modules if marked in each.hlo_module.name]
    return found[-1] if found else None


def requests_of(blocks: Sequence[Block]) -> list[Requests]:
    """The requests of one run: with nothing copied, and with all that may be."""
    orders: list[Requests] = []
    for order, copies in zip(_ORDERS, (False, True), strict=True):
        sites = [each.site for each in blocks if copies or not each.is_copy]
        if orders and len(sites) == len(orders[0].sites):
            break
        count = len(sites)
        orders.append(Requests(order, sites, [*range(count), *(-1 - n for n in range(count))]))
    return orders


def _buffers_of_batch(module: Any, batch: int | None) -> set[int]:
    """Ids of the logical buffers whose shape has the batch in it."""
    shapes = {
        instruction.id: instruction.shape
        for computation in module.hlo_module.computations
        for instruction in computation.instructions
    }
    found = set()
    for buffer in module.buffer_assignment.logical_buffers:
        shape = shapes.get(buffer.defined_at.instruction_id)
        for index in buffer.defined_at.shape_index:
            shape = shape.tuple_shapes[index] if shape is not None else None
        if shape is not None and batch in shape.dimensions:
            found.add(buffer.id)
    return found
