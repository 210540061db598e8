#include "converter/datasets/contributors.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "converter/datasets/cached_timelines.h"

namespace oom_forensics {
namespace {

constexpr uint32_t kMaxContributors = 20;
constexpr char kOthers[] = "(others)";

// The index of the series' highest column.
int HighestColumn(const TimelineSeries& series) {
  int highest = 0;
  for (int i = 1; i < series.columns_size(); ++i) {
    if (series.columns(i).in_use_max_bytes() >
        series.columns(highest).in_use_max_bytes()) {
      highest = i;
    }
  }
  return highest;
}

// The groups by their bytes, the largest first.
std::vector<uint32_t> OrderOf(const std::vector<int64_t>& bytes) {
  std::vector<uint32_t> order(bytes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return bytes[a] > bytes[b]; });
  return order;
}

}  // namespace

void AddContributors(const SelectedAllocator& allocator, const Query& query,
                     const std::vector<Position>& positions,
                     TimelineSeries* series) {
  const uint32_t top = std::min(query.top(), kMaxContributors);
  if (top == 0 || positions.empty()) return;
  const GroupBy group_by = GroupTimeline::CanGroupBy(query.group_by())
                               ? query.group_by()
                               : GROUP_SCOPE;
  const auto groups = GroupsOverTime(allocator, query.filter(), group_by);
  const auto highest = static_cast<size_t>(HighestColumn(*series));
  const std::vector<uint32_t> order =
      OrderOf(groups->BytesAt(positions[highest]));
  const size_t chosen = std::min<size_t>(top, order.size());
  for (size_t i = 0; i < chosen; ++i) {
    series->add_contributors()->set_key(groups->keys()[order[i]]);
  }
  const bool has_others = chosen < order.size();
  if (has_others) series->add_contributors()->set_key(kOthers);

  for (size_t i = 0; i < positions.size(); ++i) {
    const std::vector<int64_t> bytes = groups->BytesAt(positions[i]);
    TimelineColumn* column = series->mutable_columns(static_cast<int>(i));
    const auto add = [&](size_t slot, int64_t sum) {
      const auto held = static_cast<uint64_t>(std::max<int64_t>(0, sum));
      column->add_contributor_bytes(held);
      Contributor* contributor =
          series->mutable_contributors(static_cast<int>(slot));
      contributor->set_max_bytes(std::max(contributor->max_bytes(), held));
    };
    for (size_t slot = 0; slot < chosen; ++slot) add(slot, bytes[order[slot]]);
    if (!has_others) continue;
    int64_t others = 0;
    for (size_t j = chosen; j < order.size(); ++j) others += bytes[order[j]];
    add(chosen, others);
  }
}

}  // namespace oom_forensics
