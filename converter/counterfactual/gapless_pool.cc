#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "converter/cancellation/cancellation.h"
#include "converter/counterfactual/pool_simulation.h"

namespace oom_forensics {
namespace {

// cudaMallocAsync's blocks are multiples of it.
constexpr uint64_t kUnitBytes = 512;

class Sum {
 public:
  Sum(const AllocatorReplay& replay, const Scenario& scenario,
      uint64_t limit_bytes)
      : replay_(replay), scenario_(scenario), limit_bytes_(limit_bytes) {}

  Simulation Run(const PoolSimulator::Range& range) {
    const AllocatorTrace& trace = replay_.trace();
    std::optional<uint64_t> map_in_use_bytes;
    for (const Row row : replay_.LiveAt(range.from)) {
      if (!Allocate(row)) result_.refused = row;
    }
    for (Row row = range.from; row < range.to; ++row) {
      if (result_.refused != kNoRow) break;
      StopIfCancelled(row);
      if (row == range.map_at) map_in_use_bytes = result_.in_use_bytes;
      switch (trace.kind_of[row]) {
        case RowKind::kAlloc:
          ++result_.requests;
          if (!Allocate(row)) result_.refused = row;
          break;
        case RowKind::kFree:
          Free(replay_.PartnerOf(row));
          break;
        case RowKind::kFailed:
          if (Allocate(row)) {
            Free(row);
          } else if (result_.refused_again == kNoRow) {
            result_.refused_again = row;
          }
          break;
        case RowKind::kRegionAdd:
        case RowKind::kRegionRemove:
          break;
      }
    }
    if (result_.refused == kNoRow && range.to < trace.row_count() &&
        trace.kind_of[range.to] == RowKind::kFailed) {
      result_.reached_end = true;
      if (!Allocate(range.to)) result_.refused = range.to;
    }
    result_.in_use_bytes = map_in_use_bytes.value_or(result_.in_use_bytes);
    result_.free_bytes = result_.peak_reserved_bytes - result_.in_use_bytes;
    result_.largest_free_bytes = result_.free_bytes;
    return result_;
  }

 private:
  bool Allocate(Row row) {
    if (scenario_.is_left_out && scenario_.is_left_out(row)) return true;
    uint64_t bytes = replay_.SiteOf(row).requested_bytes;
    if (scenario_.resized) bytes = scenario_.resized(row, bytes);
    bytes = std::min(bytes, UINT64_MAX - kUnitBytes);
    bytes = (bytes + kUnitBytes - 1) / kUnitBytes * kUnitBytes;
    if (result_.in_use_bytes > limit_bytes_ ||
        bytes > limit_bytes_ - result_.in_use_bytes) {
      result_.refused_bytes = bytes;
      return false;
    }
    bytes_of_[row] = bytes;
    result_.in_use_bytes += bytes;
    result_.peak_in_use_bytes =
        std::max(result_.peak_in_use_bytes, result_.in_use_bytes);
    result_.peak_reserved_bytes = result_.peak_in_use_bytes;
    return true;
  }

  void Free(Row alloc) {
    const auto live = bytes_of_.find(alloc);
    if (live == bytes_of_.end()) return;
    result_.in_use_bytes -= live->second;
    bytes_of_.erase(live);
  }

  const AllocatorReplay& replay_;
  const Scenario& scenario_;
  const uint64_t limit_bytes_;
  absl::flat_hash_map<Row, uint64_t> bytes_of_;
  Simulation result_;
};

}  // namespace

Simulation RunGapless(const AllocatorReplay& replay, const Scenario& scenario,
                      const PoolSimulator::Range& range, uint64_t limit_bytes) {
  return Sum(replay, scenario, limit_bytes).Run(range);
}

}  // namespace oom_forensics
