// Requests between the thread that reads them and the one that answers: in the
// order in which they came, less those that nobody waits for any more.
#ifndef OOM_FORENSICS_CONVERTER_SERVICE_REQUEST_QUEUE_H_
#define OOM_FORENSICS_CONVERTER_SERVICE_REQUEST_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "proto/service.pb.h"

namespace oom_forensics {

// All methods may be called by any thread; Take() by one thread only.
class RequestQueue {
 public:
  // A request that is to be answered.
  struct Work {
    ServiceRequest request;
    // It was cancelled before it was begun: it is answered with that.
    bool cancelled = false;
  };

  void Push(ServiceRequest request);
  // Nobody waits for the request of that id: it is not begun. One that is in
  // hand is finished.
  void Cancel(uint64_t id);
  // No more requests come.
  void Close();

  // Waits for the next request. Nothing: the queue is closed, and empty.
  std::optional<Work> Take();

 private:
  // Of the standard library: the thread sanitizer understands it, but not the
  // system's Abseil, which is built without it.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  bool closed_ = false;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SERVICE_REQUEST_QUEUE_H_
