// What the collector keeps of each thread. Plain data without a destructor, so
// that hooks may run while a thread is being torn down.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_THREAD_STATE_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_THREAD_STATE_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "collector/recording/allocator_table.h"
#include "collector/recording/site_cache.h"

namespace oom_forensics::collector {

struct CompiledRun;

struct ThreadState {
  // The thread's id in the operating system; 0: not asked yet.
  uint32_t os_id = 0;
  // The allocator that the thread is inside of. TensorFlow reports new memory
  // regions from there without saying whose they are.
  const AllocatorInfo* inside = nullptr;
  // What it asks of a pool (tensorflow/serving_hooks.h).
  struct Request {
    // It is to get a place in the order of events when it is served.
    bool wants_place = false;
    // That place; 0: none.
    uint64_t sequence = 0;
    // The chunk that it was given, and how many bytes that has; 0: not told.
    const void* address = nullptr;
    uint64_t requested_bytes = 0;
    uint64_t allocated_bytes = 0;
  };
  Request request;
  // What it is giving back to a pool.
  struct Release {
    // The moment at which the chunk is free is still to come.
    bool pending = false;
    AllocatorId allocator = 0;
    // To be recorded at that moment; null: it was already.
    const void* address = nullptr;
    int64_t start_ns = 0;
    // Its place, where it could not be recorded then; 0: none.
    uint64_t sequence = 0;
  };
  Release release;
  // The compiled function that the thread runs (tensorflow/xla_runs.h); null:
  // none.
  CompiledRun* compiled_run = nullptr;
  // It looks for evidence of its own. What it is refused is no story of the
  // job's.
  bool is_looking = false;
  // For sampling; see Recorder::Keeps().
  uint64_t random = 0;
  // The thread's cache of the process's one SiteInterner.
  SiteCache sites;
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
