#include "converter/replay/hole_timeline.h"

#include <algorithm>
#include <limits>

#include "absl/container/flat_hash_set.h"
#include "converter/cancellation/cancellation.h"
#include "converter/replay/hole_set.h"

namespace oom_forensics {
namespace {

class HoleReplay {
 public:
  HoleReplay(const AllocatorReplay& replay, uint64_t request_bytes)
      : replay_(replay), holes_(request_bytes) {
    if (!replay.regions_derived()) return;
    for (const RegionChange& region : replay.region_changes()) {
      holes_.AddRegion(region.address,
                       region.address + (region.size_bytes - 1));
    }
  }

  void Apply(Row row) {
    const AllocatorTrace& trace = replay_.trace();
    if (!trace.has_layout) return;
    switch (trace.kind_of[row]) {
      case RowKind::kAlloc:
        // A replaced allocation gives back first what the new one does not
        // cover.
        while (next_replacement_ < replay_.replacements().size() &&
               replay_.replacements()[next_replacement_].first == row) {
          GiveBack(replay_.replacements()[next_replacement_++].second);
        }
        holes_.Take(trace.address[row], LastByte(row));
        break;
      case RowKind::kFree:
        if (replay_.PartnerOf(row) != kNoRow) GiveBack(replay_.PartnerOf(row));
        break;
      case RowKind::kFailed:
        break;
      case RowKind::kRegionAdd: {
        const RegionChange& region = trace.regions[trace.site[row]];
        holes_.AddRegion(region.address,
                         region.address + (region.size_bytes - 1));
        break;
      }
      case RowKind::kRegionRemove:
        holes_.RemoveRegion(trace.address[row]);
        break;
    }
  }

  const HoleSet& holes() const { return holes_; }

 private:
  uint64_t LastByte(Row alloc) const {
    return replay_.trace().address[alloc] + (replay_.BytesOf(alloc) - 1);
  }
  void GiveBack(Row alloc) {
    holes_.GiveBack(replay_.trace().address[alloc], LastByte(alloc));
  }

  const AllocatorReplay& replay_;
  HoleSet holes_;
  size_t next_replacement_ = 0;
};

}  // namespace

HoleTimeline::HoleTimeline(const AllocatorReplay& replay,
                           uint64_t request_bytes)
    : request_bytes_(RoundedBytes(request_bytes)) {
  const Position end = replay.end_position();
  free_bytes_.reserve(end + size_t{1});
  largest_bytes_.reserve(end + size_t{1});
  unusable_bytes_.reserve(end + size_t{1});
  counts_.reserve(end + size_t{1});
  HoleReplay holes(replay, request_bytes_);
  const auto push = [&] {
    free_bytes_.push_back(holes.holes().free_bytes());
    largest_bytes_.push_back(holes.holes().largest_bytes());
    unusable_bytes_.push_back(holes.holes().unusable_bytes());
    counts_.push_back(static_cast<uint32_t>(holes.holes().count()));
  };
  push();
  for (Row row = 0; row < end; ++row) {
    StopIfCancelled(row);
    holes.Apply(row);
    push();
  }
  BuildPyramid();
}

void HoleTimeline::BuildPyramid() {
  std::vector<Position> level;
  for (size_t i = 0; i < largest_bytes_.size(); i += kFanOut) {
    const size_t end = std::min(largest_bytes_.size(), i + kFanOut);
    Position worst = static_cast<Position>(i);
    for (size_t j = i + 1; j < end; ++j) {
      worst = Worse(worst, static_cast<Position>(j));
    }
    level.push_back(worst);
  }
  levels_.push_back(std::move(level));
  while (levels_.back().size() > kFanOut) {
    const std::vector<Position>& below = levels_.back();
    std::vector<Position> above;
    for (size_t i = 0; i < below.size(); i += kFanOut) {
      const size_t end = std::min(below.size(), i + kFanOut);
      Position worst = below[i];
      for (size_t j = i + 1; j < end; ++j) worst = Worse(worst, below[j]);
      above.push_back(worst);
    }
    levels_.push_back(std::move(above));
  }
}

HoleState HoleTimeline::At(Position position) const {
  return {free_bytes_[position], largest_bytes_[position], counts_[position],
          unusable_bytes_[position]};
}

Position HoleTimeline::WorstOver(Position begin, Position end) const {
  Position worst = begin;
  size_t i = begin;
  const size_t after = size_t{end} + 1;
  while (i < after) {
    size_t level = 0;  // 0: a single position.
    size_t width = 1;
    while (level < levels_.size() && i % (width * kFanOut) == 0 &&
           i + width * kFanOut <= after) {
      width *= kFanOut;
      ++level;
    }
    worst = Worse(worst, level == 0 ? static_cast<Position>(i)
                                    : levels_[level - 1][i / width]);
    i += width;
  }
  return worst;
}

uint64_t HoleTimeline::ResidentBytes() const {
  uint64_t bytes = (free_bytes_.capacity() + largest_bytes_.capacity() +
                    unusable_bytes_.capacity()) *
                       sizeof(uint64_t) +
                   counts_.capacity() * sizeof(uint32_t);
  for (const auto& level : levels_)
    bytes += level.capacity() * sizeof(Position);
  return bytes;
}

}  // namespace oom_forensics
