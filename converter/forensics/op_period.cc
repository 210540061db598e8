#include "converter/forensics/op_period.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "converter/cancellation/cancellation.h"

namespace oom_forensics {
namespace {

// Fewer rounds may be chance.
constexpr size_t kMinRounds = 5;
// A period of fewer allocations is an op that runs again and again.
constexpr size_t kMinPeriod = 4;
// Distances within this part of the usual one are even.
constexpr double kEvenWithin = 0.2;
// Part of the distances that must be even.
constexpr double kMinEvenShare = 0.8;
// Part of the recorded allocations that the rounds must span.
constexpr double kMinSpan = 0.5;

// One allocation of an op and shape: which it was of all, and its row.
struct Occurrence {
  size_t index = 0;
  Row row = 0;
};

bool ComesBackEvenly(const std::vector<Occurrence>& seen, size_t all) {
  if (seen.size() < kMinRounds) return false;
  std::vector<size_t> distances;
  for (size_t i = 1; i < seen.size(); ++i) {
    distances.push_back(seen[i].index - seen[i - 1].index);
  }
  std::vector<size_t> sorted = distances;
  std::nth_element(
      sorted.begin(),
      sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
      sorted.end());
  const size_t usual = sorted[sorted.size() / 2];
  if (usual < kMinPeriod) return false;
  const double slack = std::max(1.0, kEvenWithin * static_cast<double>(usual));
  const auto even = std::count_if(
      distances.begin(), distances.end(), [usual, slack](size_t distance) {
        return static_cast<double>(distance) <=
                   static_cast<double>(usual) + slack &&
               static_cast<double>(distance) >=
                   static_cast<double>(usual) - slack;
      });
  // The loop must still be running: one that is over says nothing of what
  // failed.
  if (static_cast<double>(all - seen.back().index) >
      static_cast<double>(usual) + slack) {
    return false;
  }
  const size_t span = seen.back().index - seen.front().index + usual;
  return static_cast<double>(even) >=
             kMinEvenShare * static_cast<double>(distances.size()) &&
         static_cast<double>(span) >= kMinSpan * static_cast<double>(all);
}

}  // namespace

std::vector<Position> FindPeriods(const AllocatorReplay& replay,
                                  Position until) {
  const AllocatorTrace& trace = replay.trace();
  absl::flat_hash_map<std::pair<StringId, StringId>, std::vector<Occurrence>>
      by_op;
  size_t all = 0;
  for (Row row = trace.baseline_rows; row < until; ++row) {
    StopIfCancelled(row);
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    const AllocationSite& site = replay.SiteOf(row);
    by_op[{site.op, site.shape}].push_back({all++, row});
  }
  const std::vector<Occurrence>* rarest = nullptr;
  for (const auto& [op, seen] : by_op) {
    if (!ComesBackEvenly(seen, all)) continue;
    // Equally rare ones: the earliest, so that the answer is always the same.
    if (rarest == nullptr ||
        std::make_pair(seen.size(), seen.front().row) <
            std::make_pair(rarest->size(), rarest->front().row)) {
      rarest = &seen;
    }
  }
  std::vector<Position> begins;
  if (rarest == nullptr) return begins;
  for (const Occurrence& each : *rarest) begins.push_back(each.row);
  return begins;
}

}  // namespace oom_forensics
