// The stats that the converter reads, from our planes and from TensorFlow's.
#ifndef OOM_FORENSICS_CONVERTER_READER_STAT_KIND_H_
#define OOM_FORENSICS_CONVERTER_READER_STAT_KIND_H_

#include <cstdint>
#include <string_view>

namespace oom_forensics {

enum class StatKind : uint8_t {
  kUnknown,
  // Sites and events of our planes (event_schema.h).
  kOp,
  kShape,
  kDtype,
  kRegionType,
  kRequestedBytes,
  kAllocatedBytes,
  kEager,
  kAddress,
  kStepId,
  kThread,
  kStep,
  kWeight,
  kAgeNs,
  kSizeBytes,
  kRetryOnFailure,
  kBytesInUse,
  kPeakBytesInUse,
  kBytesReserved,
  kBytesLimit,
  kLargestFreeBytes,
  kNumAllocs,
  kMemoryDump,
  // Device planes.
  kMemoryKind,
  kOperation,
  kStream,
  kPool,
  kSource,
  kUtilizedBytes,
  kReleaseThresholdBytes,
  kFreeBytes,
  kTotalBytes,
  kProcessBytes,
  kOtherProcesses,
  kPciBusId,
  kSampleReason,
  kPoolBytes,
  // Source lines.
  kFrame,
  kLibraryFrame,
  kStack,
  kMadeAtStack,
  kObject,
  kOfOptimizer,
  kChain,
  kBytes,
  kText,
  // Activities of a host.
  kTimes,
  kLastNs,
  kUnderWay,
  kLive,
  kBeginBytes,
  kSourceLines,
  kDroppedStacks,
  // MemoryAllocation and MemoryDeallocation of /host:CPU, where not named as
  // above (xla/tsl/framework/bfc_allocator.cc, AddTraceMe).
  kStockAddress,
  kStockStepId,
  kStockOp,
  kStockDtype,
  kStockAllocatedBytes,
  kStockBytesInUse,
  kStockBytesAvailable,
  kStockAllocatorName,
  // TensorFlow's own GPU traces (xla/backends/profiler/gpu/cupti_collector.cc).
  kMemallocDetails,
  kMemFreeDetails,
  kMemoryResidencyDetails,
  kDeviceId,
  // Any TraceMe of a training step.
  kStepNum,
  // Planes.
  kAllocatorName,
  kAllocatorKind,
  kDeviceName,
  kCudaDevice,
  kHasLayout,
  kBaselineComplete,
  kUnlistedAllocations,
  kDroppedEvents,
  kTotalAllocs,
  kTotalFrees,
  kVersion,
  kCollectorVersion,
  kTensorFlowVersion,
  kProcessId,
  kStartNs,
  kStopNs,
  kOrigin,
  kHooks,
  kAttribution,
  kSamplingRate,
  kMinBytes,
  kAnonymized,
  kEnvironment,
  kUnnamedAllocations,
  kUnknownAllocatorRequests,
  kLibraryError,
  kPoolsBytes,
  kPoolsInUseBytes,
  kCuptiMode,
  kCuptiReason,
  kClockErrorNs,
  kDroppedByCupti,
  kUnreadableRecords,
  kProfileStartTime,
  kProfileStopTime,
  // Forecasts.
  kFunction,
  kBatch,
  kPerExampleBytes,
  kIsScratch,
  kHeldBytes,
  kOpCount,
  kUnknownCount,
  kUnknownOps,
  kAssumed,
  kReason,
  kNumber,
  // Compiled modules, and what XLA allocates.
  kHloProto,
  kCompileNs,
  kStockName,
  kModulesLeftOut,
  kCompiledFunction,
  kHloModule,
  kHloProgramId,
  kLaunchOp,
  kBufferAllocation,
  kBufferKind,
  kCount,  // Not a kind: their number.
};

// Which vocabulary a plane speaks; a name may mean different things in each.
enum class StatVocabulary { kCollector, kStock };

// kUnknown for a name that is not read.
StatKind StatKindOf(std::string_view name, StatVocabulary vocabulary);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_STAT_KIND_H_
