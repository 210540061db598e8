#include "converter/replay/hole_timeline.h"

#include <algorithm>
#include <deque>
#include <future>
#include <thread>
#include <utility>

#include "converter/cancellation/beside.h"
#include "converter/cancellation/cancellation.h"
#include "converter/replay/hole_set.h"

namespace oom_forensics {
namespace {

class HoleReplay {
 public:
  // As the holes are at a position.
  HoleReplay(const AllocatorReplay& replay, uint64_t request_bytes,
             Position position)
      : replay_(replay), holes_(request_bytes) {
    if (!replay.trace().has_layout) return;
    for (const MappedRegion& region : replay.RegionsAt(position)) {
      holes_.AddRegion(region.address,
                       region.address + (region.size_bytes - 1));
    }
    for (const Row row : replay.LiveAt(position)) {
      holes_.Take(replay.trace().address[row], LastByte(row));
    }
    const auto& replacements = replay.replacements();
    next_replacement_ = static_cast<size_t>(
        std::lower_bound(replacements.begin(), replacements.end(),
                         std::pair<Row, Row>(position, 0)) -
        replacements.begin());
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
                           uint64_t request_bytes, Row piece_rows)
    : request_bytes_(RoundedBytes(request_bytes)),
      positions_(replay.end_position() + size_t{1}),
      free_bytes_(new uint64_t[positions_]),
      largest_bytes_(new uint64_t[positions_]),
      unusable_bytes_(new uint64_t[positions_]),
      counts_(new uint32_t[positions_]) {
  const Row rows = replay.end_position();
  const size_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::deque<std::future<void>> running;
  for (Row begin = 0; begin == 0 || begin < rows;) {
    const Row end = rows - begin > piece_rows ? begin + piece_rows : rows;
    if (running.size() == threads) {
      running.front().get();
      running.pop_front();
    }
    running.push_back(StartBeside(
        [this, &replay, begin, end] { ReplayPiece(replay, begin, end); }));
    if (end == rows) break;
    begin = end;
  }
  for (std::future<void>& piece : running) piece.get();
  BuildPyramid();
}

void HoleTimeline::ReplayPiece(const AllocatorReplay& replay, Row begin,
                               Row end) {
  HoleReplay replayed(replay, request_bytes_, begin);
  const HoleSet& holes = replayed.holes();
  const auto keep = [&](Position position) {
    free_bytes_[position] = holes.free_bytes();
    largest_bytes_[position] = holes.largest_bytes();
    unusable_bytes_[position] = holes.unusable_bytes();
    counts_[position] = static_cast<uint32_t>(holes.count());
  };
  if (begin == 0) keep(0);
  for (Row row = begin; row < end; ++row) {
    StopIfCancelled(row);
    replayed.Apply(row);
    keep(row + 1);
  }
}

void HoleTimeline::BuildPyramid() {
  std::vector<Position> level;
  for (size_t i = 0; i < positions_; i += kFanOut) {
    const size_t end = std::min(positions_, i + kFanOut);
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
  uint64_t bytes = positions_ * (3 * sizeof(uint64_t) + sizeof(uint32_t));
  for (const auto& level : levels_)
    bytes += level.capacity() * sizeof(Position);
  return bytes;
}

}  // namespace oom_forensics
