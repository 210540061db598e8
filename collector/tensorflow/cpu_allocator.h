// The sizes of TensorFlow's default CPU allocator: every tensor of the CPU that
// comes from malloc and not from a pool. Which class allocates, TensorFlow
// decides late, so both are prepared:
//
//   tsl's CPUAllocator exports nothing: its class is found by its type
//     information.
//   tensorflow::MklCPUAllocator (oneDNN) takes large blocks from a BFC
//     allocator of its own, "mklcpu", which is recorded like any other, and
//     small ones from its MklSmallSizeAllocator.
//
// Their AllocateRaw and DeallocateRaw are redirected, and what malloc says of
// the blocks is summed up.
//
// No event is recorded of these blocks: they would push those of the pools,
// which run out of memory, from the ring. Those that are live are kept with who
// asked for them (black_box/host_blocks.h). As everywhere: not sure, not
// touched.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_CPU_ALLOCATOR_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_CPU_ALLOCATOR_H_

#include <optional>
#include <string>

#include "collector/black_box/host_blocks.h"
#include "collector/library/tensorflow_library.h"
#include "collector/recording/allocator_statistics.h"
#include "collector/tensorflow/allocator_slots.h"
#include "collector/tensorflow/request_recorder.h"

namespace oom_forensics::collector {

// Redirects what is recognized and says what, one sentence per line. To be
// called once, before the first allocation. `requests` and `blocks` must live
// as long as the process.
std::string InstallCpuAllocatorHooks(const TensorFlowLibrary& library,
                                     const AllocatorSlots& slots,
                                     const RequestRecorder* requests,
                                     HostBlocks* blocks);

// Takes the hooks out of the virtual tables, or puts them back. What happens in
// between is not counted, so that from then on what is in use is an estimate.
void SetCpuAllocatorHooksActive(bool active);

// Statistics of all such blocks; none before the first one.
std::optional<AllocatorStatistics> StatisticsOfCpuAllocator();

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_CPU_ALLOCATOR_H_
