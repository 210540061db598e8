// The event schema: what the collector writes into an XSpace and the converter
// reads out of it. One of the two contracts of this project; the other is
// datasets.proto.
//
// The carrier is TensorFlow's own format (tsl/profiler/protobuf/xplane.proto).
// Its messages are read and written by field number
// (proto/tensorflow_fields.h).
//
// Planes
//   /oom_forensics:session            facts about the recording, as plane stats
//   /oom_forensics:<allocator>#<n>    one per allocator instance
//   /oom_forensics:cupti:<n>          one per CUDA device
//   /oom_forensics:forecast           what a step would have asked for
//   /oom_forensics:step               what such a forecast is made of
//   /oom_forensics:host_memory        the host's memory over time, and how the
//                                     process ended (see "Host memory")
//   /host:metadata                    the modules that XLA compiled
//   /oom_forensics:source             the user's source lines; a file may hold
//                                     several (see "Source lines")
//
// An allocator plane has plane stats (kAllocator...), and two lines:
//   "baseline"  what was there when the recording began: one kRegionAdd event
//               per region and one kAlloc event per live chunk, with kAgeNs.
//               The line begins with the recording and its events are
//               1 ps apart: they are state, not history.
//   "events"    what happened since: kAlloc, kFree, kFailed, kRegionAdd,
//               kRegionRemove, in sequence order.
//
// Order. An event's sequence is taken after AllocateRaw has returned and before
// DeallocateRaw is entered, so the free of a chunk always precedes its reuse.
// TensorFlow sorts the events of each line by time, so the order is carried by
// the time stamp: offset_ps is strictly increasing over a line. The clock gives
// nanoseconds; the last three digits of offset_ps separate ties.
//
// Sites. What repeats from step to step is said once, as an XEventMetadata: its
// `name` is the kind of event (kAlloc, kFailed, ...), its `display_name` the
// op, its `stats` carry kOp, kShape, kDtype, kRegionType, kEager,
// kRequestedBytes and kAllocatedBytes. Several XEventMetadata of one plane
// therefore share a name and differ in their id: resolve them by id.
//
// Source lines. A stack is said once, as an XEventMetadata of the plane
// kSourcePlane, and a site refers to it by its id (stat kStack). The collector
// writes the stacks of eager allocations; planes of the same name that Python
// appends to a finished file add what only Python knows: the lines of a graph's
// ops (kOpRecord), who keeps live allocations (kKeeperRecord), the text of
// lines (kLineRecord), and stacks of their own, whose ids begin at
// kFirstPythonStack. Ids are unique over all source planes of a file.
//
// Sticky stats. kStepId and kThread are written on an event of the "events" or
// "baseline" line only where they differ from the previous event of that line.
// Both are 0 before the first one.
//
// Clock. XLine.timestamp_ns is nanoseconds since the epoch when the collector
// writes it; TensorFlow then subtracts the start of its session, which it
// states as `profile_start_time` of the plane "Task Environment". A trace that
// the flight recorder wrote itself has both in the same form.
#ifndef OOM_FORENSICS_PROTO_EVENT_SCHEMA_H_
#define OOM_FORENSICS_PROTO_EVENT_SCHEMA_H_

#include <cstdint>
#include <string_view>

// The carrier's own fields: who writes or reads one wants both.
#include "proto/tensorflow_fields.h"  // IWYU pragma: export

namespace oom_forensics::schema {

// Raised when a reader of the version before would misread what is written.
inline constexpr uint64_t kSchemaVersion = 1;

// Names of planes and lines.
inline constexpr std::string_view kPlanePrefix = "/oom_forensics:";
inline constexpr std::string_view kSessionPlane = "/oom_forensics:session";
inline constexpr std::string_view kCuptiPlanePrefix = "/oom_forensics:cupti:";
// As TensorFlow's profiler writes it: of each module that XLA compiled one
// XEventMetadata, its id the module's program id, its name
// "module_name(program id)", with the one stat kHloProto, a serialised
// xla.HloProto with its buffer_assignment. In a trace of TensorFlow's profiler
// it is TensorFlow's own; where the collector writes a file itself, it writes
// the modules of what was live or refused, and the plane has
// kModulesLeftOut... as plane stats, each module kCompileNs after its
// kHloProto.
inline constexpr std::string_view kModulesPlane = "/host:metadata";
inline constexpr std::string_view kHloProto = "Hlo Proto";  // bytes
// From when TensorFlow turned to the function until XLA had compiled it.
// Absent: not seen.
inline constexpr std::string_view kCompileNs = "compile_ns";  // uint64
inline constexpr std::string_view kSourcePlane = "/oom_forensics:source";
// Only where Python's evidence (lines of graphs, keepers, the step's graph) is
// missing or incomplete: kReason as plane stat, a part of a sentence.
inline constexpr std::string_view kEvidencePlane = "/oom_forensics:evidence";
inline constexpr std::string_view kBaselineLine = "baseline";
inline constexpr std::string_view kEventsLine = "events";

// Kinds of event (XEventMetadata.name).
inline constexpr std::string_view kAlloc = "alloc";
inline constexpr std::string_view kFree = "free";
// AllocateRaw returned null. Its time is that of the return; its duration_ps is
// the time spent inside, the retries included.
inline constexpr std::string_view kFailed = "failed";
inline constexpr std::string_view kRegionAdd = "region_add";
inline constexpr std::string_view kRegionRemove = "region_remove";
// Training step `kStep` began (seen by the collector, outside a profile too); a
// negative number: the last one is over. Steps belong to no allocator: the
// plane of the first one carries them, its baseline the step that was under
// way. A number is what the user gave
// (tf.profiler.experimental.Trace(step_num=)), or counts the batches that Keras
// trained on in this process, from 0.
inline constexpr std::string_view kStepBegin = "step_begin";

// Stats of a site (XEventMetadata.stats).
inline constexpr std::string_view kOp = "op";        // ref
inline constexpr std::string_view kShape = "shape";  // ref, "[8,16]". The
// collector leaves it out of what asked for at most 1 KiB and got it.
inline constexpr std::string_view kDtype = "dtype";  // int64, DataType
inline constexpr std::string_view kRegionType = "region_type";  // ref
inline constexpr std::string_view kRequestedBytes =
    "requested_bytes";  // uint64
inline constexpr std::string_view kAllocatedBytes =
    "allocated_bytes";  // uint64
// 1: the op ran by itself (eagerly). 0: as a node of a graph, that is, under a
// scope or in a thread of TensorFlow's pools. Absent: unknown.
inline constexpr std::string_view kEager = "eager";  // uint64

// More stats of a site: what XLA asked for. A site with kCompiledFunction or
// kHloModule is an allocation of a compiled function; its kOp is then what
// TensorFlow says of the thread, if it says anything. Each of these may be
// absent: it was not known.
// The function as a person knows it: "one_step_on_data", "train_step"; of a
// cluster that TensorFlow made itself its name, "cluster_0".
inline constexpr std::string_view kCompiledFunction =
    "compiled_function";  // ref
// xla::HloModule::name() and unique_id(): the key of the module in
// kModulesPlane.
inline constexpr std::string_view kHloModule = "hlo_module";         // ref
inline constexpr std::string_view kHloProgramId = "hlo_program_id";  // uint64
// Name of the TensorFlow op that ran the function, as it is in the graph:
// "StatefulPartitionedCall", "cluster_0_1/xla_run".
inline constexpr std::string_view kLaunchOp = "launch_op";  // ref
// What XLA asks for while it compiles, to try algorithms on tensors of the real
// sizes, has the name of the op that had it compile, and this behind it.
inline constexpr std::string_view kCompilingSuffix = "/XlaCompile";
// Index in the module's BufferAssignment of what is allocated. Absent: the
// collector could not tell.
inline constexpr std::string_view kBufferAllocation =
    "buffer_allocation";  // int64
// What it is for: "temp", "output", "constant", "parameter", "thread_local".
inline constexpr std::string_view kBufferKind = "buffer_kind";  // ref

// Stats of an event (XEvent.stats).
inline constexpr std::string_view kAddress = "address";  // uint64
// TensorFlow's id of the run of a function that the op belonged to; 0: none, an
// eager op is a run of its own.
inline constexpr std::string_view kStepId = "step_id";  // int64, sticky
inline constexpr std::string_view kThread = "thread";   // uint64 OS id, sticky
inline constexpr std::string_view kStep = "step";       // int64 training step
// How many allocations this one stands for under sampling; absent: 1.
inline constexpr std::string_view kWeight = "weight";  // double
// Baseline only: how long before the recording began the chunk was allocated.
inline constexpr std::string_view kAgeNs = "age_ns";          // uint64
inline constexpr std::string_view kSizeBytes = "size_bytes";  // uint64, regions

// Stats of a kFailed event: the allocator at the moment of the failure.
// 0: the caller had asked for a probe and handles the failure; not an OOM.
inline constexpr std::string_view kRetryOnFailure =
    "retry_on_failure";                                          // uint64
inline constexpr std::string_view kBytesInUse = "bytes_in_use";  // uint64
inline constexpr std::string_view kPeakBytesInUse =
    "peak_bytes_in_use";                                              // uint64
inline constexpr std::string_view kBytesReserved = "bytes_reserved";  // uint64
inline constexpr std::string_view kBytesLimit = "bytes_limit";        // uint64
inline constexpr std::string_view kLargestFreeBytes =
    "largest_free_bytes";                                     // uint64
inline constexpr std::string_view kNumAllocs = "num_allocs";  // uint64
// TensorFlow's own chunk map right after the failure: a tensorflow.MemoryDump.
inline constexpr std::string_view kMemoryDump = "memory_dump";  // bytes

// Stats of an allocator plane.
inline constexpr std::string_view kAllocatorName = "allocator_name";  // str
// "bfc", "gpu_host", "cuda_malloc_async", "cuda_malloc", "pluggable"; of the
// flight recorder's report also "cpu", which has no plane.
inline constexpr std::string_view kAllocatorKind = "allocator_kind";  // str
inline constexpr std::string_view kDeviceName = "device_name";        // str
// The CUDA device that the allocator lies on, as the driver numbers it; several
// of TensorFlow's logical devices can lie on one. Not there: not known.
inline constexpr std::string_view kCudaDevice = "cuda_device";  // uint
// 0: the allocator takes each block from the device's driver and divides
// nothing itself. It then has no regions and no chunks: the addresses tell
// blocks apart, not what lies between them; kAllocatedBytes is what was asked
// for, as the driver does not say what it rounds up to. Absent: 1.
inline constexpr std::string_view kHasLayout = "has_layout";  // uint64
// kBytesLimit is also a stat of the plane: the most that the allocator may ever
// use, whether or not it has grown to that (a BFC allocator's memory limit).
// Absent: there is none, or the allocator does not say.
// 1 when the live set at the start is complete (the collector was there when
// the allocator was made); 0 when chunks may be missing from it.
inline constexpr std::string_view kBaselineComplete = "baseline_complete";
// Allocations for which the collector's list of what is live had no room, since
// the allocator was made: the baseline may lack them. Absent: 0.
inline constexpr std::string_view kUnlistedAllocations =
    "unlisted_allocations";  // uint64
// Events of this allocator that happened but are not in the trace.
inline constexpr std::string_view kDroppedEvents = "dropped_events";  // uint64
// Exact totals of the recording, whatever was dropped or sampled.
inline constexpr std::string_view kTotalAllocs = "total_allocs";  // uint64
inline constexpr std::string_view kTotalFrees = "total_frees";    // uint64

// Stats of the session plane.
inline constexpr std::string_view kVersion = "schema_version";  // uint64
inline constexpr std::string_view kCollectorVersion = "collector_version";
inline constexpr std::string_view kTensorFlowVersion = "tensorflow_version";
inline constexpr std::string_view kProcessId = "process_id";  // uint64
inline constexpr std::string_view kStartNs = "start_ns";      // uint64, epoch
inline constexpr std::string_view kStopNs = "stop_ns";        // uint64, epoch
// "profile", "oom" (flight recorder) or "snapshot" (on demand).
inline constexpr std::string_view kOrigin = "origin";  // str
// What the collector could hook, and what not and why; one sentence each.
inline constexpr std::string_view kHooks = "hooks";                 // str
inline constexpr std::string_view kAttribution = "attribution";     // str
inline constexpr std::string_view kSamplingRate = "sampling_rate";  // double
inline constexpr std::string_view kMinBytes = "min_bytes";          // uint64
inline constexpr std::string_view kBufferEvents = "buffer_events";  // uint64
// 1: addresses are pseudonyms, consistent within this trace only.
inline constexpr std::string_view kAnonymized = "anonymized";  // uint64
// Environment variables that decide how TensorFlow allocates, "NAME=value".
inline constexpr std::string_view kEnvironment = "environment";  // str, lines
// Of the snapshot that was written because a library of NVIDIA's had no memory
// for itself: the error's message. With it kTotalBytes, kFreeBytes and
// kProcessBytes of the fullest device, and what TensorFlow's pools there hold.
inline constexpr std::string_view kLibraryError = "library_error";  // str
inline constexpr std::string_view kPoolsBytes = "pools_bytes";      // uint64
inline constexpr std::string_view kPoolsInUseBytes =
    "pools_in_use_bytes";  // uint64
// What the collector had no room for since TensorFlow was loaded; absent: 0.
// Allocations that have their sizes but no names: the table of sites was full.
inline constexpr std::string_view kUnnamedAllocations =
    "unnamed_allocations";  // uint64
// Requests that are not recorded: the table of allocators was full.
inline constexpr std::string_view kUnknownAllocatorRequests =
    "unknown_allocator_requests";  // uint64

// Stats of kModulesPlane, where the collector wrote it. Modules that something
// live or refused belongs to, and that are not there: their number and the size
// of their protos. 0 and 0 where all are.
inline constexpr std::string_view kModulesLeftOut =
    "modules_left_out";  // uint64
inline constexpr std::string_view kModulesLeftOutBytes =
    "modules_left_out_bytes";  // uint64
// Why, one sentence: the limit, or that modules cannot be read here.
inline constexpr std::string_view kModulesWhyLeftOut =
    "modules_why_left_out";  // str

// A CUDA device plane: facts (plane stats) and events.
// Which way device memory is watched ("tee", "own", "samples", "off"), and why.
inline constexpr std::string_view kCuptiMode = "cupti_mode";         // str
inline constexpr std::string_view kCuptiReason = "cupti_reason";     // str
inline constexpr std::string_view kClockErrorNs = "clock_error_ns";  // uint64
inline constexpr std::string_view kDeviceAlloc = "device_alloc";
inline constexpr std::string_view kDeviceFree = "device_free";
inline constexpr std::string_view kDevicePool = "device_pool";
inline constexpr std::string_view kDeviceSample = "device_sample";
inline constexpr std::string_view kMemoryKind = "memory_kind";  // ref
inline constexpr std::string_view kOperation = "operation";     // ref
inline constexpr std::string_view kStream = "stream";           // uint64
inline constexpr std::string_view kPool = "pool";  // uint64 address
inline constexpr std::string_view kCorrelationId = "correlation_id";  // uint64
inline constexpr std::string_view kSource = "source";  // ref, a library
inline constexpr std::string_view kUtilizedBytes = "utilized_bytes";
inline constexpr std::string_view kReleaseThresholdBytes =
    "release_threshold_bytes";
inline constexpr std::string_view kFreeBytes = "free_bytes";
inline constexpr std::string_view kTotalBytes = "total_bytes";
inline constexpr std::string_view kProcessBytes = "process_bytes";
// Who else holds memory of the device, the largest first: a line for each
// process, "4711 2621440000 python". Absent: not known. Also of the session
// plane, with kProcessBytes.
inline constexpr std::string_view kOtherProcesses = "other_processes";  // ref
// By which NVML and nvidia-smi know the device: "0000:3b:00.0".
inline constexpr std::string_view kPciBusId = "pci_bus_id";  // str
// Why a device_sample was taken: "session start", "region growth", ...
inline constexpr std::string_view kSampleReason = "sample_reason";  // ref
// 1: the operation is ordered by a stream (cudaMallocAsync); else absent.
inline constexpr std::string_view kAsync = "async";  // uint64
// Size of the memory pool that `kPool` names, after the operation.
inline constexpr std::string_view kPoolBytes = "pool_bytes";  // uint64
// More facts of a device plane. kDroppedEvents: the collector's log was full.
inline constexpr std::string_view kCuptiVersion = "cupti_version";  // uint64
// Records of any kind that CUPTI had no buffer for.
inline constexpr std::string_view kDroppedByCupti = "dropped_by_cupti";
// Records that are not understood, and were left out.
inline constexpr std::string_view kUnreadableRecords = "unreadable_records";

// The plane kSourcePlane: kinds of record (XEventMetadata.name). It has no
// lines.
// A stack: the XEventMetadata's id is the stack's id. Its stats are kFrame and
// kLibraryFrame, one for each frame, innermost first, in one order.
inline constexpr std::string_view kStackRecord = "stack";
// A recorded op: display_name is its name as kOp of a site says it. Stats:
// kStack (where it was called), kMadeAtStack, kObject, kOfOptimizer; each where
// it is known.
inline constexpr std::string_view kOpRecord = "op";
// What was asked for outside of any op, by threads that Python does not know
// (tf.data's). Stats: kBytes, what was asked for, which is all that tells it;
// kStack, where that was made whose elements have this size.
inline constexpr std::string_view kSizeRecord = "size";
// What keeps live allocations from being freed. Stats: kAddress (one for each
// allocation, shifted as those of the events are where kAnonymized is set),
// kBytes (all of them together), kChain (one for each link, from the root to
// the tensor), kStack (where the root's frame is, or the object was made).
inline constexpr std::string_view kKeeperRecord = "keeper";
// The text of a source line: display_name is "<file>\x1f<line>", the stat kText
// its text without the white space around it.
inline constexpr std::string_view kLineRecord = "line";

// Stats of these records.
// "<file>\x1f<line>\x1f<function>", a frame of the user's code.
inline constexpr std::string_view kFrame = "frame";  // ref or str
// Likewise, of Python's library or an installed package.
inline constexpr std::string_view kLibraryFrame = "library_frame";
inline constexpr char kFrameSeparator = '\x1f';
// Of a site or an event, an op, a keeper: the id of a stack.
inline constexpr std::string_view kStack = "stack";  // uint64
// For an op: where the Keras layer, optimizer, loss or metric was made.
inline constexpr std::string_view kMadeAtStack = "made_at_stack";  // uint64
// What was made there: "Conv2D conv2d_1".
inline constexpr std::string_view kObject = "object";  // str
// 1: that is an optimizer.
inline constexpr std::string_view kOfOptimizer = "of_optimizer";  // uint64
inline constexpr std::string_view kChain = "chain";  // str, repeated
inline constexpr std::string_view kBytes = "bytes";  // uint64
inline constexpr std::string_view kText = "text";    // str
inline constexpr uint64_t kFirstPythonStack = uint64_t{1} << 32;

// Stats of the plane kSourcePlane, as the collector writes it.
// "on", or "off: " and why eager allocations have no stack.
inline constexpr std::string_view kSourceLines = "source_lines";  // str
// Allocations whose stack was not kept because the table of stacks was full or
// busy.
inline constexpr std::string_view kDroppedStacks = "dropped_stacks";  // uint64

// Forecasts: what a step of a graph would have asked for, had it gone on to its
// end (kForecastPlane). Written from Python, after the fact or before a step; a
// file may have several planes of this name.
//
// An XEventMetadata named kForecast is one forecast; its stats say of what. It
// has one line for each order of execution that was tried; the line's name is
// the order ("fifo", "lifo", "two_workers", "random_1", ...). A line begins
// with an event of its kForecast. The others are requests in sequence,
// offset_ps counts them: an event of a site (kAlloc, with kOp, kShape, kDtype
// and kRequestedBytes, as in an allocator's plane) asks; what it gets has the
// next number, from 0 in each line. An event named kFree gives back the one of
// that number (kNumber). What is not given back stays after the step.
//
// A site with kHloModule and kHloProgramId stands for a run of that module of
// kModulesPlane: it has no bytes of its own, and asks for all that XLA planned
// for the module. What was live before the step (variables, inputs, constants)
// is not asked for.
inline constexpr std::string_view kForecastPlane = "/oom_forensics:forecast";
// The step that ran out of memory, as the process that met it wrote it: one
// kForecast with kReason, and what TensorFlow needs to prepare its graph (see
// plugin/oom_forensics/in_training/step_forecast/recorded.py). Whoever reads
// the run first adds the forecast of it; until then its reason stands.
inline constexpr std::string_view kStepPlane = "/oom_forensics:step";
inline constexpr std::string_view kForecast = "forecast";
inline constexpr std::string_view kNumber = "number";  // uint64
// kOrigin of a forecast: "oom" (the step that did not end), "ahead" (a step
// that was not begun). The function, "__inference_one_step_on_data_123".
inline constexpr std::string_view kFunction = "function";  // str
// kStepId is the run of the function that the refused request belonged to.
// The size of the batch; absent: not known.
inline constexpr std::string_view kBatch = "batch";  // int64
// For a site: how many of its bytes each example of the batch takes; absent:
// none.
inline constexpr std::string_view kPerExampleBytes =
    "per_example_bytes";  // uint64
// For a site: 1: scratch of an op that waits for it until others have given
// back theirs; absent: an output.
inline constexpr std::string_view kIsScratch = "is_scratch";  // int64
// What variables, inputs and constants take in a pool that has nothing else.
inline constexpr std::string_view kHeldBytes = "held_bytes";  // uint64
// Ops of the step, and those of them whose output sizes are not known: they are
// in no number. kUnknownOps: "type name", lines.
inline constexpr std::string_view kOpCount = "op_count";        // uint64
inline constexpr std::string_view kUnknownCount = "unknown";    // uint64
inline constexpr std::string_view kUnknownOps = "unknown_ops";  // str, lines
// What was assumed where a value decides ("how often a loop goes round"),
// lines.
inline constexpr std::string_view kAssumed = "assumed";  // str, lines
// Why there is no forecast; it then has no lines.
inline constexpr std::string_view kReason = "reason";  // str

// Host memory: samples of what the process and its surroundings use
// (kHostMemoryPlane). Each line is a quantity (its name, below); its events are
// kHostSample, with one stat, kBytes. The lines have the same times; a quantity
// that was not known is left out. An allocator plane of kind "host" tells who
// holds it: live blocks beside TensorFlow's pools, the small ones drawn by
// chance (kWeight).
//
// The line kFactsLine has an event for each fact; the event's name says which,
// its stat kText or kBytes what.
//
// The line kActivitiesLine has an event for each place of the program that does
// what takes memory beside its blocks: kTraceActivity (a function is traced,
// and run for the first time), kBufferActivity (a node of tf.data that keeps
// elements), kSaveActivity (a model or a checkpoint is saved), kCompileActivity
// (XLA has compiled a function), kHolderActivity (a container held arrays while
// memory got short), kStackActivity (where a thread was then). The event begins
// when that began first. Stats: kOp (its name), kStack, kText (what changes
// from one time to the next; how much was in use, in percent), kTimes, kLastNs,
// kUnderWay, kLive (how many results are kept; how many elements a buffer may
// keep, 0: it decides that itself; items of a holder), kSizeBytes (an element;
// all of a holder), kBytes (what the process grew meanwhile, all times
// together), kBeginBytes (kRssAnon when it began last).
inline constexpr std::string_view kHostMemoryPlane =
    "/oom_forensics:host_memory";
inline constexpr std::string_view kHostSample = "host_sample";
inline constexpr std::string_view kFactsLine = "facts";
inline constexpr std::string_view kActivitiesLine = "activities";
inline constexpr std::string_view kTraceActivity = "trace";
inline constexpr std::string_view kBufferActivity = "buffer";
inline constexpr std::string_view kSaveActivity = "save";
inline constexpr std::string_view kCompileActivity = "compile";
inline constexpr std::string_view kHolderActivity = "holder";
inline constexpr std::string_view kStackActivity = "stack";
inline constexpr std::string_view kTimes = "times";             // uint64
inline constexpr std::string_view kLastNs = "last_ns";          // uint64, epoch
inline constexpr std::string_view kUnderWay = "under_way";      // uint64
inline constexpr std::string_view kLive = "live";               // uint64
inline constexpr std::string_view kBeginBytes = "begin_bytes";  // uint64
// Quantities. Resident memory of the process: its own, of files, shared.
inline constexpr std::string_view kRssAnon = "rss_anon";
inline constexpr std::string_view kRssFile = "rss_file";
inline constexpr std::string_view kRssShmem = "rss_shmem";
// What counts against the limit: of the cgroup, without one of the machine. And
// what of it is pages of files, which the kernel takes away first.
inline constexpr std::string_view kHostUsed = "used";
inline constexpr std::string_view kHostCache = "cache";
// Parts of kRssAnon, as far as they are touched: tensors of TensorFlow's
// default allocator, what its pools have taken, blocks of NumPy and other
// libraries, Python's small objects, all that malloc has in use (the first
// three are a part of it), what was freed and malloc still holds.
inline constexpr std::string_view kHostTensors = "tensors";
inline constexpr std::string_view kHostPools = "pools";
inline constexpr std::string_view kHostNative = "native";
inline constexpr std::string_view kHostPython = "python";
inline constexpr std::string_view kHostMallocUsed = "malloc_used";
inline constexpr std::string_view kHostMallocFree = "malloc_free";
// Facts. How the process ended: "kernel" (killed by the kernel for want of
// memory), "signal" (kHostSignal), "abort", "exit_call" (_exit()),
// "memory_error" (Python's, which nothing caught), "asked"
// (SIGTERM or Ctrl-C, for which it had no handler), "unknown"
// (without a word). Absent: it lives.
inline constexpr std::string_view kHostEnd = "end";             // kText
inline constexpr std::string_view kHostSignal = "signal";       // kBytes
inline constexpr std::string_view kHostExitCode = "exit_code";  // kText
// What the kernel said of it, or how else it is known.
inline constexpr std::string_view kHostEndSeen = "end_seen";  // kText
// 1: the kernel killed all of the cgroup at once (memory.oom.group).
inline constexpr std::string_view kHostWholeGroup =
    "end_whole_group";                                       // kBytes
inline constexpr std::string_view kHostCommand = "command";  // kText
inline constexpr std::string_view kHostCgroup = "cgroup";    // kText
// Of the cgroup; absent: there is none. Of the machine.
inline constexpr std::string_view kHostLimit = "limit";      // kBytes
inline constexpr std::string_view kHostMachine = "machine";  // kBytes
// A limit of the process alone, which of them ("RLIMIT_AS", "RLIMIT_DATA"), and
// what counted against it at last; absent: it had none.
inline constexpr std::string_view kHostOwnLimitName =
    "own_limit_name";                                           // kText
inline constexpr std::string_view kHostOwnLimit = "own_limit";  // kBytes
inline constexpr std::string_view kHostOwnUsed = "own_used";    // kBytes
// Blocks below 64 KiB are drawn once in so many bytes.
inline constexpr std::string_view kHostSampling = "sampling";  // kBytes
// 1: blocks of NumPy, Python and other libraries were watched, too.
inline constexpr std::string_view kHostWatched = "malloc_watched";  // kBytes

}  // namespace oom_forensics::schema

#endif  // OOM_FORENSICS_PROTO_EVENT_SCHEMA_H_
