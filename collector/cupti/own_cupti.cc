#include "collector/cupti/own_cupti.h"

#include "collector/cupti/buffer_router.h"

namespace oom_forensics::cupti {

std::string OwnCupti::Start(const CuptiLibrary& library,
                            bool allocation_source) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (library_.has_value()) return "";
  BufferRouter& router = BufferRouter::Get();
  router.SetLog(log_);
  router.SetNextRecord(library.next_record());
  CUptiResult result = library.RegisterCallbacks(
      &BufferRouter::RequestOwnBuffer, &BufferRouter::CompleteBuffer);
  if (result != CUPTI_SUCCESS) {
    return "cuptiActivityRegisterCallbacks answers " + library.NameOf(result);
  }
  result = library.Enable(CUPTI_ACTIVITY_KIND_MEMORY2);
  if (result != CUPTI_SUCCESS) {
    return "cuptiActivityEnable(MEMORY2) answers " + library.NameOf(result);
  }
  // Pools are an addition: without them the blocks are still known.
  library.Enable(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  router.SetReadSource(allocation_source &&
                       library.EnableAllocationSource(true));
  library_ = library;
  ReadClocks();
  return "";
}

void OwnCupti::Yield() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!library_.has_value()) return;
  ReadClocks();
  library_->Disable(CUPTI_ACTIVITY_KIND_MEMORY2);
  library_->Disable(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  library_->Flush();
  library_.reset();
}

void OwnCupti::Forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  library_.reset();
}

void OwnCupti::Flush() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!library_.has_value()) return;
  ReadClocks();
  library_->Flush();
}

bool OwnCupti::running() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return library_.has_value();
}

ClockConverter OwnCupti::clock() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return clock_;
}

void OwnCupti::ReadClocks() {
  clock_.AddPair(ReadCollectorClock, [this](int64_t* now_ns) {
    return library_->ReadClock(now_ns);
  });
}

}  // namespace oom_forensics::cupti
