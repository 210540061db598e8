#include "converter/replay/usage_timeline.h"

#include <algorithm>
#include <utility>

#include "converter/cancellation/cancellation.h"
#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

void Usage::Add(const Usage& taken) {
  in_use_bytes += taken.in_use_bytes;
  requested_bytes += taken.requested_bytes;
  live_count += taken.live_count;
}

void Usage::Subtract(const Usage& taken) {
  in_use_bytes -= taken.in_use_bytes;
  requested_bytes -= taken.requested_bytes;
  live_count -= taken.live_count;
}

Usage UsageOf(const AllocationSite& site) {
  Usage usage;
  usage.in_use_bytes = site.allocated_bytes;
  usage.requested_bytes = site.requested_bytes;
  usage.live_count = 1;
  return usage;
}

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

std::vector<Usage> WholeSites(const SiteTable& sites) {
  std::vector<Usage> by_site(sites.size());
  for (SiteId id = 0; id < sites.size(); ++id) {
    by_site[id] = UsageOf(sites.Get(id));
  }
  return by_site;
}

constexpr Usage kNotCounted;

// Which rows change what is counted. Where a filter keeps few sites most do
// not, and cost a look at their site each.
class ChangingRows {
 public:
  static constexpr uint32_t kBlockRows = 64;

  ChangingRows(const AllocatorReplay& replay, const std::vector<Usage>& by_site,
               const std::vector<bool>& kept)
      : replay_(replay), trace_(replay.trace()), kept_(kept) {
    // Else a row may change more than what its own site counts.
    if (!trace_.has_layout || !replay.replacements().empty()) return;
    for (const Usage& usage : by_site) {
      is_counted_.push_back(usage.live_count != 0);
    }
    blocks_.resize(trace_.row_count() / kBlockRows + 1);
  }

  // A bit for each row of the block that begins at `begin`. Ask for blocks in
  // order.
  uint64_t OfBlock(Position begin) {
    const Position end = std::min(trace_.row_count(), begin + kBlockRows);
    if (blocks_.empty()) return ~uint64_t{0};
    const size_t block = begin / kBlockRows;
    uint64_t changing = 0;
    // Without branches: whether a row allocates or frees cannot be foretold.
    for (Row row = begin; row < end; ++row) {
      const RowKind kind = trace_.kind_of[row];
      const bool is_alloc = kind == RowKind::kAlloc;
      const bool is_free = kind == RowKind::kFree;
      const bool is_region =
          kind == RowKind::kRegionAdd || kind == RowKind::kRegionRemove;
      const bool alloc_counts =
          is_alloc & is_counted_[is_alloc ? trace_.site[row] : 0];
      const Row partner = replay_.PartnerOf(row);
      // A row's own bit is not set yet.
      const Row freed = (is_free & (partner != kNoRow)) ? partner : row;
      const uint64_t seen =
          freed / kBlockRows == block ? changing : blocks_[freed / kBlockRows];
      const bool free_counts = is_free & (seen >> (freed % kBlockRows));
      const bool keeps = kept_.empty() || !is_alloc || kept_[row];
      const bool changes = (alloc_counts & keeps) | free_counts | is_region;
      changing |= static_cast<uint64_t>(changes) << (row - begin);
    }
    blocks_[block] = changing;
    return changing;
  }

 private:
  const AllocatorReplay& replay_;
  const AllocatorTrace& trace_;
  const std::vector<bool>& kept_;
  // By site. Both are empty where any row may change something.
  std::vector<uint8_t> is_counted_;
  std::vector<uint64_t> blocks_;
};

}  // namespace

UsageTimeline::UsageTimeline(const AllocatorReplay* replay)
    : replay_(replay), by_site_(WholeSites(replay->host().sites)) {
  Usage usage;
  usage.in_use_bytes = replay->trace().unnamed_in_use_bytes;
  usage.requested_bytes = replay->trace().unnamed_in_use_bytes;
  Walk(usage);
}

UsageTimeline::UsageTimeline(const AllocatorReplay* replay,
                             std::vector<Usage> by_site,
                             const RowFilter& filter)
    : replay_(replay), by_site_(std::move(by_site)) {
  if (filter) {
    const AllocatorTrace& trace = replay->trace();
    kept_.resize(trace.row_count());
    for (Row row = 0; row < trace.row_count(); ++row) {
      StopIfCancelled(row);
      kept_[row] = trace.kind_of[row] == RowKind::kAlloc && filter(row);
    }
  }
  Walk(Usage());
}

UsageTimeline::UsageTimeline(const AllocatorReplay* replay, NotReplayed)
    : replay_(replay), by_site_(WholeSites(replay->host().sites)) {}

bool UsageTimeline::IsSound() const {
  const Position end = replay_->trace().row_count();
  if (blocks_.size() != end / kBlockRows + 1) return false;
  size_t size = std::max<size_t>(1, (end + kBlockRows - 1) / kBlockRows);
  for (const Column<UsageExtremes>& level : levels_) {
    if (level.size() != size) return false;
    for (const UsageExtremes& extremes : level) {
      if (extremes.in_use_max_position > end) return false;
    }
    size = (size + kFanOut - 1) / kFanOut;
  }
  return !levels_.empty() && levels_.back().size() <= kFanOut;
}

void UsageTimeline::Walk(Usage usage) {
  const Position end = replay_->trace().row_count();
  if (replay_->regions_derived()) {
    for (const RegionChange& region : replay_->region_changes()) {
      usage.reserved_bytes += region.size_bytes;
    }
  }
  std::vector<Usage> blocks;
  std::vector<UsageExtremes> level;
  blocks.reserve(end / kBlockRows + 1);
  level.reserve(end / kBlockRows + 1);
  static_assert(kBlockRows == ChangingRows::kBlockRows);
  ChangingRows changing(*replay_, by_site_, kept_);
  for (Position begin = 0; begin < end; begin += kBlockRows) {
    StopIfCancelled(begin);
    blocks.push_back(usage);
    UsageExtremes extremes = ExtremesOf(usage, begin);
    uint64_t rows = changing.OfBlock(begin);
    if (end - begin < kBlockRows) rows &= (uint64_t{1} << (end - begin)) - 1;
    for (; rows != 0; rows &= rows - 1) {
      const Row row = begin + static_cast<Row>(__builtin_ctzll(rows));
      if (Apply(row, &usage)) extremes.Include(usage, row + 1);
    }
    level.push_back(extremes);
  }
  if (end == 0) level.push_back(ExtremesOf(usage, 0));
  if (end % kBlockRows == 0) blocks.push_back(usage);
  blocks_ = std::move(blocks);
  levels_.emplace_back(std::move(level));
  BuildPyramid();
}

const Usage& UsageTimeline::CountedOf(Row alloc) const {
  if (!kept_.empty() && !kept_[alloc]) return kNotCounted;
  return by_site_[replay_->trace().site[alloc]];
}

bool UsageTimeline::Apply(Row row, Usage* usage) const {
  const AllocatorTrace& trace = replay_->trace();
  switch (trace.kind_of[row]) {
    case RowKind::kAlloc: {
      const bool replaces = !replay_->replacements().empty();
      if (replaces) ReleaseReplaced(row, usage);
      if (!trace.has_layout) usage->reserved_bytes += replay_->BytesOf(row);
      const Usage& counted = CountedOf(row);
      if (counted.live_count != 0) usage->Add(counted);
      return counted.live_count != 0 || replaces || !trace.has_layout;
    }
    case RowKind::kFree: {
      const Row alloc = replay_->PartnerOf(row);
      if (alloc == kNoRow) return false;
      if (!trace.has_layout) usage->reserved_bytes -= replay_->BytesOf(alloc);
      const Usage& counted = CountedOf(alloc);
      if (counted.live_count != 0) usage->Subtract(counted);
      return counted.live_count != 0 || !trace.has_layout;
    }
    case RowKind::kFailed:
      return false;
    case RowKind::kRegionAdd:
      usage->reserved_bytes += trace.regions[trace.site[row]].size_bytes;
      return true;
    case RowKind::kRegionRemove:
      usage->reserved_bytes -= std::min(
          usage->reserved_bytes, trace.regions[trace.site[row]].size_bytes);
      return true;
  }
  return false;
}

// Those whose place the allocation took, as their free is missing.
void UsageTimeline::ReleaseReplaced(Row alloc, Usage* usage) const {
  const auto& replacements = replay_->replacements();
  auto found = std::lower_bound(replacements.begin(), replacements.end(),
                                std::pair<Row, Row>(alloc, 0));
  for (; found != replacements.end() && found->first == alloc; ++found) {
    if (!replay_->trace().has_layout) {
      usage->reserved_bytes -= replay_->BytesOf(found->second);
    }
    usage->Subtract(CountedOf(found->second));
  }
}

void UsageTimeline::BuildPyramid() {
  while (levels_.back().size() > kFanOut) {
    const Column<UsageExtremes>& below = levels_.back();
    std::vector<UsageExtremes> level;
    level.reserve((below.size() + kFanOut - 1) / kFanOut);
    for (size_t i = 0; i < below.size(); i += kFanOut) {
      UsageExtremes extremes = below[i];
      const size_t end = std::min(below.size(), i + kFanOut);
      for (size_t j = i + 1; j < end; ++j) extremes.Include(below[j]);
      level.push_back(extremes);
    }
    levels_.emplace_back(std::move(level));
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
    if (Apply(row, &usage)) extremes.Include(usage, row + 1);
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
  uint64_t bytes = by_site_.capacity() * sizeof(Usage) + kept_.capacity() / 8 +
                   blocks_.ResidentBytes();
  for (const auto& level : levels_) {
    bytes += level.ResidentBytes();
  }
  return bytes;
}

}  // namespace oom_forensics
