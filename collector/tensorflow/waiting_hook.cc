#include "collector/tensorflow/waiting_hook.h"

#include "collector/recording/thread_state.h"

namespace oom_forensics::collector {
namespace {

constexpr char kRetry[] =
    "_ZN3tsl14AllocatorRetry11AllocateRawESt8functionIFPvmmbEEimm";

// The second argument, a std::function, comes by reference, as the C++ ABI has
// it of what is not trivial to copy.
using Retry = void* (*)(void* self, void* allocate, int max_milliseconds,
                        size_t alignment, size_t num_bytes);

// Set once, before the hook is in place.
const RequestRecorder* g_requests = nullptr;
Retry g_retry = nullptr;

void* HookedRetry(void* self, void* allocate, int max_milliseconds,
                  size_t alignment, size_t num_bytes) {
  const ThreadState& thread = CurrentThread();
  // What looks at an out-of-memory must not wait for memory itself.
  if (thread.is_looking) return nullptr;
  // Null: some other allocator's.
  const AllocatorInfo* const allocator = thread.inside;
  const uint64_t wait =
      allocator == nullptr ? 0 : g_requests->BeginWait(*allocator, num_bytes);
  void* const address =
      g_retry(self, allocate, max_milliseconds, alignment, num_bytes);
  if (wait != 0 && address != nullptr) g_requests->EndWait(wait);
  return address;
}

}  // namespace

std::string AddWaitingHook(const TensorFlowLibrary& library,
                           const RequestRecorder* requests, HookSet* hooks) {
  g_requests = requests;
  g_retry = library.FunctionOf<Retry>(kRetry);
  const VTable slot = library.FindCallSlot(reinterpret_cast<void*>(g_retry));
  if (slot.slots == nullptr) {
    return "waiting for memory: not seen; this TensorFlow's AllocatorRetry is "
           "not as expected";
  }
  hooks->Add(slot, 0, reinterpret_cast<void*>(&HookedRetry));
  return "waiting for memory: seen";
}

}  // namespace oom_forensics::collector
