#include "converter/service/request_queue.h"

#include <utility>

namespace oom_forensics {

void RequestQueue::Push(ServiceRequest request) {
  const std::lock_guard<std::mutex> lock(mutex_);
  waiting_.push_back({std::move(request), false});
  changed_.notify_one();
}

void RequestQueue::Cancel(uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Work& work : waiting_) {
    if (work.request.id() == id) work.cancelled = true;
  }
  if (in_hand_ == id) in_hand_cancelled_ = true;
}

void RequestQueue::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

bool RequestQueue::IsWaiting() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !closed_ && waiting_.empty();
}

std::optional<RequestQueue::Work> RequestQueue::Take() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return std::nullopt;
  Work work = std::move(waiting_.front());
  waiting_.pop_front();
  in_hand_ = work.request.id();
  in_hand_cancelled_ = work.cancelled;
  return work;
}

}  // namespace oom_forensics
