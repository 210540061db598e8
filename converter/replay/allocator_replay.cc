#include "converter/replay/allocator_replay.h"

#include <algorithm>
#include <future>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "converter/cancellation/beside.h"
#include "converter/cancellation/cancellation.h"
#include "converter/replay/region_derivation.h"

namespace oom_forensics {
namespace {

// A keyframe is at least so many rows after the one before.
constexpr Position kMinKeyframeRows = 16384;
// And so many times as many rows as are live there.
constexpr uint64_t kKeyframeRowsPerLive = 4;
// A thread is worth its start for so many.
constexpr Row kRowsForTwoThreads = Row{1} << 18;

}  // namespace

AllocatorReplay::AllocatorReplay(const HostTrace& host,
                                 const AllocatorTrace& trace)
    : host_(host), trace_(trace) {
  MatchFrees();
  CollectRegions();
  {
    // Neither needs the other.
    std::future<void> keyframes = StartBeside(
        [this] { BuildKeyframes(); }, trace.row_count() < kRowsForTwoThreads
                                          ? WorthAThread::kNo
                                          : WorthAThread::kYes);
    usage_ = UsageTimeline(this);
    keyframes.get();
  }
  peak_position_ = usage_.Over(0, end_position()).in_use_max_position;
  for (const FailedRequest& failure : trace_.failures) {
    if (failure.is_oom) failure_positions_.push_back(failure.row);
  }
  CheckMaps();
}

AllocatorReplay::AllocatorReplay(const HostTrace& host,
                                 const AllocatorTrace& trace,
                                 NotReplayed not_replayed)
    : host_(host), trace_(trace), usage_(this, not_replayed) {}

bool AllocatorReplay::IsSound() const {
  const Row rows = trace_.row_count();
  const auto is_row = [rows](Row row) { return row < rows; };
  bool sound =
      partner_.size() == rows && peak_position_ <= rows && usage_.IsSound() &&
      !keyframes_.empty() && keyframes_.front().position == 0 &&
      std::all_of(failure_positions_.begin(), failure_positions_.end(), is_row);
  if (!sound) return false;
  // An allocation ends after it began: no walk along partners goes in circles.
  for (Row row = 0; row < rows; ++row) {
    const Row partner = partner_[row];
    const bool later = (partner > row) & (partner < rows);
    const bool earlier = partner < row;
    const bool fits = trace_.kind_of[row] == RowKind::kFree ? earlier : later;
    sound &= fits | (partner == kNoRow);
  }
  for (const auto& [row, replaced] : replacements_) {
    sound &= is_row(row) && replaced < row;
  }
  Position last = 0;
  for (const Keyframe& keyframe : keyframes_) {
    sound &= last <= keyframe.position && keyframe.position <= rows;
    last = keyframe.position;
    for (const Row row : keyframe.live_by_address) sound &= row < last;
  }
  return sound;
}

void AllocatorReplay::MatchFrees() {
  const Row rows = trace_.row_count();
  std::vector<Row> partners(rows, kNoRow);
  absl::flat_hash_map<uint64_t, Row> live;
  for (Row row = 0; row < rows; ++row) {
    StopIfCancelled(row);
    switch (trace_.kind_of[row]) {
      case RowKind::kAlloc: {
        NoteRequest(row);
        alloc_count_ += row >= trace_.baseline_rows;
        const auto [entry, inserted] =
            live.try_emplace(trace_.address[row], row);
        if (!inserted) {
          quality_.Add(QualityCounter::kOverlappingChunks);
          partners[entry->second] = row;
          replacements_.emplace_back(row, entry->second);
          entry->second = row;
        }
        break;
      }
      case RowKind::kFree: {
        ++free_count_;
        const auto entry = live.find(trace_.address[row]);
        if (entry == live.end()) {
          quality_.Add(QualityCounter::kUnmatchedFree);
          break;
        }
        partners[row] = entry->second;
        partners[entry->second] = row;
        live.erase(entry);
        break;
      }
      case RowKind::kFailed:
        NoteRequest(row);
        break;
      case RowKind::kRegionAdd:
      case RowKind::kRegionRemove:
        break;
    }
  }
  partner_ = std::move(partners);
}

void AllocatorReplay::NoteRequest(Row row) {
  largest_request_bytes_ =
      std::max(largest_request_bytes_, SiteOf(row).requested_bytes);
}

void AllocatorReplay::CollectRegions() {
  if (!trace_.has_layout) return;
  regions_ = trace_.regions;
  if (!regions_.empty()) {
    CheckRemovals();
    return;
  }
  regions_ = DeriveRegions(host_, trace_);
  regions_derived_ = !regions_.empty();
  if (regions_derived_) quality_.Add(QualityCounter::kRegionsDerived);
}

void AllocatorReplay::CheckRemovals() {
  absl::flat_hash_set<uint64_t> held;
  for (const RegionChange& change : regions_) {
    if (change.added) {
      held.insert(change.address);
    } else if (held.erase(change.address) == 0) {
      quality_.Add(QualityCounter::kUnknownRegionRemoved);
    }
  }
}

void AllocatorReplay::CheckMaps() {
  // Damage shows at the fullest moment, at the end and at the OOMs.
  std::vector<Position> positions = failure_positions_;
  positions.push_back(peak_position_);
  positions.push_back(end_position());
  uint64_t outside = 0;
  uint64_t overlapping = 0;
  constexpr size_t kMaxChecks = 8;
  if (positions.size() > kMaxChecks) {
    positions.erase(positions.begin() + 1, positions.end() - kMaxChecks);
  }
  for (const Position position : positions) {
    const ChunkMap map = MapAt(position);
    outside = std::max(outside, map.outside_count);
    overlapping = std::max(overlapping, map.overlap_count);
  }
  quality_.Add(QualityCounter::kChunkOutsideRegions, outside);
  quality_.Add(QualityCounter::kOverlappingChunks, overlapping);
}

void AllocatorReplay::BuildKeyframes() {
  keyframes_.push_back({0, {}});
  Position next = kMinKeyframeRows;
  while (next < end_position()) {
    Keyframe keyframe{next, Advance(keyframes_.back(), next)};
    const Position distance = static_cast<Position>(std::max<uint64_t>(
        kMinKeyframeRows,
        kKeyframeRowsPerLive * keyframe.live_by_address.size()));
    keyframes_.push_back(std::move(keyframe));
    if (end_position() - next < distance) break;
    next += distance;
  }
}

std::vector<Row> AllocatorReplay::Advance(const Keyframe& from,
                                          Position position) const {
  const auto by_address = [this](Row a, Row b) {
    return trace_.address[a] < trace_.address[b];
  };
  std::vector<Row> born;
  for (Row row = from.position; row < position; ++row) {
    StopIfCancelled(row);
    if (trace_.kind_of[row] == RowKind::kAlloc && IsLiveAt(row, position)) {
      born.push_back(row);
    }
  }
  std::sort(born.begin(), born.end(), by_address);
  std::vector<Row> live;
  live.reserve(from.live_by_address.size() + born.size());
  size_t next_born = 0;
  for (const Row row : from.live_by_address) {
    if (!IsLiveAt(row, position)) continue;
    while (next_born < born.size() && by_address(born[next_born], row)) {
      live.push_back(born[next_born++]);
    }
    live.push_back(row);
  }
  live.insert(live.end(), born.begin() + static_cast<ptrdiff_t>(next_born),
              born.end());
  return live;
}

std::vector<Row> AllocatorReplay::LiveAt(Position position) const {
  const auto after =
      std::upper_bound(keyframes_.begin(), keyframes_.end(), position,
                       [](Position p, const Keyframe& keyframe) {
                         return p < keyframe.position;
                       });
  return Advance(*std::prev(after), position);
}

std::vector<MappedRegion> AllocatorReplay::RegionsAt(Position position) const {
  std::vector<MappedRegion> held;
  for (const RegionChange& change : regions_) {
    if (!regions_derived_ && change.row >= position) break;
    if (change.added) {
      MappedRegion region;
      region.address = change.address;
      region.size_bytes = change.size_bytes;
      held.push_back(region);
      continue;
    }
    const auto found = std::find_if(held.begin(), held.end(),
                                    [&change](const MappedRegion& region) {
                                      return region.address == change.address;
                                    });
    if (found != held.end()) held.erase(found);
  }
  std::sort(held.begin(), held.end(),
            [](const MappedRegion& a, const MappedRegion& b) {
              return a.address < b.address;
            });
  return held;
}

ChunkMap AllocatorReplay::MapAt(Position position) const {
  if (!trace_.has_layout) return {};
  const std::vector<Row> live = LiveAt(position);
  std::vector<LiveChunk> chunks;
  chunks.reserve(live.size());
  for (const Row row : live) {
    chunks.push_back({trace_.address[row], BytesOf(row), row});
  }
  return BuildChunkMap(RegionsAt(position), chunks);
}

int64_t AllocatorReplay::BornPs(Row alloc) const {
  if (alloc >= trace_.baseline_age_ns.size()) return trace_.time_ps[alloc];
  const uint64_t age_ns = trace_.baseline_age_ns[alloc];
  constexpr uint64_t kMaxAgeNs = std::numeric_limits<int64_t>::max() / 2000;
  return trace_.time_ps[alloc] -
         static_cast<int64_t>(std::min(age_ns, kMaxAgeNs)) * 1000;
}

int64_t AllocatorReplay::DiedPs(Row alloc) const {
  const Row end = EndOf(alloc);
  if (end != kNoRow) return trace_.time_ps[end];
  return trace_.time_ps.back();
}

int64_t AllocatorReplay::TimePsOf(Position position) const {
  if (trace_.time_ps.empty()) return 0;
  return trace_.time_ps[position == 0 ? 0 : position - 1];
}

uint64_t AllocatorReplay::ResidentBytes() const {
  uint64_t bytes = partner_.ResidentBytes() + usage_.ResidentBytes() +
                   regions_.capacity() * sizeof(RegionChange);
  for (const Keyframe& keyframe : keyframes_) {
    bytes += keyframe.live_by_address.ResidentBytes();
  }
  return bytes;
}

}  // namespace oom_forensics
