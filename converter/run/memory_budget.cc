#include "converter/run/memory_budget.h"

#include <algorithm>

namespace oom_forensics {

absl::Status NoMemoryLeft() {
#ifdef __wasm__
  return absl::ResourceExhaustedError(
      "This needs more memory than the WebAssembly converter can have (4 GiB); "
      "on Linux x86-64 the package oom-forensics-collector brings one without "
      "that limit.");
#else
  return absl::ResourceExhaustedError(
      "This needs more memory than the system gives the converter; ask for a "
      "shorter time range, or give it more memory.");
#endif
}

uint64_t MemoryBudget::RoomBytes() const {
  const uint64_t taken_bytes = held_bytes_ + reserved_bytes_;
  return taken_bytes < limit_bytes_ ? limit_bytes_ - taken_bytes : 0;
}

void MemoryBudget::MakeRoom(uint64_t bytes) {
  const uint64_t needed_bytes = held_bytes_ + reserved_bytes_ + bytes;
  if (needed_bytes <= limit_bytes_) return;
  held_bytes_ -= std::min(held_bytes_, let_go_(needed_bytes - limit_bytes_));
}

uint64_t MemoryBudget::Reserve(uint64_t estimate_bytes) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (limit_bytes_ == 0) return 0;
  settled_.wait(lock, [this, estimate_bytes] {
    MakeRoom(estimate_bytes);
    return in_flight_ == 0 || RoomBytes() >= estimate_bytes;
  });
  ++in_flight_;
  // Without what the others in flight have reserved. 1, as 0 means no limit.
  const uint64_t room_bytes = std::max<uint64_t>(1, RoomBytes());
  reserved_bytes_ += estimate_bytes;
  return room_bytes;
}

bool MemoryBudget::Adjust(uint64_t before_bytes, uint64_t now_bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (limit_bytes_ == 0) return true;
  held_bytes_ += now_bytes;
  held_bytes_ -= std::min(held_bytes_, before_bytes);
  MakeRoom(0);
  return held_bytes_ + reserved_bytes_ <= limit_bytes_;
}

void MemoryBudget::Settle(uint64_t estimate_bytes, uint64_t held_bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (limit_bytes_ == 0) return;
  held_bytes_ += held_bytes;
  reserved_bytes_ -= estimate_bytes;
  --in_flight_;
  MakeRoom(0);
  settled_.notify_all();
}

}  // namespace oom_forensics
