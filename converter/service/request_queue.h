// Requests between the thread that reads them and the one that answers: in the
// order in which they came, less those that nobody waits for any more.
#ifndef OOM_FORENSICS_CONVERTER_SERVICE_REQUEST_QUEUE_H_
#define OOM_FORENSICS_CONVERTER_SERVICE_REQUEST_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "proto/service.pb.h"

namespace oom_forensics {

// All methods may be called by any thread; Take() by one thread only, which is
// done with a request when it takes the next.
class RequestQueue {
 public:
  // A request that is to be answered.
  struct Work {
    ServiceRequest request;
    // It was cancelled before it was begun: it is answered with that.
    bool cancelled = false;
  };

  void Push(ServiceRequest request);
  // Nobody waits for the request of that id: it is not begun. Of one that is in
  // hand IsCancelled() tells.
  void Cancel(uint64_t id);
  // Whether nobody waits any more for the request that was taken last.
  bool IsCancelled() const { return in_hand_cancelled_; }
  // No more requests come.
  void Close();

  // Whether Take() would wait.
  bool IsWaiting();
  // Waits for the next request. Nothing: the queue is closed, and empty.
  std::optional<Work> Take();

 private:
  // From the standard library: the thread sanitizer understands it, but not the
  // system's Abseil, which is built without it.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  bool closed_ = false;
  uint64_t in_hand_ = 0;
  std::atomic<bool> in_hand_cancelled_ = false;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SERVICE_REQUEST_QUEUE_H_
