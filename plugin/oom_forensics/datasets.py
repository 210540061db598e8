"""The datasets as Python types.

Written from proto/datasets by tools/generators/python_datasets.py; change that
and run `tools/generate`.
"""

from __future__ import annotations

import enum
from dataclasses import field
from typing import TYPE_CHECKING

from oom_forensics.message import Message

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    # Most programs use few of them, and to make all takes a tenth of a second.
    from oom_forensics.message import dataclass_when_used as dataclass


class Role(str, enum.Enum):
    """What an allocation is for, as far as names and lifetimes really show it."""

    ROLE_UNKNOWN = "ROLE_UNKNOWN"
    ROLE_VARIABLE = "ROLE_VARIABLE"
    ROLE_OPTIMIZER = "ROLE_OPTIMIZER"
    ROLE_GRADIENT = "ROLE_GRADIENT"
    ROLE_ACTIVATION = "ROLE_ACTIVATION"
    ROLE_INPUT = "ROLE_INPUT"
    ROLE_WORKSPACE = "ROLE_WORKSPACE"


class Mode(str, enum.Enum):
    """See proto/datasets/allocation.proto, Mode."""

    MODE_UNKNOWN = "MODE_UNKNOWN"
    EAGER = "EAGER"
    GRAPH = "GRAPH"


class ModuleMatch(str, enum.Enum):
    """How it is known which allocation of a compiled module a request is for."""

    MATCH_NONE = "MATCH_NONE"
    MATCH_RECORDED = "MATCH_RECORDED"
    """The collector recorded it."""
    MATCH_BY_SIZE = "MATCH_BY_SIZE"
    """The module was recorded, and of its allocations only one has this size."""
    MATCH_BY_ORDER = "MATCH_BY_ORDER"
    """One thread asked for the sizes of the module's allocations in their order."""


class DatasetKind(str, enum.Enum):
    """See proto/datasets/question.proto, DatasetKind."""

    DATASET_UNSPECIFIED = "DATASET_UNSPECIFIED"
    INFO = "INFO"
    MEMORY_TIMELINE = "MEMORY_TIMELINE"
    ALLOCATIONS = "ALLOCATIONS"
    FRAGMENTATION = "FRAGMENTATION"
    OOM_WINDOW = "OOM_WINDOW"
    LEAKS = "LEAKS"
    DRIVER_MEMORY = "DRIVER_MEMORY"
    COMPARE = "COMPARE"
    STEPS = "STEPS"
    ADDRESS_HISTORY = "ADDRESS_HISTORY"
    ALLOCATION_LIFE = "ALLOCATION_LIFE"
    FORECAST = "FORECAST"
    COMPILED_MODULES = "COMPILED_MODULES"
    WHAT_IF = "WHAT_IF"
    HOST_MEMORY = "HOST_MEMORY"


class GroupBy(str, enum.Enum):
    """See proto/datasets/question.proto, GroupBy."""

    GROUP_NONE = "GROUP_NONE"
    GROUP_OP = "GROUP_OP"
    GROUP_SCOPE = "GROUP_SCOPE"
    """A tree: children at the next level below. What has no scope is told apart
    by its op type, below "(eager ops)" or "(no scope)".
    """
    GROUP_OP_TYPE = "GROUP_OP_TYPE"
    GROUP_SHAPE = "GROUP_SHAPE"
    GROUP_DTYPE = "GROUP_DTYPE"
    GROUP_STEP = "GROUP_STEP"
    """Step of birth"""
    GROUP_AGE = "GROUP_AGE"
    """Powers of ten of seconds"""
    GROUP_ROLE = "GROUP_ROLE"
    GROUP_SITE = "GROUP_SITE"
    """Op, shape, dtype and size together"""
    GROUP_MODE = "GROUP_MODE"
    """Eager or graph"""
    GROUP_DEVICE = "GROUP_DEVICE"
    """Of the allocator; its name where that is not known"""
    GROUP_REPLICA = "GROUP_REPLICA"
    """Tf.distribute's, "replica_1"; the ops of the first one bear no mark."""
    GROUP_LINE = "GROUP_LINE"
    """Lines of the user's program, as SourceLocation.line tells them."""
    GROUP_FILE = "GROUP_FILE"
    GROUP_FUNCTION = "GROUP_FUNCTION"
    GROUP_STACK = "GROUP_STACK"
    """A tree of calls: children are what a line called, outermost first; all
    frames are the user's.
    """


class SortKey(str, enum.Enum):
    """See proto/datasets/question.proto, SortKey."""

    SORT_BYTES = "SORT_BYTES"
    SORT_REQUESTED_BYTES = "SORT_REQUESTED_BYTES"
    SORT_OP = "SORT_OP"
    SORT_ADDRESS = "SORT_ADDRESS"
    SORT_BORN = "SORT_BORN"
    SORT_LIFETIME = "SORT_LIFETIME"
    SORT_STEP = "SORT_STEP"
    SORT_COUNT = "SORT_COUNT"
    SORT_SHAPE = "SORT_SHAPE"
    SORT_DTYPE = "SORT_DTYPE"
    SORT_WASTE = "SORT_WASTE"
    """Allocated - requested"""


class PinCost(str, enum.Enum):
    """What a set of pins is measured by when the cheapest one is sought."""

    PIN_COST_BYTES = "PIN_COST_BYTES"
    PIN_COST_COUNT = "PIN_COST_COUNT"
    PIN_COST_AGE = "PIN_COST_AGE"
    """Prefer to release the youngest"""


class MarkKind(str, enum.Enum):
    """See proto/datasets/marks.proto, MarkKind."""

    MARK_UNSPECIFIED = "MARK_UNSPECIFIED"
    MARK_OOM = "MARK_OOM"
    MARK_FAILED_PROBE = "MARK_FAILED_PROBE"
    """Retry_on_failure=false: the caller handles it"""
    MARK_REGION_ADD = "MARK_REGION_ADD"
    MARK_REGION_REMOVE = "MARK_REGION_REMOVE"


class Severity(str, enum.Enum):
    """See proto/datasets/quality.proto, Severity."""

    INFO_ONLY = "INFO_ONLY"
    """The numbers are exact"""
    WARNING = "WARNING"
    """Some numbers are incomplete, and which is said"""
    ERROR = "ERROR"
    """Numbers can be wrong"""


class Sufficiency(str, enum.Enum):
    """How much is known of a remedy; docs/verdicts.md says what each asks for."""

    SUFFICIENCY_UNSPECIFIED = "SUFFICIENCY_UNSPECIFIED"
    """In no answer"""
    ENOUGH_ALONE = "ENOUGH_ALONE"
    """The whole step is known to fit, with room to spare."""
    NOT_ENOUGH = "NOT_ENOUGH"
    """Not even the refused request fits, or the step needs more than there is."""
    UNCERTAIN = "UNCERTAIN"
    """It depends on the order in which ops run, or could not be tried."""
    REQUEST_FITS = "REQUEST_FITS"
    """The refused request finds a place; what the step asks for after it is not
    known.
    """


class Source(str, enum.Enum):
    """Whose events an allocator's data come from."""

    SOURCE_UNSPECIFIED = "SOURCE_UNSPECIFIED"
    COLLECTOR = "COLLECTOR"
    """Our collector."""
    STOCK_TRACE = "STOCK_TRACE"
    """MemoryAllocation / MemoryDeallocation of /host:CPU: poorer."""


class ForecastFit(str, enum.Enum):
    """Whether a step fits into a limit."""

    FORECAST_FIT_UNKNOWN = "FORECAST_FIT_UNKNOWN"
    FORECAST_FITS = "FORECAST_FITS"
    """In every order that was tried, with the margin that experience asks for."""
    FORECAST_UNCERTAIN = "FORECAST_UNCERTAIN"
    """It depends on the order in which TensorFlow runs its ops, or is too close."""
    FORECAST_DOES_NOT_FIT = "FORECAST_DOES_NOT_FIT"
    """In no order."""


class EventKind(str, enum.Enum):
    """See proto/datasets/memory_timeline.proto, EventKind."""

    EVENT_UNSPECIFIED = "EVENT_UNSPECIFIED"
    EVENT_ALLOC = "EVENT_ALLOC"
    EVENT_FREE = "EVENT_FREE"
    EVENT_FAILED = "EVENT_FAILED"
    EVENT_REGION_ADD = "EVENT_REGION_ADD"
    EVENT_REGION_REMOVE = "EVENT_REGION_REMOVE"


@dataclass
class SourceFrame(Message):
    """A line of Python, and the function that it is of."""

    file: str = ""
    """As Python names it: a path, or "<stdin>"; empty: left out on request."""
    line: int = 0
    """From 1; 0: not known."""
    function: str = ""
    is_library: bool = False
    """Of Python's library or an installed package, not the user's."""
    text: str = ""
    """The text of the line; empty: not recorded."""


@dataclass
class SourceLocation(Message):
    """Where in the program an allocation comes from."""

    line: SourceFrame = field(default_factory=lambda: SourceFrame())
    """The line that it is told by, and that a user would change: where the Keras
    object was made that the op belongs to, else where the op was called.
    """
    object: str = ""
    """What was made at `line`, "Conv2D conv2d_1"; empty: the op was called there."""
    called: SourceFrame = field(default_factory=lambda: SourceFrame())
    """Where the op was called; set where `line` is another."""
    frames: list[SourceFrame] = field(default_factory=list)
    """All frames that were recorded of the call, innermost first. Filled for a
    request that failed, and in ALLOCATION_LIFE.
    """


@dataclass
class CompiledBlock(Message):
    """What XLA asked for, and of which module."""

    function: str = ""
    """As the user wrote it: "one_step_on_data"."""
    module: str = ""
    """XLA's name of the module."""
    program_id: int = 0
    launch_op: str = ""
    """The op that ran it; empty: not recorded."""
    allocation_index: int = 0
    """Index in the module's buffer assignment; -1: not known."""
    kind: str = ""
    """\"temp", "output", "constant", ...; empty: not known."""
    match: ModuleMatch = ModuleMatch.MATCH_NONE
    others_fit: bool = False
    """More than one module or allocation fitted; this is the first of them."""
    is_part: bool = False
    """What follows only where this is a part of a block that is opened."""
    part: int = 0
    """Its number in the block, in the order of offsets."""
    block_address: int = 0
    block_bytes: int = 0
    is_unused: bool = False
    """No buffer lies here at the block's peak."""
    instruction: str = ""
    """XLA's name of the instruction that makes the buffer."""
    held_for_backward: bool = False
    """Made by the forward pass, and read last by the backward pass."""
    program_points: int = 0
    """Of an opened block in an address map: how many instructions its module has,
    in the order in which they run, and at which of them it is shown.
    """
    program_point: int = 0
    program_point_op: str = ""
    """The instruction's op; empty: XLA's own."""


@dataclass
class Allocation(Message):
    """One allocation, live or dead."""

    id: int = 0
    """Index of its allocator event, unique in the allocator; negative: the
    baseline. Names the allocation in links and ALLOCATION_LIFE.
    """
    address: int = 0
    requested_bytes: int = 0
    allocated_bytes: int = 0
    op_name: str = ""
    """The full name ("StatefulPartitionedCall/sequential/dense/MatMul")."""
    scope: str = ""
    """The scope without call prefix and op ("sequential/dense")."""
    op_type: str = ""
    """The last part without its number ("MatMul")."""
    shape: list[int] = field(default_factory=list)
    has_shape: bool = False
    """False: the shape was not recorded; true with no dims: a scalar."""
    dtype: str = ""
    step_id: int = 0
    """TensorFlow's id of the executor step; 0: none."""
    step: int = 0
    """Training step; -1: unknown."""
    thread: int = 0
    born_ns: int = 0
    died_ns: int = 0
    """0: still live when the trace ended."""
    lifetime_ns: int = 0
    """To its death, or to the end of the trace."""
    role: Role = Role.ROLE_UNKNOWN
    mode: Mode = Mode.MODE_UNKNOWN
    region_type: str = ""
    baseline: bool = False
    """It was already live when the recording began."""
    host: str = ""
    allocator: str = ""
    weight: float = 0.0
    """How many it stands for under sampling; 1 without."""
    source: SourceLocation = field(default_factory=lambda: SourceLocation())
    """Not set: not recorded."""
    compiled: CompiledBlock = field(default_factory=lambda: CompiledBlock())
    """Set where XLA asked. Of a part all else but id, times and thread is the
    part's own.
    """


@dataclass
class Filter(Message):
    """Which allocations a question is about. Unset fields do not restrict."""

    host: str = ""
    """Host name as INFO lists it."""
    allocator: str = ""
    """Allocator name as INFO lists it ("bfc_cpu_allocator_for_gpu#0")."""
    from_ns: int | None = None
    """Half-open range of time: from <= t < to."""
    to_ns: int | None = None
    from_step: int | None = None
    """Closed range of training steps: from <= step <= to."""
    to_step: int | None = None
    min_bytes: int = 0
    """Only allocations of at least so many allocated bytes."""
    scope: str = ""
    """Only ops at or below this name scope ("sequential/dense")."""
    dtype: str = ""
    """\"float32", ... as TensorFlow writes it."""
    search: str = ""
    """Case-insensitive substring of op name, shape or dtype; "0x..." an address
    inside the allocation.
    """
    role: Role = Role.ROLE_UNKNOWN
    source_file: str = ""
    """Only what is told by this line of the user's program, as SourceLocation.line
    names it: a file, a line of it (0: any), a function of it.
    """
    source_line: int = 0
    source_function: str = ""
    whole_blocks: bool = False
    """False: a block that XLA allocated is opened, where its inside is known: its
    buffers, as they lie in it at its own peak, take its place, and their bytes
    add up to its own. True: it is kept whole.
    """


@dataclass
class Moment(Message):
    """A moment in the life of an allocator."""

    time_ns: int | None = None
    """The state after all events up to and including this time."""
    oom: int | None = None
    """The state just before the N-th OOM (from 0) was answered."""
    peak: bool | None = None
    """The moment of highest use. True: chosen."""
    end: bool | None = None
    """After the last event. True: chosen."""
    event: int | None = None
    """The state after the event of this index of the allocator (from 0);
    -1 the baseline.
    """
    step: int | None = None
    """The moment of highest use within the training step of this number."""


@dataclass
class WhatIfSettings(Message):
    """What WHAT_IF is asked for. Unset: as recorded."""

    limit_bytes: int | None = None
    growth: bool | None = None
    """Whether the pool grows region by region, or is one region from the start."""
    garbage_collection: bool | None = None
    """Whether regions without a live chunk are given back before a request is
    refused (TF_ENABLE_GPU_GARBAGE_COLLECTION).
    """
    allocator_kind: str = ""
    """\"bfc", or empty: TensorFlow's own. "async": no allocator is run, only the
    sum of what is live is held against the limit, since in a pool like
    cuda_malloc_async's holes are little waste.
    """
    batch_scale: float = 0.0
    """What has the batch in its shape is so many times as large; 0: as recorded."""
    without_scope: list[str] = field(default_factory=list)
    """What ops at or below these name scopes ask for is never asked for; an eager
    op's name is its type.
    """
    dtype: list[WhatIfDtype] = field(default_factory=list)
    find_smallest_limit: bool = False
    """Look for the smallest limit that is enough: several replays more."""
    maps: bool = False
    """The two maps at Query.at."""


@dataclass
class WhatIfDtype(Message):
    """Tensors of floating point numbers at or below the scope are of this type."""

    scope: str = ""
    """Empty: all."""
    dtype: str = ""


@dataclass
class Query(Message):
    """See proto/datasets/question.proto, Query."""

    dataset: DatasetKind = DatasetKind.DATASET_UNSPECIFIED
    filter: Filter = field(default_factory=lambda: Filter())
    columns: int = 0
    """Columns of a timeline; 0: 1000. At most 8192."""
    at: Moment = field(default_factory=lambda: Moment())
    """The moment for ALLOCATIONS, FRAGMENTATION maps and COMPARE; unset: the
    first OOM, else the peak.
    """
    other: Moment = field(default_factory=lambda: Moment())
    """COMPARE: the second moment, in the other trace if one is given."""
    group_by: GroupBy = GroupBy.GROUP_NONE
    sort: SortKey = SortKey.SORT_BYTES
    ascending: bool = False
    """False: largest, oldest or last first as fits the key (descending)."""
    offset: int = 0
    limit: int = 0
    """Rows of a page; 0: 100. At most 10000."""
    top: int = 0
    """MEMORY_TIMELINE: how many contributors to stack; 0: none. At most 20."""
    oom: int | None = None
    """OOM_WINDOW: which OOM; unset: all."""
    pin_cost: PinCost = PinCost.PIN_COST_BYTES
    from_address: int = 0
    """ADDRESS_HISTORY: the address range and its rows of pixels; 0: all, 256."""
    to_address: int = 0
    rows: int = 0
    request_bytes: int = 0
    """FRAGMENTATION: the request that `unusable_free` is measured against;
    0: the failing request of the nearest OOM, else the largest ever made.
    """
    range: bool = False
    """ALLOCATIONS: all that lived in filter.from..to, not those of one moment."""
    allocation_id: int = 0
    """ALLOCATION_LIFE: Allocation.id."""
    other_host: str = ""
    """COMPARE: host and allocator of the second moment; empty: those of the
    filter, where the other trace has them.
    """
    other_allocator: str = ""
    limit_bytes: int = 0
    """FORECAST: the limit that fits are told for; 0: the recorded one."""
    module: str = ""
    """COMPILED_MODULES: the one to show in detail, by its name in the answer;
    empty: that of the refused request, else the one with the largest block.
    """
    module_allocation: int | None = None
    """Which allocation of it, as CompiledAllocationInfo.index; unset: the largest
    temporary one.
    """
    program_point: int | None = None
    """Which moment of its program; unset: the allocation's own peak. FRAGMENTATION:
    at which the map shows what lies in the blocks of `module`.
    """
    what_if: WhatIfSettings = field(default_factory=lambda: WhatIfSettings())
    """WHAT_IF: what is different; `at` is the moment of its maps."""


@dataclass
class BlockShare(Message):
    """A part of what lies in a compiled block."""

    key: str = ""
    """A scope, or a role."""
    bytes: int = 0
    count: int = 0


@dataclass
class BlockContent(Message):
    """What a compiled block is needed for: what lies in it at its own peak."""

    block_bytes: int = 0
    live_bytes: int = 0
    """Of its buffers; the rest, up to block_bytes, lies unused between them."""
    unused_bytes: int = 0
    buffer_count: int = 0
    by_scope: list[BlockShare] = field(default_factory=list)
    """Largest first."""
    by_role: list[BlockShare] = field(default_factory=list)
    sentence: str = ""
    """Who needs it, one sentence."""
    held_for_backward_bytes: int = 0
    """Of live_bytes, made by the forward pass and read last by the backward pass."""
    named_bytes: int = 0
    """Of live_bytes: named down to a TensorFlow op."""


@dataclass
class Keeper(Message):
    """What keeps live allocations from being freed, as Python's references tell."""

    host: str = ""
    chain: list[str] = field(default_factory=list)
    """From the root to the tensor: "list 'losses' in __main__ (200 items)", ..."""
    count: int = 0
    """How many of the live allocations it keeps, and their bytes."""
    allocated_bytes: int = 0
    example: Allocation = field(default_factory=lambda: Allocation())
    """The largest of them."""
    line: SourceFrame = field(default_factory=lambda: SourceFrame())
    """Where the root is; not set: not recorded."""


@dataclass
class StepMark(Message):
    """See proto/datasets/marks.proto, StepMark."""

    step: int = 0
    begin_ns: int = 0
    end_ns: int = 0


@dataclass
class Mark(Message):
    """See proto/datasets/marks.proto, Mark."""

    kind: MarkKind = MarkKind.MARK_UNSPECIFIED
    time_ns: int = 0
    bytes: int = 0
    oom: int = 0
    """MARK_OOM: its number."""
    op_name: str = ""


@dataclass
class Quality(Message):
    """Something that was lost, sampled or missing."""

    name: str = ""
    """Stable name: "dropped_events", "no_baseline", "truncated_file", ..."""
    severity: Severity = Severity.INFO_ONLY
    count: int = 0
    sentence: str = ""
    """One sentence for the user."""
    host: str = ""
    allocator: str = ""
    """Empty: the whole host."""


@dataclass
class RemedyValues(Message):
    """What a script has to change to apply a remedy. Unset: not a part of it."""

    batch_size: int = 0
    batch_size_before: int = 0
    """What it was."""
    limit_bytes: int = 0
    """Of the allocator's pool."""
    dtype: str = ""
    """Of the layers' computation, or of all tensors: "mixed_bfloat16", "float32"."""
    scopes: list[str] = field(default_factory=list)
    """Name scopes of the layers that it is about."""
    setting: str = ""
    """Environment, "NAME=value"."""
    optimizer: str = ""
    """\"sgd"
    """
    runs_before: bool = False
    """Remedy.code is Python that takes effect when run before the program."""


@dataclass
class Remedy(Message):
    """See proto/datasets/remedy.proto, Remedy."""

    kind: str = ""
    """Stable name: "smaller_batch", "mixed_precision", "release_leak", ..."""
    title: str = ""
    """What to do, one line."""
    detail: str = ""
    """How, and why it helps here."""
    bytes: int = 0
    """What it would give back at that moment."""
    sufficiency: Sufficiency = Sufficiency.SUFFICIENCY_UNSPECIFIED
    proof: str = ""
    """What was checked against the layout."""
    code: str = ""
    """What to write, if it can be said as code or environment."""
    with_: list[str] = field(default_factory=list)
    """Neither is enough alone, but together with any of these remedies, by kind,
    the refused request finds a place.
    """
    values: RemedyValues = field(default_factory=lambda: RemedyValues())
    needs_low_bytes: int = 0
    """What the whole step needs of the pool with the remedy: the lowest and the
    highest of the orders of execution that were tried; 0: not known.
    """
    needs_high_bytes: int = 0
    has_bytes: int = 0
    """What it then has."""
    how_sure: str = ""
    """`sufficiency` and `with` in words: "enough alone"."""
    line: SourceFrame = field(default_factory=lambda: SourceFrame())
    """The line to change; not set: not recorded."""
    keeper: list[str] = field(default_factory=list)
    """The object that has to let go, from its root on; empty: not recorded."""


@dataclass
class Request(Message):
    """See proto/datasets/request.proto, Request."""

    op_name: str = ""
    scope: str = ""
    requested_bytes: int = 0
    rounded_bytes: int = 0
    """Rounded up as the allocator does."""
    shape: list[int] = field(default_factory=list)
    has_shape: bool = False
    dtype: str = ""
    step_id: int = 0
    step: int = 0
    thread: int = 0
    waited_ns: int = 0
    """Time spent in retries before null was returned (a duration)."""
    role: Role = Role.ROLE_UNKNOWN
    mode: Mode = Mode.MODE_UNKNOWN
    op_type: str = ""
    source: SourceLocation = field(default_factory=lambda: SourceLocation())
    """Not set: not recorded."""
    compiled: CompiledBlock = field(default_factory=lambda: CompiledBlock())
    """Set where XLA asked."""
    who: str = ""
    """Who asked, in words, where no op did: "compiled step `one_step_on_data`
    (XLA), its temporary block". Empty: the op says it.
    """


@dataclass
class Evidence(Message):
    """See proto/datasets/verdict.proto, Evidence."""

    name: str = ""
    """\"free_bytes", "largest_free_bytes", ... or a sentence's subject."""
    sentence: str = ""
    value: float = 0.0
    unit: str = ""
    """\"bytes", "share", "bytes/step", "count"
    """


@dataclass
class VerdictPart(Message):
    """See proto/datasets/verdict.proto, VerdictPart."""

    kind: str = ""
    """Name of the kind as in Verdict.kind."""
    share: float = 0.0
    """Part of the shortfall that this cause explains, 0..1."""
    sentence: str = ""


@dataclass
class Verdict(Message):
    """See proto/datasets/verdict.proto, Verdict."""

    kind: str = ""
    """CAPACITY        all free memory together is less than the request
    FRAGMENTATION   enough is free, but in no single hole
    GROWTH_REGIONS  it would fit if the pool's regions were one
    LIMIT           memory_limit lies below what the device has
    EXTERNAL        the device is full though the pool is not at its limit
    LEAK_LIKE       what survives grows step by step
    TRANSIENT_PEAK  it fits again moments later
    RETAINED        what the work in hand does not need is still held
    UNKNOWN         the trace does not tell
    """
    sentence: str = ""
    """One plain sentence for someone who has never heard of a bin."""
    evidence: list[Evidence] = field(default_factory=list)
    parts: list[VerdictPart] = field(default_factory=list)
    """All causes that take part, the first is `kind`."""
    doubt: str = ""
    """Empty: no doubt; else why it may be otherwise."""
    short_by_bytes: int = 0
    """What one hole was short by."""


@dataclass
class FragmentationMeasures(Message):
    """Each measure by its own name; docs/measures.md has definitions and sources."""

    in_use_bytes: int = 0
    requested_bytes: int = 0
    reserved_bytes: int = 0
    limit_bytes: int = 0
    free_bytes: int = 0
    """Reserved, not in use."""
    largest_free_bytes: int = 0
    free_chunk_count: int = 0
    bfc_fragmentation: float = 0.0
    """(free - largest free) / free; 0 when nothing is free. BFC's own."""
    unusable_free: float = 0.0
    """Share of the free bytes in holes smaller than the request."""
    unusable_free_request_bytes: int = 0
    """The request of unusable_free."""
    reserve_waste: float = 0.0
    """1 - in use / reserved; 0 when nothing is reserved."""
    internal_bytes: int = 0
    """Allocated - requested of the live chunks."""
    growable_bytes: int = 0
    """Limit - reserved: what the pool may still grow by."""


@dataclass
class FragmentationColumn(Message):
    """See proto/datasets/fragmentation.proto, FragmentationColumn."""

    time_ns: int = 0
    worst: FragmentationMeasures = field(default_factory=lambda: FragmentationMeasures())
    """At the column's lowest largest-free moment."""


@dataclass
class Bin(Message):
    """See proto/datasets/fragmentation.proto, Bin."""

    index: int = 0
    min_bytes: int = 0
    free_count: int = 0
    free_bytes: int = 0
    used_count: int = 0
    used_bytes: int = 0
    requested_bytes: int = 0


@dataclass
class Region(Message):
    """See proto/datasets/fragmentation.proto, Region."""

    address: int = 0
    size_bytes: int = 0
    free_bytes: int = 0
    largest_free_bytes: int = 0
    chunk_count: int = 0


@dataclass
class Chunk(Message):
    """See proto/datasets/fragmentation.proto, Chunk."""

    address: int = 0
    size_bytes: int = 0
    free: bool = False
    allocation: Allocation = field(default_factory=lambda: Allocation())
    """Set when in use."""
    bin: int = 0
    region: int = 0
    """Index in AddressMap.regions."""
    parts: list[Allocation] = field(default_factory=list)
    """Of a compiled block that is opened: what lies in it, in the order of
    offsets, as far as the filter keeps it.
    """


@dataclass
class AddressMap(Message):
    """Without regions, chunks, bins and measures where the allocator has no layout."""

    host: str = ""
    allocator: str = ""
    time_ns: int = 0
    event: int = 0
    regions: list[Region] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    """In address order, without gaps inside a region."""
    bins: list[Bin] = field(default_factory=list)
    measures: FragmentationMeasures = field(default_factory=lambda: FragmentationMeasures())
    regions_derived: bool = False
    """Regions were not recorded but derived from the chunks seen."""


@dataclass
class FragmentationSeries(Message):
    """Without columns where the allocator has no layout."""

    host: str = ""
    allocator: str = ""
    columns: list[FragmentationColumn] = field(default_factory=list)


@dataclass
class Fragmentation(Message):
    """See proto/datasets/fragmentation.proto, Fragmentation."""

    series: list[FragmentationSeries] = field(default_factory=list)
    maps: list[AddressMap] = field(default_factory=list)
    quality: list[Quality] = field(default_factory=list)


@dataclass
class HistoryRectangle(Message):
    """The map over time as a picture: rectangles where they are at least a pixel
    each way (of more than 10000 the largest), all others summed up in `coverage`.
    """

    allocation_id: int = 0
    address: int = 0
    size_bytes: int = 0
    born_ns: int = 0
    died_ns: int = 0
    """0: still live when the trace ended."""
    site: int = 0
    """Index into AddressHistory.sites."""
    step: int = 0


@dataclass
class HistorySite(Message):
    """See proto/datasets/address_history.proto, HistorySite."""

    op_name: str = ""
    scope: str = ""
    dtype: str = ""
    role: Role = Role.ROLE_UNKNOWN
    op_type: str = ""
    """As Allocation.op_type."""


@dataclass
class AddressHistory(Message):
    """Of one allocator: the filter's; else that of the first OOM, or of the highest
    use.
    """

    host: str = ""
    allocator: str = ""
    from_ns: int = 0
    to_ns: int = 0
    regions: list[Region] = field(default_factory=list)
    """All that were ever held, by address, cut to the addresses asked for: the
    same for every range of time. Only where they lie, and how large they are.
    """
    sites: list[HistorySite] = field(default_factory=list)
    rectangles: list[HistoryRectangle] = field(default_factory=list)
    coverage: bytes = b""
    """Rows x columns of equal size, row by row from the lowest address: the share
    of the cell in use by allocations without a rectangle, 0..255; at least 1
    where there is one. Rows go through the regions, without the space between.
    At most 1024 rows and 2^20 cells, whatever was asked.
    """
    rows: int = 0
    columns: int = 0
    quality: list[Quality] = field(default_factory=list)


@dataclass
class AllocationLife(Message):
    """See proto/datasets/allocation_life.proto, AllocationLife."""

    allocation: Allocation = field(default_factory=lambda: Allocation())
    before: list[Allocation] = field(default_factory=list)
    """What lay at the same address before and after."""
    after: list[Allocation] = field(default_factory=list)
    quality: list[Quality] = field(default_factory=list)


@dataclass
class AllocationGroup(Message):
    """See proto/datasets/allocations.proto, AllocationGroup."""

    key: str = ""
    count: int = 0
    requested_bytes: int = 0
    allocated_bytes: int = 0
    largest_bytes: int = 0
    children: list[AllocationGroup] = field(default_factory=list)
    """GROUP_SCOPE, GROUP_STACK: the level below."""
    line: SourceFrame = field(default_factory=lambda: SourceFrame())
    """GROUP_LINE, GROUP_STACK: the line; not set: not recorded."""


@dataclass
class Allocations(Message):
    """See proto/datasets/allocations.proto, Allocations."""

    allocations: list[Allocation] = field(default_factory=list)
    """The page."""
    total_count: int = 0
    """Of all that match, not of the page."""
    total_allocated_bytes: int = 0
    total_requested_bytes: int = 0
    groups: list[AllocationGroup] = field(default_factory=list)
    time_ns: int = 0
    """The moment that was meant."""
    quality: list[Quality] = field(default_factory=list)
    keepers: list[Keeper] = field(default_factory=list)
    """What keeps those that match, the largest first; they are looked for at an
    out-of-memory and when a run is written. Of a moment, not of a range.
    """


@dataclass
class CompareSide(Message):
    """See proto/datasets/compare.proto, CompareSide."""

    run: str = ""
    host: str = ""
    allocator: str = ""
    time_ns: int = 0
    in_use_bytes: int = 0
    live_count: int = 0


@dataclass
class CompareRow(Message):
    """See proto/datasets/compare.proto, CompareRow."""

    key: str = ""
    before_bytes: int = 0
    after_bytes: int = 0
    delta_bytes: int = 0
    before_count: int = 0
    after_count: int = 0
    change: str = ""
    """\"new", "gone", "grew", "shrank", "same"
    """


@dataclass
class Compare(Message):
    """See proto/datasets/compare.proto, Compare."""

    before: CompareSide = field(default_factory=lambda: CompareSide())
    after: CompareSide = field(default_factory=lambda: CompareSide())
    rows: list[CompareRow] = field(default_factory=list)
    """Largest change first."""
    total_count: int = 0
    summary: list[str] = field(default_factory=list)
    """The first lines: what tells the two apart, in sentences."""
    quality: list[Quality] = field(default_factory=list)


@dataclass
class CompiledModuleInfo(Message):
    """A module that XLA compiled, in sums."""

    host: str = ""
    name: str = ""
    """XLA's name of it; with the program id unique in its host."""
    program_id: int = 0
    function: str = ""
    """As the user wrote it: "one_step_on_data"."""
    temp_bytes: int = 0
    output_bytes: int = 0
    parameter_bytes: int = 0
    constant_bytes: int = 0
    run_count: int = 0
    """Runs in the trace, by the requests that are known to be the module's."""
    refused_count: int = 0
    """Requests of it that were refused."""
    instruction_count: int = 0
    buffer_count: int = 0
    """Its buffers, over all allocations."""
    has_schedule: bool = False
    """The order in which it runs is known."""
    modules_of_function: int = 0
    """Modules of the same function: more than one means that it was compiled
    again, for other shapes say.
    """
    parameter_shapes: list[str] = field(default_factory=list)
    """Shapes of its parameters, the largest few."""
    compile_ns: int = 0
    """How long it took to compile; 0: not known. Of the collector's own runs the
    time from when TensorFlow turned to the function until XLA had it; of a
    trace of TensorFlow's profiler that of XLA's compiler alone.
    """


@dataclass
class CompiledAllocationInfo(Message):
    """An allocation of a module."""

    index: int = 0
    kind: str = ""
    """\"temp", "output", "constant", "parameter", "thread_local"
    """
    size_bytes: int = 0
    buffer_count: int = 0
    peak_live_bytes: int = 0
    """Most that is live in it at a time."""


@dataclass
class ProgramColumn(Message):
    """Live bytes of an allocation over a piece of its program."""

    point: int = 0
    """Where the piece begins."""
    live_max_bytes: int = 0


@dataclass
class CompiledBufferInfo(Message):
    """A buffer and its place: a rectangle in the picture of offset over program
    order.
    """

    instruction: str = ""
    """XLA's instruction that makes it, and the kind of that."""
    opcode: str = ""
    op_name: str = ""
    """The TensorFlow op; empty: XLA's own."""
    scope: str = ""
    op_type: str = ""
    role: Role = Role.ROLE_UNKNOWN
    shape: list[int] = field(default_factory=list)
    has_shape: bool = False
    dtype: str = ""
    offset_bytes: int = 0
    size_bytes: int = 0
    first_point: int = 0
    """Live from and to these points of the program, both included."""
    last_point: int = 0
    last_user: str = ""
    """The instruction that reads it last; empty: none."""
    held_for_backward: bool = False
    live: bool = False
    """Live at CompiledModuleDetail.point."""


@dataclass
class CompiledModuleDetail(Message):
    """See proto/datasets/compiled_modules.proto, CompiledModuleDetail."""

    module: CompiledModuleInfo = field(default_factory=lambda: CompiledModuleInfo())
    allocations: list[CompiledAllocationInfo] = field(default_factory=list)
    """Largest first."""
    allocation: CompiledAllocationInfo = field(default_factory=lambda: CompiledAllocationInfo())
    """The one that all below is about."""
    program_points: int = 0
    """Instructions in the order in which they run."""
    peak_point: int = 0
    point: int = 0
    """The moment that was asked for."""
    point_instruction: str = ""
    point_op_name: str = ""
    columns: list[ProgramColumn] = field(default_factory=list)
    buffers: list[CompiledBufferInfo] = field(default_factory=list)
    """Largest first; at most 5000."""
    content: BlockContent = field(default_factory=lambda: BlockContent())
    """What lies in it at `point`."""


@dataclass
class CompiledModules(Message):
    """See proto/datasets/compiled_modules.proto, CompiledModules."""

    modules: list[CompiledModuleInfo] = field(default_factory=list)
    """Largest temporary block first."""
    detail: CompiledModuleDetail = field(default_factory=lambda: CompiledModuleDetail())
    quality: list[Quality] = field(default_factory=list)


@dataclass
class AllocatorInfo(Message):
    """See proto/datasets/info.proto, AllocatorInfo."""

    allocator: str = ""
    """\"bfc_cpu_allocator_for_gpu#0"
    """
    kind: str = ""
    device: str = ""
    source: Source = Source.SOURCE_UNSPECIFIED
    limit_bytes: int = 0
    """The most that it may ever use, reserved yet or not; 0: unknown."""
    peak_in_use_bytes: int = 0
    peak_reserved_bytes: int = 0
    peak_ns: int = 0
    alloc_count: int = 0
    """Exact, whatever was dropped."""
    free_count: int = 0
    failed_count: int = 0
    oom_count: int = 0
    baseline_count: int = 0
    baseline_bytes: int = 0
    first_ns: int = 0
    last_ns: int = 0
    end_in_use_bytes: int = 0
    end_live_count: int = 0
    event_count: int = 0
    """Events of this allocator in the trace, what Moment.event counts."""
    has_addresses: bool = False
    has_regions: bool = False
    closeness: float = 0.0
    """Peak over limit; 0: the limit is unknown. What INFO ranks by."""
    has_layout: bool = False
    """False: each block comes from the device's driver (cuda_malloc_async, some
    pluggable devices). There are no maps and no measures of fragmentation.
    """


@dataclass
class LibraryFailure(Message):
    """A library of NVIDIA's had no memory for itself, or failed as if it had none;
    no allocator refused anything. docs/verdicts.md.
    """

    library: str = ""
    """\"cuDNN", "cuBLAS", "NCCL"; what of the device it is."""
    error: str = ""
    """What TensorFlow raised."""
    kind: str = ""
    """\"OUTSIDE_POOL"; "UNKNOWN": the device had enough free."""
    sentence: str = ""
    remedy: str = ""
    """What to change."""
    total_bytes: int = 0
    """The device then. 0 others: not known, or none."""
    free_bytes: int = 0
    others_bytes: int = 0
    pools_bytes: int = 0
    """TensorFlow's pools on it, and what of them was in use."""
    pools_in_use_bytes: int = 0


@dataclass
class HostInfo(Message):
    """See proto/datasets/info.proto, HostInfo."""

    host: str = ""
    file: str = ""
    """The file's name, without its folder."""
    file_bytes: int = 0
    tensorflow_version: str = ""
    collector_version: str = ""
    origin: str = ""
    """\"profile", "oom", "snapshot"; empty: a stock trace"""
    start_ns: int = 0
    stop_ns: int = 0
    hooks: str = ""
    attribution: str = ""
    cupti_mode: str = ""
    cupti_reason: str = ""
    sampling_rate: float = 0.0
    allocators: list[AllocatorInfo] = field(default_factory=list)
    environment: list[str] = field(default_factory=list)
    first_step: int = 0
    last_step: int = 0
    has_steps: bool = False
    anonymized: bool = False
    process_id: int = 0
    library_failure: LibraryFailure = field(default_factory=lambda: LibraryFailure())
    """Set where the run was written for that."""


@dataclass
class Info(Message):
    """See proto/datasets/info.proto, Info."""

    hosts: list[HostInfo] = field(default_factory=list)
    """The allocator closest to its limit first; hosts by their closest one."""
    quality: list[Quality] = field(default_factory=list)
    converter_version: str = ""


@dataclass
class DriverColumn(Message):
    """See proto/datasets/driver_memory.proto, DriverColumn."""

    time_ns: int = 0
    device_total_bytes: int = 0
    """0: no sample yet"""
    device_free_min_bytes: int = 0
    process_bytes: int = 0
    """All that this process holds on the device, as NVML says; 0: unknown."""
    driver_bytes: int = 0
    """Sum of the recorded driver allocations that lie on the device, at its
    highest.
    """
    pool_bytes: int = 0
    """TensorFlow's pools on the device (their regions), at their highest."""
    gap_bytes: int = 0
    """Used on the device beyond TensorFlow's pools, when the device was fullest:
    contexts, libraries, other processes. 0 without a sample.
    """
    row_bytes: list[int] = field(default_factory=list)
    """Live bytes of DriverSeries.rows[i] when driver_bytes was highest."""


@dataclass
class DriverRow(Message):
    """Driver allocations that are alike."""

    memory_kind: str = ""
    """\"device", "managed", "array", ... on the device; "pinned", "pageable": in
    the host's memory.
    """
    pool: int = 0
    """Address of the driver's memory pool (cudaMallocAsync); 0: none."""
    source: str = ""
    """The library that asked; empty: not recorded."""
    live_count: int = 0
    """At the end of the range"""
    live_bytes: int = 0
    peak_bytes: int = 0
    alloc_count: int = 0
    """In the range"""
    free_count: int = 0
    allocator: str = ""
    """These are regions of this allocator of TensorFlow; empty: they are not."""
    on_device: bool = False
    """The memory lies on the device."""
    allocated_bytes: int = 0
    """Bytes allocated in the range, freed since or not."""


@dataclass
class DriverSample(Message):
    """The device as it was seen at a moment."""

    time_ns: int = 0
    device_total_bytes: int = 0
    device_free_bytes: int = 0
    process_bytes: int = 0
    """0: unknown"""
    pool_bytes: int = 0
    gap_bytes: int = 0
    others_bytes: int = 0
    """Used by other processes; 0 also where process_bytes is unknown."""
    reason: str = ""
    """\"session start", "region growth", "oom"."""


@dataclass
class DriverOom(Message):
    """The device when a request of one of TensorFlow's pools on it failed."""

    oom: int = 0
    """Oom.index."""
    time_ns: int = 0
    allocator: str = ""
    request_bytes: int = 0
    pool_bytes: int = 0
    """What the pool held, and was allowed to hold (0: unknown)."""
    pool_limit_bytes: int = 0
    sample: DriverSample = field(default_factory=lambda: DriverSample())
    """The sample that this is judged by."""
    external: bool = False
    """The pool was not at its limit, but the device could not give the request."""
    sentence: str = ""
    """One sentence for the user."""


@dataclass
class DriverPool(Message):
    """A driver's memory pool (cudaMallocAsync)."""

    address: int = 0
    size_bytes: int = 0
    utilized_bytes: int = 0
    """0: not recorded"""
    release_threshold_bytes: int = 0
    last_operation: str = ""
    """\"created", "trimmed", "destroyed": the last operation seen; empty: none."""
    peak_size_bytes: int = 0


@dataclass
class DriverSeries(Message):
    """See proto/datasets/driver_memory.proto, DriverSeries."""

    host: str = ""
    device: str = ""
    """\"cupti:0"
    """
    mode: str = ""
    reason: str = ""
    columns: list[DriverColumn] = field(default_factory=list)
    rows: list[DriverRow] = field(default_factory=list)
    """Largest peak first."""
    device_name: str = ""
    """\"NVIDIA H200"; empty: not known"""
    clock_error_ns: int = 0
    """Times of driver allocations are right within this, either way; 0: unknown."""
    source: Source = Source.SOURCE_UNSPECIFIED
    samples: list[DriverSample] = field(default_factory=list)
    ooms: list[DriverOom] = field(default_factory=list)
    pools: list[DriverPool] = field(default_factory=list)
    peak_gap_bytes: int = 0
    """Highest gap of all samples in the range."""
    allocators: list[str] = field(default_factory=list)
    """TensorFlow's allocators whose pools lie on this device."""


@dataclass
class DriverMemory(Message):
    """See proto/datasets/driver_memory.proto, DriverMemory."""

    series: list[DriverSeries] = field(default_factory=list)
    quality: list[Quality] = field(default_factory=list)
    from_ns: int = 0
    to_ns: int = 0


@dataclass
class ForecastNeed(Message):
    """What a step needs: the smallest limit that is enough for it and for what was
    live before it, as a range over the orders in which TensorFlow may run it.
    """

    batch: int = 0
    """Examples; 0: not known, and as it was."""
    low_bytes: int = 0
    high_bytes: int = 0
    fit: ForecastFit = ForecastFit.FORECAST_FIT_UNKNOWN
    """Within StepForecast.limit_bytes."""


@dataclass
class ForecastOrder(Message):
    """One order of execution: "fifo" runs ops as they become ready, "lifo" the last
    one first, "two_workers" and "random_..." two at a time.
    """

    name: str = ""
    peak_in_use_bytes: int = 0
    """Of the step and what was live before it, without rounding by the pool's
    layout.
    """
    smallest_limit_bytes: int = 0
    refused_request: int = 0
    """With the recorded map and limit: the request that finds no place, and the
    op that makes it; -1: all find one, or there is no map.
    """
    refused_op: str = ""


@dataclass
class ForecastColumn(Message):
    """A stretch of the step in its first order."""

    from_request: int = 0
    """Requests from the step's begin."""
    to_request: int = 0
    in_use_bytes: int = 0
    """The most in use there, what was live before the step included."""
    layer_bytes: list[int] = field(default_factory=list)
    """At that moment, of each of StepForecast.layers."""
    op_name: str = ""
    """The op that asked then."""


@dataclass
class StepForecast(Message):
    """See proto/datasets/forecast.proto, StepForecast."""

    host: str = ""
    allocator: str = ""
    """Empty: no pool is recorded."""
    oom: int = 0
    """Index as in OOM_WINDOW; -1: of a step that was not begun."""
    function: str = ""
    """\"one_step_on_data"
    """
    limit_bytes: int = 0
    """0: not known"""
    live_bytes: int = 0
    """What was live before the step."""
    need: ForecastNeed = field(default_factory=lambda: ForecastNeed())
    """What it needs as it is."""
    orders: list[ForecastOrder] = field(default_factory=list)
    batches: list[ForecastNeed] = field(default_factory=list)
    """Other sizes of the batch, largest first."""
    largest_batch: int = 0
    """The largest that fits; 0: none does, or the batch is not known."""
    layers: list[str] = field(default_factory=list)
    """Layers with most at the peak, largest first; the last one is all others."""
    columns: list[ForecastColumn] = field(default_factory=list)
    op_count: int = 0
    """Ops that were run, and those of them whose output sizes are not known: they
    are in no number.
    """
    unknown_count: int = 0
    unknown_ops: list[str] = field(default_factory=list)
    """\"type name"
    """
    assumed: list[str] = field(default_factory=list)
    """What was assumed where a value decides."""
    reason: str = ""
    """Why there is no forecast; the numbers are then 0."""
    sentence: str = ""
    """What it says, in words."""
    origin: str = ""
    """\"oom": the graph of the step that did not end; "ahead": the graph of one
    that was not begun; "recorded": no graph, but an earlier step that ended,
    whose number is recorded_step.
    """
    recorded_step: int = 0


@dataclass
class Forecasts(Message):
    """See proto/datasets/forecast.proto, Forecasts."""

    forecasts: list[StepForecast] = field(default_factory=list)
    quality: list[Quality] = field(default_factory=list)


@dataclass
class HostMemoryColumn(Message):
    """The state at the end of a column; of the parts what is in memory."""

    time_ns: int = 0
    used_bytes: int = 0
    """What counts against the limit."""
    resident_bytes: int = 0
    """Of the process: all that is resident."""
    part_bytes: list[int] = field(default_factory=list)
    """In the order of HostMemorySeries.parts; they add up to resident_bytes."""


@dataclass
class ProcessEnd(Message):
    """How a process ended that could not say so."""

    kind: str = ""
    """\"kernel" (killed for want of memory), "signal", "abort", "exit_call",
    "memory_error" (Python's, which nothing caught), "asked" (SIGTERM or Ctrl-C), "unknown".
    """
    sentence: str = ""
    """\"The kernel killed the process (SIGKILL) ..."."""
    signal: int = 0
    """0: none, or not known."""
    exit_code: str = ""
    """Empty: none, or not known."""
    time_ns: int = 0
    """The last sample, or later."""
    seen: str = ""
    """What tells so; empty: nothing does."""


@dataclass
class HostMemoryHolder(Message):
    """Live blocks of the host that one line of the program, or one op, made."""

    line: SourceFrame = field(default_factory=lambda: SourceFrame())
    """Not set: made where no line of the user's is known."""
    owner: str = ""
    """Who asked: an op's name, "NumPy or another library", "Python's objects"."""
    bytes: int = 0
    count: int = 0
    growth_bytes_per_s: int = 0
    """What was made in the last moments and not freed, a second."""
    estimated: bool = False
    """Small blocks are among them: bytes and count are estimates."""


@dataclass
class HostMemorySeries(Message):
    """See proto/datasets/host_memory.proto, HostMemorySeries."""

    host: str = ""
    parts: list[str] = field(default_factory=list)
    """Stable names, from the ground up: "tensors", "pools", "native", "python",
    "malloc_other", "malloc_free", "unexplained", "files", "shared".
    """
    columns: list[HostMemoryColumn] = field(default_factory=list)
    limit_bytes: int = 0
    """Of the cgroup; 0: there is none."""
    machine_bytes: int = 0
    cgroup: str = ""
    command: str = ""
    end: ProcessEnd = field(default_factory=lambda: ProcessEnd())
    """Not set: the process lived when this was written."""
    growth_bytes_per_s: int = 0
    """What the process's own memory grew by a second, at last; 0: it did not."""
    growth_from_ns: int = 0
    """The range that this was measured over."""
    growth_to_ns: int = 0
    holders: list[HostMemoryHolder] = field(default_factory=list)
    """The largest first."""
    verdict: Verdict = field(default_factory=lambda: Verdict())
    """Kinds: HOST_KILLED, COMPILE_CACHE, RETRACING, PIPELINE_BUFFER, CHECKPOINT,
    OTHER_PROCESSES, HOST_DATA_SET, HELD_BY_MALLOC, HOST_GROWTH, NOT_MEMORY,
    UNKNOWN. Not set: nothing ended.
    """
    remedies: list[Remedy] = field(default_factory=list)


@dataclass
class HostMemory(Message):
    """See proto/datasets/host_memory.proto, HostMemory."""

    series: list[HostMemorySeries] = field(default_factory=list)
    """One for each host that was watched."""
    quality: list[Quality] = field(default_factory=list)


@dataclass
class Leak(Message):
    """See proto/datasets/leaks.proto, Leak."""

    host: str = ""
    allocator: str = ""
    op_name: str = ""
    """Op, shape and dtype of the site."""
    scope: str = ""
    shape: list[int] = field(default_factory=list)
    dtype: str = ""
    bytes_per_step: float = 0.0
    bytes_per_step_low: float = 0.0
    """95 % confidence interval of bytes_per_step."""
    bytes_per_step_high: float = 0.0
    since_step: int = 0
    since_ns: int = 0
    live_count: int = 0
    live_bytes: int = 0
    samples: list[Allocation] = field(default_factory=list)
    kind: str = ""
    """\"growth": the site grows; "survivor": it outlived its siblings."""
    sentence: str = ""
    by_step: list[StepBytes] = field(default_factory=list)
    """Live bytes at the end of each step, for a picture."""
    source: SourceLocation = field(default_factory=lambda: SourceLocation())
    """Of most of the bytes that are kept; not set: not recorded."""
    keepers: list[Keeper] = field(default_factory=list)
    """What keeps them, the largest first."""


@dataclass
class StepBytes(Message):
    """See proto/datasets/leaks.proto, StepBytes."""

    step: int = 0
    bytes: int = 0


@dataclass
class Leaks(Message):
    """See proto/datasets/leaks.proto, Leaks."""

    leaks: list[Leak] = field(default_factory=list)
    quality: list[Quality] = field(default_factory=list)


@dataclass
class TimelineColumn(Message):
    """See proto/datasets/memory_timeline.proto, TimelineColumn."""

    time_ns: int = 0
    """Where the column begins"""
    in_use_min_bytes: int = 0
    in_use_max_bytes: int = 0
    requested_max_bytes: int = 0
    reserved_max_bytes: int = 0
    live_max_count: int = 0
    events: int = 0
    contributor_bytes: list[int] = field(default_factory=list)
    """Bytes of contributor i of the series when the column's in-use was highest."""


@dataclass
class TimelineEvent(Message):
    """One event, where the range is narrow enough to show each."""

    index: int = 0
    time_ns: int = 0
    time_ps: int = 0
    """Picoseconds since the trace began: separates events of one nanosecond."""
    kind: EventKind = EventKind.EVENT_UNSPECIFIED
    address: int = 0
    bytes: int = 0
    op_name: str = ""
    in_use_bytes: int = 0
    """After the event."""
    allocation_id: int = 0
    """The allocation that it made or ended."""


@dataclass
class PeakMoment(Message):
    """See proto/datasets/memory_timeline.proto, PeakMoment."""

    time_ns: int = 0
    event: int = 0
    in_use_bytes: int = 0
    requested_bytes: int = 0
    reserved_bytes: int = 0
    step: int = 0
    live_count: int = 0


@dataclass
class Contributor(Message):
    """See proto/datasets/memory_timeline.proto, Contributor."""

    key: str = ""
    """The value of the group ("sequential/dense"); the last may be "(others)"."""
    max_bytes: int = 0


@dataclass
class TimelineSeries(Message):
    """See proto/datasets/memory_timeline.proto, TimelineSeries."""

    host: str = ""
    allocator: str = ""
    limit_bytes: int = 0
    columns: list[TimelineColumn] = field(default_factory=list)
    peak: PeakMoment = field(default_factory=lambda: PeakMoment())
    contributors: list[Contributor] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    steps: list[StepMark] = field(default_factory=list)
    events: list[TimelineEvent] = field(default_factory=list)
    """Filled when the range holds no more of them than columns were asked."""
    event_count: int = 0
    filtered: bool = False
    """In use counts only what the filter keeps."""


@dataclass
class MemoryTimeline(Message):
    """See proto/datasets/memory_timeline.proto, MemoryTimeline."""

    from_ns: int = 0
    to_ns: int = 0
    series: list[TimelineSeries] = field(default_factory=list)
    quality: list[Quality] = field(default_factory=list)


@dataclass
class PinSet(Message):
    """See proto/datasets/oom_window.proto, PinSet."""

    region_address: int = 0
    hole_address: int = 0
    """The hole that would open."""
    hole_bytes: int = 0
    released_bytes: int = 0
    allocations: list[Allocation] = field(default_factory=list)
    cost: PinCost = PinCost.PIN_COST_BYTES


@dataclass
class Holder(Message):
    """See proto/datasets/oom_window.proto, Holder."""

    key: str = ""
    count: int = 0
    allocated_bytes: int = 0
    example: Allocation = field(default_factory=lambda: Allocation())


@dataclass
class Opening(Message):
    """How the story of an OOM begins, in the words that the command and the tab
    share. Why it happened is Verdict.sentence.
    """

    what_happened: str = ""
    """Who asked for how much, and where: one line."""
    remedies: int = 0
    """How many of Oom.remedies are worth trying first: at most three."""
    holders: list[str] = field(default_factory=list)
    """The largest holders with their source lines: at most three lines."""


@dataclass
class Oom(Message):
    """See proto/datasets/oom_window.proto, Oom."""

    index: int = 0
    host: str = ""
    allocator: str = ""
    time_ns: int = 0
    event: int = 0
    """Event index of the failure in its allocator."""
    request: Request = field(default_factory=lambda: Request())
    limit_bytes: int = 0
    reserved_bytes: int = 0
    in_use_bytes: int = 0
    free_bytes: int = 0
    """Reserved but not in use."""
    largest_free_bytes: int = 0
    growable_bytes: int = 0
    fits_if_compacted: bool = False
    """Free and growable together are enough for the rounded request."""
    verdict: Verdict = field(default_factory=lambda: Verdict())
    pins: list[PinSet] = field(default_factory=list)
    """One set for each cost that was asked; the cheapest first."""
    remedies: list[Remedy] = field(default_factory=list)
    recent: list[TimelineEvent] = field(default_factory=list)
    """The last events before it, oldest first."""
    holders: list[Holder] = field(default_factory=list)
    """The largest holders by site."""
    measures: FragmentationMeasures = field(default_factory=lambda: FragmentationMeasures())
    live_count: int = 0
    dump_check: DumpCheck = field(default_factory=lambda: DumpCheck())
    """The replayed map equals TensorFlow's own dump, chunk for chunk."""
    has_layout: bool = False
    """As AllocatorInfo.has_layout. False: what is free, and in what pieces, is
    not known; reserved is what is in use.
    """
    incident: int = 0
    """`index` of the first request of its incident: requests that were refused
    within one wait, or in the wake of one another. The first tells the story.
    """
    also_refused: list[int] = field(default_factory=list)
    """Of the first of an incident: `index` of the others."""
    keepers: list[Keeper] = field(default_factory=list)
    """What keeps the live allocations, the largest first; empty: not recorded."""
    lines: list[AllocationGroup] = field(default_factory=list)
    """The largest holders by line."""
    block: BlockContent = field(default_factory=lambda: BlockContent())
    """Set where the refused request is a compiled block whose inside is known."""
    opening: Opening = field(default_factory=lambda: Opening())


@dataclass
class DumpCheck(Message):
    """Comparison of the replayed map with the MemoryDump in the trace."""

    has_dump: bool = False
    equal: bool = False
    chunks: int = 0
    different_chunks: int = 0
    difference: str = ""
    """The first difference in words."""


@dataclass
class OomWindow(Message):
    """See proto/datasets/oom_window.proto, OomWindow."""

    ooms: list[Oom] = field(default_factory=list)
    quality: list[Quality] = field(default_factory=list)


@dataclass
class StepUse(Message):
    """See proto/datasets/steps.proto, StepUse."""

    host: str = ""
    allocator: str = ""
    step: StepMark = field(default_factory=lambda: StepMark())
    peak: PeakMoment = field(default_factory=lambda: PeakMoment())
    begin_in_use_bytes: int = 0
    end_in_use_bytes: int = 0
    alloc_count: int = 0
    free_count: int = 0
    survivor_bytes: int = 0


@dataclass
class Steps(Message):
    """See proto/datasets/steps.proto, Steps."""

    steps: list[StepUse] = field(default_factory=list)
    total_count: int = 0
    quality: list[Quality] = field(default_factory=list)


@dataclass
class WhatIfCourse(Message):
    """One way in which the recorded requests went, or would have gone."""

    fits: bool = False
    """Every request found a place, as far as the trace goes."""
    refused: Request = field(default_factory=lambda: Request())
    """The first that found none."""
    refused_ns: int = 0
    refused_event: int = 0
    """Its event's index in the allocator."""
    lasted_ns: int = 0
    """Since the recording began (a duration): to the refusal, or to the end."""
    peak_in_use_bytes: int = 0
    """The most at once, over the whole recording."""
    peak_reserved_bytes: int = 0
    in_use_bytes: int = 0
    """At the moment of the maps, or where the course ended if that came before."""
    free_bytes: int = 0
    largest_free_bytes: int = 0
    limit_bytes: int = 0
    """0: unknown."""
    growth: bool = False
    garbage_collection: bool = False
    map: AddressMap = field(default_factory=lambda: AddressMap())


@dataclass
class WhatIfLimit(Message):
    """See proto/datasets/what_if.proto, WhatIfLimit."""

    limit_bytes: int = 0
    fits: bool = False
    peak_reserved_bytes: int = 0


@dataclass
class WhatIfAnswer(Message):
    """The recorded requests of one allocator, served once more under other settings
    by a model of TensorFlow's allocator: the filter's allocator; else that of the
    first OOM, or of the highest use. What a request would have led to that was
    refused when it was recorded is not known: only what the trace has is served.
    """

    host: str = ""
    allocator: str = ""
    fits: bool = False
    """As WhatIfCourse of what was asked."""
    peak_in_use_bytes: int = 0
    peak_reserved_bytes: int = 0
    largest_free_bytes: int = 0
    smallest_limit_bytes: int = 0
    """In whole MiB. 0: not looked for, or none within 16 times the present limit."""
    asked: WhatIfCourse = field(default_factory=lambda: WhatIfCourse())
    recorded: WhatIfCourse = field(default_factory=lambda: WhatIfCourse())
    """What happened."""
    limits: list[WhatIfLimit] = field(default_factory=list)
    """Limits that were tried, the smallest first."""
    requests: int = 0
    """Allocations of the trace, and how many of them the model, left as recorded,
    places where TensorFlow did. 0 where no allocator was run ("async").
    """
    placed_alike: int = 0
    doubts: list[str] = field(default_factory=list)
    """Why it may be otherwise, the weightiest first; empty: the model did all that
    TensorFlow did, and only what the trace has was asked of it.
    """
    sentence: str = ""
    """The answer in one sentence."""
    quality: list[Quality] = field(default_factory=list)
    batch_size: int = 0
    """Examples of the recorded batch; 0: the shapes do not show it."""
    step_low_bytes: int = 0
    """Of the first step that was refused memory, the limit in which the whole of
    it fits: in the order of execution that needs least, and most, as it was
    forecast; both alike where an earlier step like it was completed. 0: not
    known, or not looked for.
    """
    step_high_bytes: int = 0
