#include "converter/reader/stat_kind.h"

#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

struct NamedStat {
  std::string_view name;
  StatKind kind;
};

constexpr NamedStat kCollectorStats[] = {
    {schema::kOp, StatKind::kOp},
    {schema::kShape, StatKind::kShape},
    {schema::kDtype, StatKind::kDtype},
    {schema::kRegionType, StatKind::kRegionType},
    {schema::kRequestedBytes, StatKind::kRequestedBytes},
    {schema::kAllocatedBytes, StatKind::kAllocatedBytes},
    {schema::kEager, StatKind::kEager},
    {schema::kAddress, StatKind::kAddress},
    {schema::kStepId, StatKind::kStepId},
    {schema::kThread, StatKind::kThread},
    {schema::kStep, StatKind::kStep},
    {schema::kWeight, StatKind::kWeight},
    {schema::kAgeNs, StatKind::kAgeNs},
    {schema::kSizeBytes, StatKind::kSizeBytes},
    {schema::kRetryOnFailure, StatKind::kRetryOnFailure},
    {schema::kBytesInUse, StatKind::kBytesInUse},
    {schema::kPeakBytesInUse, StatKind::kPeakBytesInUse},
    {schema::kBytesReserved, StatKind::kBytesReserved},
    {schema::kBytesLimit, StatKind::kBytesLimit},
    {schema::kLargestFreeBytes, StatKind::kLargestFreeBytes},
    {schema::kNumAllocs, StatKind::kNumAllocs},
    {schema::kMemoryDump, StatKind::kMemoryDump},
    {schema::kMemoryKind, StatKind::kMemoryKind},
    {schema::kOperation, StatKind::kOperation},
    {schema::kStream, StatKind::kStream},
    {schema::kPool, StatKind::kPool},
    {schema::kSource, StatKind::kSource},
    {schema::kUtilizedBytes, StatKind::kUtilizedBytes},
    {schema::kReleaseThresholdBytes, StatKind::kReleaseThresholdBytes},
    {schema::kFreeBytes, StatKind::kFreeBytes},
    {schema::kTotalBytes, StatKind::kTotalBytes},
    {schema::kProcessBytes, StatKind::kProcessBytes},
    {schema::kOtherProcesses, StatKind::kOtherProcesses},
    {schema::kPciBusId, StatKind::kPciBusId},
    {schema::kSampleReason, StatKind::kSampleReason},
    {schema::kPoolBytes, StatKind::kPoolBytes},
    {schema::kFrame, StatKind::kFrame},
    {schema::kLibraryFrame, StatKind::kLibraryFrame},
    {schema::kStack, StatKind::kStack},
    {schema::kMadeAtStack, StatKind::kMadeAtStack},
    {schema::kObject, StatKind::kObject},
    {schema::kOfOptimizer, StatKind::kOfOptimizer},
    {schema::kChain, StatKind::kChain},
    {schema::kBytes, StatKind::kBytes},
    {schema::kText, StatKind::kText},
    {schema::kTimes, StatKind::kTimes},
    {schema::kLastNs, StatKind::kLastNs},
    {schema::kUnderWay, StatKind::kUnderWay},
    {schema::kLive, StatKind::kLive},
    {schema::kBeginBytes, StatKind::kBeginBytes},
    {schema::kSourceLines, StatKind::kSourceLines},
    {schema::kDroppedStacks, StatKind::kDroppedStacks},
    {schema::kDroppedByCupti, StatKind::kDroppedByCupti},
    {schema::kUnreadableRecords, StatKind::kUnreadableRecords},
    {schema::kAllocatorName, StatKind::kAllocatorName},
    {schema::kAllocatorKind, StatKind::kAllocatorKind},
    {schema::kDeviceName, StatKind::kDeviceName},
    {schema::kCudaDevice, StatKind::kCudaDevice},
    {schema::kHasLayout, StatKind::kHasLayout},
    {schema::kBaselineComplete, StatKind::kBaselineComplete},
    {schema::kUnlistedAllocations, StatKind::kUnlistedAllocations},
    {schema::kDroppedEvents, StatKind::kDroppedEvents},
    {schema::kTotalAllocs, StatKind::kTotalAllocs},
    {schema::kTotalFrees, StatKind::kTotalFrees},
    {schema::kVersion, StatKind::kVersion},
    {schema::kCollectorVersion, StatKind::kCollectorVersion},
    {schema::kTensorFlowVersion, StatKind::kTensorFlowVersion},
    {schema::kProcessId, StatKind::kProcessId},
    {schema::kStartNs, StatKind::kStartNs},
    {schema::kStopNs, StatKind::kStopNs},
    {schema::kOrigin, StatKind::kOrigin},
    {schema::kHooks, StatKind::kHooks},
    {schema::kAttribution, StatKind::kAttribution},
    {schema::kSamplingRate, StatKind::kSamplingRate},
    {schema::kMinBytes, StatKind::kMinBytes},
    {schema::kAnonymized, StatKind::kAnonymized},
    {schema::kEnvironment, StatKind::kEnvironment},
    {schema::kUnnamedAllocations, StatKind::kUnnamedAllocations},
    {schema::kUnknownAllocatorRequests, StatKind::kUnknownAllocatorRequests},
    {schema::kLibraryError, StatKind::kLibraryError},
    {schema::kPoolsBytes, StatKind::kPoolsBytes},
    {schema::kPoolsInUseBytes, StatKind::kPoolsInUseBytes},
    {schema::kCuptiMode, StatKind::kCuptiMode},
    {schema::kCuptiReason, StatKind::kCuptiReason},
    {schema::kClockErrorNs, StatKind::kClockErrorNs},
    {schema::kFunction, StatKind::kFunction},
    {schema::kBatch, StatKind::kBatch},
    {schema::kPerExampleBytes, StatKind::kPerExampleBytes},
    {schema::kIsScratch, StatKind::kIsScratch},
    {schema::kHeldBytes, StatKind::kHeldBytes},
    {schema::kOpCount, StatKind::kOpCount},
    {schema::kUnknownCount, StatKind::kUnknownCount},
    {schema::kUnknownOps, StatKind::kUnknownOps},
    {schema::kAssumed, StatKind::kAssumed},
    {schema::kReason, StatKind::kReason},
    {schema::kNumber, StatKind::kNumber},
    {schema::kCompiledFunction, StatKind::kCompiledFunction},
    {schema::kHloModule, StatKind::kHloModule},
    {schema::kHloProgramId, StatKind::kHloProgramId},
    {schema::kLaunchOp, StatKind::kLaunchOp},
    {schema::kBufferAllocation, StatKind::kBufferAllocation},
    {schema::kBufferKind, StatKind::kBufferKind},
};

// tsl/profiler/utils/xplane_schema.cc
constexpr NamedStat kStockStats[] = {
    {"addr", StatKind::kStockAddress},
    {"id", StatKind::kStockStepId},
    {"step_id", StatKind::kStockStepId},
    {"tf_op", StatKind::kStockOp},
    {"data_type", StatKind::kStockDtype},
    {"shape", StatKind::kShape},
    {"region_type", StatKind::kRegionType},
    {"requested_bytes", StatKind::kRequestedBytes},
    {"allocation_bytes", StatKind::kStockAllocatedBytes},
    {"bytes_allocated", StatKind::kStockBytesInUse},
    {"bytes_available", StatKind::kStockBytesAvailable},
    {"bytes_reserved", StatKind::kBytesReserved},
    {"peak_bytes_in_use", StatKind::kPeakBytesInUse},
    {"allocator_name", StatKind::kStockAllocatorName},
    {"memalloc_details", StatKind::kMemallocDetails},
    {"MemFree_details", StatKind::kMemFreeDetails},
    {"memfree_details", StatKind::kMemFreeDetails},
    {"MemoryResidency_details", StatKind::kMemoryResidencyDetails},
    {"memory_residency_details", StatKind::kMemoryResidencyDetails},
    {"device_id", StatKind::kDeviceId},
    {"step_num", StatKind::kStepNum},
    {"profile_start_time", StatKind::kProfileStartTime},
    {"profile_stop_time", StatKind::kProfileStopTime},
    {schema::kHloProto, StatKind::kHloProto},
    {schema::kCompileNs, StatKind::kCompileNs},
    {"name", StatKind::kStockName},
    {schema::kModulesLeftOut, StatKind::kModulesLeftOut},
};

template <size_t n>
StatKind Find(const NamedStat (&stats)[n], std::string_view name) {
  for (const NamedStat& stat : stats) {
    if (stat.name == name) return stat.kind;
  }
  return StatKind::kUnknown;
}

}  // namespace

StatKind StatKindOf(std::string_view name, StatVocabulary vocabulary) {
  return vocabulary == StatVocabulary::kCollector ? Find(kCollectorStats, name)
                                                  : Find(kStockStats, name);
}

}  // namespace oom_forensics
