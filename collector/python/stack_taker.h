// StackTaker: which line of the user's program the calling thread is at.
//
//   hook ─▶ Take() ─▶ walk the frames ─▶ StackCache ── hit ──▶ stack id
//                                           └─ miss ─▶ names, lines ─▶
//                                           StackTable
//
// It is off until Start() has proved, with frames that Python describes, that
// Python's memory is laid out as expected, and off again after Stop(), which
// Python calls before it takes its threads apart. It takes no lock of Python's:
// with one busy Python thread that would cost milliseconds, and could hang.
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_STACK_TAKER_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_STACK_TAKER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>
#include <string>

#include "collector/python/frame_origin.h"
#include "collector/python/frame_reader.h"
#include "collector/python/memory_access.h"
#include "collector/python/stack_cache.h"
#include "collector/recording/stack_table.h"

namespace oom_forensics::collector::python {

// A frame of the calling thread as Python itself describes it.
struct KnownFrame {
  uint64_t code = 0;
  // f_lasti. Negative: the frame goes on while it is described, so that its
  // instruction and line are not compared.
  int32_t instruction = 0;
  // 0: none.
  int32_t line = 0;
  const char* file = nullptr;
  const char* function = nullptr;
};

class StackTaker {
 public:
  // The most frames of the user's, and of libraries, that a stack keeps.
  static constexpr size_t kMaxUserFrames = 16;
  static constexpr size_t kMaxLibraryFrames = 16;

  // `table` must live as long as the process.
  explicit StackTaker(StackTable* table);

  // The stack of the calling thread; 0: there is none, it could not be kept, or
  // stacks are not taken. `thread_state` is the thread's own, not null.
  StackId Take(const void* thread_state) noexcept;

  // Begins to take stacks if the calling thread's frames, read out of memory,
  // are `frames`, innermost first, after those of who calls this for the one
  // that describes them. `hexversion` is sys.hexversion. Returns
  // nothing, or why stacks are not taken.
  std::string Start(uint32_t hexversion, const void* runtime,
                    const void* thread_state, const KnownFrame* frames,
                    size_t count);
  // For good.
  void Stop(const std::string& why);
  // Whether stacks are wanted; they are unless this says otherwise.
  void SetEnabled(bool enabled);

  // Which files are libraries'; for stacks that are met from now on.
  void SetOrigin(FrameOrigin origin);

  // "on", or "off: " and why.
  std::string State() const;

  // fork(): who held the lock, if anyone, is in the parent.
  void AfterForkInChild() { new (&mutex_) std::mutex; }

 private:
  using Reader = FrameReader<DirectMemory>;

  uint32_t ChecksumOf(const Reader& reader, const RawStack& stack,
                      uint64_t frames) const;
  CachedStack Resolve(const Reader& reader, const RawStack& stack);
  // With mutex_ held.
  void SayWhyOff(const std::string& why);

  StackTable* const table_;
  StackCache cache_;
  // What is replaced is kept: a thread may be using it. Guarded by the mutex.
  std::mutex mutex_;
  std::deque<Reader> readers_;
  std::deque<FrameOrigin> origins_;
  std::deque<std::string> reasons_;

  // `reader_` is
  // null while no stacks are taken, `proved_` while none can be.
  std::atomic<const Reader*> reader_{nullptr};
  std::atomic<const Reader*> proved_{nullptr};
  std::atomic<bool> enabled_{true};
  std::atomic<const FrameOrigin*> origin_;
  // Why `proved_` is null.
  std::atomic<const std::string*> why_off_;
  // Whether a code object's version is part of the cache's key.
  std::atomic<bool> keys_have_version_{false};
};

}  // namespace oom_forensics::collector::python

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_STACK_TAKER_H_
