#include "converter/forensics/oom_case/completed_step.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace oom_forensics {
namespace {

// Part of the failed step's bytes that the completed one must have asked for,
// too, by the same ops in the same sizes.
constexpr double kMinAlike = 0.95;
// Among so many steps before the failure one is looked for.
constexpr size_t kStepsLookedAt = 16;

// Bytes that a range of rows asked for, by site.
absl::flat_hash_map<SiteId, uint64_t> BytesBySite(const AllocatorReplay& replay,
                                                  Row begin, Row end) {
  absl::flat_hash_map<SiteId, uint64_t> bytes;
  for (Row row = begin; row < end; ++row) {
    if (replay.trace().kind_of[row] != RowKind::kAlloc) continue;
    bytes[replay.trace().site[row]] += replay.SiteOf(row).requested_bytes;
  }
  return bytes;
}

}  // namespace

std::optional<CompletedStep> FindCompletedStep(const AllocatorReplay& replay,
                                               const StepIndex& steps,
                                               Row failure) {
  const std::vector<StepSpan>& spans = steps.spans();
  if (spans.empty()) return std::nullopt;
  CompletedStep found;
  found.failed_begin = static_cast<Row>(spans.back().end);
  const absl::flat_hash_map<SiteId, uint64_t> failed =
      BytesBySite(replay, found.failed_begin, failure);
  const SiteId refused = replay.trace().site[failure];
  for (size_t i = 0; i < spans.size() && i < kStepsLookedAt; ++i) {
    const StepSpan& span = spans[spans.size() - 1 - i];
    // Up to the next step: what lies between two belongs to the first.
    found.begin = static_cast<Row>(span.begin);
    found.end = i == 0 ? found.failed_begin
                       : static_cast<Row>(spans[spans.size() - i].begin);
    const absl::flat_hash_map<SiteId, uint64_t> done =
        BytesBySite(replay, found.begin, found.end);
    if (!done.contains(refused)) continue;
    uint64_t asked = 0;
    uint64_t alike = 0;
    for (const auto& [site, bytes] : failed) {
      asked += bytes;
      const auto same = done.find(site);
      if (same != done.end()) alike += std::min(bytes, same->second);
    }
    if (static_cast<double>(alike) >= kMinAlike * static_cast<double>(asked)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace oom_forensics
