#include "converter/trace/allocator_trace.h"

#include <algorithm>

namespace oom_forensics {

Row AllocatorTrace::RowOf(int64_t event) const {
  const int64_t baseline = static_cast<int64_t>(baseline_rows);
  if (event < -baseline ||
      event >= static_cast<int64_t>(row_count()) - baseline) {
    return kNoRow;
  }
  return static_cast<Row>(event + baseline);
}

const FailedRequest* AllocatorTrace::FailureOf(Row row) const {
  const auto found = std::lower_bound(
      failures.begin(), failures.end(), row,
      [](const FailedRequest& failure, Row r) { return failure.row < r; });
  return found != failures.end() && found->row == row ? &*found : nullptr;
}

uint64_t AllocatorTrace::LimitAt(Row failure) const {
  const FailedRequest* failed = FailureOf(failure);
  return failed != nullptr && failed->limit_bytes > 0 ? failed->limit_bytes
                                                      : limit_bytes;
}

Position AllocatorTrace::PositionAt(int64_t time_ps_bound) const {
  return static_cast<Position>(std::lower_bound(time_ps.begin() + baseline_rows,
                                                time_ps.end(), time_ps_bound) -
                               time_ps.begin());
}

uint64_t AllocatorTrace::ResidentBytes() const {
  uint64_t bytes =
      time_ps.ResidentBytes() + address.ResidentBytes() + site.ResidentBytes() +
      context.ResidentBytes() + kind_of.ResidentBytes() +
      baseline_age_ns.ResidentBytes() + contexts.ResidentBytes() +
      failures.capacity() * sizeof(FailedRequest) +
      regions.capacity() * sizeof(RegionChange) + weights.ResidentBytes();
  for (const FailedRequest& failure : failures) {
    if (failure.memory_dump == nullptr) continue;
    bytes += failure.memory_dump->capacity() /
             static_cast<uint64_t>(failure.memory_dump.use_count());
  }
  return bytes;
}

}  // namespace oom_forensics
