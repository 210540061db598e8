// Ends work that nobody waits for any more.
//
// Who asked is known where a question comes in; what takes long lies far below,
// in replays, timelines and simulations that know of no question. So whoever
// answers says for its thread whether the answer is still wanted, and what
// takes long looks now and then:
//
//   const CancellableWork work([&] { return queue.IsCancelled(); });
//   try { ... } catch (const WorkCancelled&) { ... }
//
//   for (Row row = 0; row < end; ++row) {
//     StopIfCancelled(row);
//
// The way out is an exception: so nothing that is half made is ever kept or
// read.
#ifndef OOM_FORENSICS_CONVERTER_CANCELLATION_CANCELLATION_H_
#define OOM_FORENSICS_CONVERTER_CANCELLATION_CANCELLATION_H_

#include <cstdint>
#include <exception>
#include <functional>

namespace oom_forensics {

// True once nobody waits any more. Asked by the threads that work; may be null:
// the work goes to its end.
using IsCancelled = std::function<bool()>;

// Thrown by StopIfCancelled().
class WorkCancelled : public std::exception {
 public:
  const char* what() const noexcept override {
    return "The work was cancelled.";
  }
};

// As long as it lives, the work of its thread can be cancelled.
class CancellableWork {
 public:
  explicit CancellableWork(IsCancelled is_cancelled);
  ~CancellableWork();
  CancellableWork(const CancellableWork&) = delete;
  CancellableWork& operator=(const CancellableWork&) = delete;

  // For other threads that do part of this one's work.
  static IsCancelled OfThisThread();

 private:
  const IsCancelled is_cancelled_;
  const CancellableWork* const outer_;
};

// Throws WorkCancelled where the work of this thread is wanted no more.
void StopIfCancelled();

// The same for a loop: looks once in a few thousand rounds.
inline void StopIfCancelled(uint64_t round) {
  constexpr uint64_t kRoundsPerLook = 4096;
  if (round % kRoundsPerLook == 0) StopIfCancelled();
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_CANCELLATION_CANCELLATION_H_
