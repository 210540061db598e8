#include "converter/cancellation/cancellation.h"

#include <utility>

namespace oom_forensics {
namespace {

// The innermost of this thread; null: its work goes to its end.
thread_local const CancellableWork* work_in_hand = nullptr;

}  // namespace

CancellableWork::CancellableWork(IsCancelled is_cancelled)
    : is_cancelled_(std::move(is_cancelled)), outer_(work_in_hand) {
  work_in_hand = this;
}

CancellableWork::~CancellableWork() { work_in_hand = outer_; }

IsCancelled CancellableWork::OfThisThread() {
  return work_in_hand == nullptr ? nullptr : work_in_hand->is_cancelled_;
}

void StopIfCancelled() {
  if (work_in_hand == nullptr) return;
  const IsCancelled is_cancelled = CancellableWork::OfThisThread();
  if (is_cancelled && is_cancelled()) throw WorkCancelled();
}

}  // namespace oom_forensics
