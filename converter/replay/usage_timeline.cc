#include "converter/replay/usage_timeline.h"

#include <algorithm>
#include <utility>

#include "converter/cancellation/cancellation.h"
#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

void UsageExtremes::Include(const Usage& usage, Position position) {
  in_use_min_bytes = std::min(in_use_min_bytes, usage.in_use_bytes);
  if (usage.in_use_bytes > in_use_max_bytes) {
    in_use_max_bytes = usage.in_use_bytes;
    in_use_max_position = position;
  }
  requested_max_bytes = std::max(requested_max_bytes, usage.requested_bytes);
  reserved_max_bytes = std::max(reserved_max_bytes, usage.reserved_bytes);
  live_max_count = std::max(live_max_count, usage.live_count);
}

void UsageExtremes::Include(const UsageExtremes& later) {
  in_use_min_bytes = std::min(in_use_min_bytes, later.in_use_min_bytes);
  if (later.in_use_max_bytes > in_use_max_bytes) {
    in_use_max_bytes = later.in_use_max_bytes;
    in_use_max_position = later.in_use_max_position;
  }
  requested_max_bytes =
      std::max(requested_max_bytes, later.requested_max_bytes);
  reserved_max_bytes = std::max(reserved_max_bytes, later.reserved_max_bytes);
  live_max_count = std::max(live_max_count, later.live_max_count);
}

namespace {

UsageExtremes ExtremesOf(const Usage& usage, Position position) {
  return {usage.in_use_bytes,   usage.in_use_bytes, usage.requested_bytes,
          usage.reserved_bytes, usage.live_count,   position};
}

}  // namespace

UsageTimeline::UsageTimeline(const AllocatorReplay* replay,
                             const RowFilter& filter,
                             absl::flat_hash_map<SiteId, Usage> partly)
    : replay_(replay), partly_(std::move(partly)) {
  const AllocatorTrace& trace = replay->trace();
  const Position end = trace.row_count();
  if (filter) {
    counted_.resize(end);
    for (Row row = 0; row < end; ++row) {
      StopIfCancelled(row);
      counted_[row] = trace.kind_of[row] == RowKind::kAlloc && filter(row);
    }
  }
  Usage usage;
  if (!filter) {
    usage.in_use_bytes = trace.unnamed_in_use_bytes;
    usage.requested_bytes = trace.unnamed_in_use_bytes;
  }
  if (replay->regions_derived()) {
    for (const RegionChange& region : replay->region_changes()) {
      usage.reserved_bytes += region.size_bytes;
    }
  }
  blocks_.reserve(end / kBlockRows + 1);
  levels_.emplace_back().reserve(end / kBlockRows + 1);
  UsageExtremes extremes = ExtremesOf(usage, 0);
  for (Row row = 0; row < end; ++row) {
    StopIfCancelled(row);
    if (row % kBlockRows == 0) {
      if (row != 0) levels_[0].push_back(extremes);
      blocks_.push_back(usage);
      extremes = ExtremesOf(usage, row);
    }
    Apply(row, &usage);
    extremes.Include(usage, row + 1);
  }
  levels_[0].push_back(extremes);
  if (end % kBlockRows == 0) blocks_.push_back(usage);
  BuildPyramid();
}

Usage UsageTimeline::CountedOf(Row alloc) const {
  if (!partly_.empty()) {
    const auto found = partly_.find(replay_->trace().site[alloc]);
    if (found != partly_.end()) return found->second;
  }
  const AllocationSite& site = replay_->SiteOf(alloc);
  Usage usage;
  usage.in_use_bytes = site.allocated_bytes;
  usage.requested_bytes = site.requested_bytes;
  usage.live_count = 1;
  return usage;
}

void UsageTimeline::Apply(Row row, Usage* usage) const {
  const AllocatorTrace& trace = replay_->trace();
  const bool holds_blocks = !trace.has_layout;
  const auto release = [&](Row alloc) {
    if (holds_blocks) usage->reserved_bytes -= replay_->BytesOf(alloc);
    if (!counted_.empty() && !counted_[alloc]) return;
    const Usage counted = CountedOf(alloc);
    usage->in_use_bytes -= counted.in_use_bytes;
    usage->requested_bytes -= counted.requested_bytes;
    usage->live_count -= counted.live_count;
  };
  switch (trace.kind_of[row]) {
    case RowKind::kAlloc: {
      const auto& replacements = replay_->replacements();
      if (!replacements.empty()) {
        auto found = std::lower_bound(replacements.begin(), replacements.end(),
                                      std::pair<Row, Row>(row, 0));
        for (; found != replacements.end() && found->first == row; ++found) {
          release(found->second);
        }
      }
      if (holds_blocks) usage->reserved_bytes += replay_->BytesOf(row);
      if (!counted_.empty() && !counted_[row]) break;
      const Usage counted = CountedOf(row);
      usage->in_use_bytes += counted.in_use_bytes;
      usage->requested_bytes += counted.requested_bytes;
      usage->live_count += counted.live_count;
      break;
    }
    case RowKind::kFree:
      if (replay_->PartnerOf(row) != kNoRow) release(replay_->PartnerOf(row));
      break;
    case RowKind::kFailed:
      break;
    case RowKind::kRegionAdd:
      usage->reserved_bytes += trace.regions[trace.site[row]].size_bytes;
      break;
    case RowKind::kRegionRemove:
      usage->reserved_bytes -= std::min(
          usage->reserved_bytes, trace.regions[trace.site[row]].size_bytes);
      break;
  }
}

void UsageTimeline::BuildPyramid() {
  while (levels_.back().size() > kFanOut) {
    const std::vector<UsageExtremes>& below = levels_.back();
    std::vector<UsageExtremes> level;
    level.reserve((below.size() + kFanOut - 1) / kFanOut);
    for (size_t i = 0; i < below.size(); i += kFanOut) {
      UsageExtremes extremes = below[i];
      const size_t end = std::min(below.size(), i + kFanOut);
      for (size_t j = i + 1; j < end; ++j) extremes.Include(below[j]);
      level.push_back(extremes);
    }
    levels_.push_back(std::move(level));
  }
}

Usage UsageTimeline::At(Position position) const {
  Usage usage = blocks_[position / kBlockRows];
  for (Row row = position - position % kBlockRows; row < position; ++row) {
    Apply(row, &usage);
  }
  return usage;
}

UsageExtremes UsageTimeline::WithinBlock(Position begin, Position end) const {
  Usage usage = At(begin);
  UsageExtremes extremes = ExtremesOf(usage, begin);
  for (Row row = begin; row < end; ++row) {
    Apply(row, &usage);
    extremes.Include(usage, row + 1);
  }
  return extremes;
}

UsageExtremes UsageTimeline::Over(Position begin, Position end) const {
  if (begin / kBlockRows == end / kBlockRows) return WithinBlock(begin, end);
  UsageExtremes extremes = ExtremesOf(At(begin), begin);
  size_t first = begin / kBlockRows;
  if (begin % kBlockRows != 0) {
    ++first;
    extremes = WithinBlock(begin, static_cast<Position>(first * kBlockRows));
  }
  // Climb while a whole group of the level above fits.
  const size_t last = end / kBlockRows;  // Exclusive.
  size_t i = first;
  while (i < last) {
    size_t level = 0;
    size_t width = 1;
    while (level + 1 < levels_.size() && i % (width * kFanOut) == 0 &&
           i + width * kFanOut <= last) {
      width *= kFanOut;
      ++level;
    }
    extremes.Include(levels_[level][i / width]);
    i += width;
  }
  if (end % kBlockRows != 0) {
    extremes.Include(
        WithinBlock(static_cast<Position>(last * kBlockRows), end));
  }
  return extremes;
}

uint64_t UsageTimeline::ResidentBytes() const {
  uint64_t bytes = counted_.capacity() / 8 + blocks_.capacity() * sizeof(Usage);
  for (const auto& level : levels_) {
    bytes += level.capacity() * sizeof(UsageExtremes);
  }
  return bytes;
}

}  // namespace oom_forensics
