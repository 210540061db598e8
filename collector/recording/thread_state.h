// What the collector keeps of each thread. Plain data without a destructor, so
// that hooks may run while a thread is being torn down.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_THREAD_STATE_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_THREAD_STATE_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "collector/recording/allocator_table.h"

namespace oom_forensics::collector {

struct CompiledRun;

struct ThreadState {
  // The thread's id in the operating system; 0: not asked yet.
  uint32_t os_id = 0;
  // The allocator that the thread is inside of. TensorFlow reports new memory
  // regions from there without saying whose they are.
  const AllocatorInfo* inside = nullptr;
  // The compiled function that the thread runs (tensorflow/xla_runs.h); null:
  // none.
  CompiledRun* compiled_run = nullptr;
  // For sampling; see Recorder::Keeps().
  uint64_t random = 0;
};

inline ThreadState& CurrentThread() noexcept {
  static thread_local ThreadState state;
  if (state.os_id == 0) {
    state.os_id = static_cast<uint32_t>(syscall(SYS_gettid));
    state.random = 0x9e3779b97f4a7c15u * (state.os_id + uint64_t{1});
  }
  return state;
}

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_THREAD_STATE_H_
