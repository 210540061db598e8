#include "converter/bfc/bfc_model.h"

#include <algorithm>

#include "core/bfc.h"

namespace oom_forensics {
namespace {

uint64_t MaxUnsplitRestBytes(const BfcSettings& settings) {
  if (!(settings.fragmentation_fraction > 0)) return kMaxUnsplitRestBytes;
  const double bytes = settings.fragmentation_fraction *
                       static_cast<double>(settings.limit_bytes);
  constexpr double kMax = 9223372036854774784.0;  // largest double below 2^63
  return static_cast<uint64_t>(std::min(bytes, kMax));
}

}  // namespace

BfcModel::BfcModel(const BfcSettings& settings, RegionSource* source)
    : settings_(settings),
      source_(source),
      max_unsplit_rest_bytes_(MaxUnsplitRestBytes(settings)) {
  totals_.next_region_bytes = NextRegionBytes(settings, {});
}

BfcModel::BfcModel(const BfcSettings& settings, RegionSource* source,
                   const std::vector<BfcRegion>& regions,
                   const std::vector<BfcChunk>& chunks,
                   uint64_t next_region_bytes)
    : BfcModel(settings, source) {
  totals_.next_region_bytes = next_region_bytes;
  for (const BfcRegion& region : regions) {
    regions_.push_back({region.address, region.size_bytes, kNoChunk});
    totals_.reserved_bytes += region.size_bytes;
  }
  size_t at = 0;
  std::vector<ChunkId> merged;
  if (regions_.empty()) return;
  for (const BfcChunk& given : chunks) {
    while (at + 1 < regions_.size() && given.address >= regions_[at].end()) {
      ++at;
    }
    const ChunkId id = chunks_.New();
    PoolChunk& chunk = chunks_.Edit(id);
    chunk.address = given.address;
    chunk.size_bytes = given.size_bytes;
    Region& region = regions_[at];
    if (region.first == kNoChunk) {
      region.first = id;
    } else {
      // The chunk before it, unless that was merged into an earlier one.
      ChunkId previous = id - 1;
      while (chunks_[previous].state == PoolChunk::State::kUnused) --previous;
      chunk.previous = previous;
      chunks_.Edit(previous).next = id;
    }
    if (given.in_use) {
      chunk.state = PoolChunk::State::kInUse;
      totals_.in_use_bytes += given.size_bytes;
      continue;
    }
    const ChunkId previous = chunk.previous;
    if (previous != kNoChunk &&
        chunks_[previous].state == PoolChunk::State::kFree) {
      chunks_.Unlist(previous);
      PoolChunk& whole = chunks_.Edit(previous);
      whole.size_bytes += given.size_bytes;
      whole.next = kNoChunk;
      chunks_.List(previous);
      // Not given up yet: the next chunk's id is its place among `chunks`.
      chunk.state = PoolChunk::State::kUnused;
      merged.push_back(id);
    } else {
      chunks_.List(id);
    }
  }
  for (const ChunkId id : merged) chunks_.Delete(id);
}

ChunkId BfcModel::Allocate(uint64_t requested_bytes, uint64_t freed_before) {
  if (requested_bytes == 0) return kNoChunk;
  const uint64_t bytes = RoundedBytes(requested_bytes);
  if (!timed_.empty()) MergeTimed(0);
  ChunkId chunk = Take(bytes, freed_before);
  if (chunk == kNoChunk && Extend(bytes)) chunk = Take(bytes, freed_before);
  if (chunk == kNoChunk && freed_before == 0 && !timed_.empty() &&
      MergeTimed(bytes)) {
    chunk = Take(bytes, freed_before);
  }
  if (chunk == kNoChunk && GiveBackUnusedRegions(bytes) && Extend(bytes)) {
    chunk = Take(bytes, freed_before);
  }
  return chunk;
}

ChunkId BfcModel::Take(uint64_t bytes, uint64_t freed_before) {
  const ChunkId id = chunks_.BestFit(bytes, freed_before);
  if (id == kNoChunk) return kNoChunk;
  chunks_.Unlist(id);
  if (IsSplit(chunks_[id].size_bytes, bytes, max_unsplit_rest_bytes_)) {
    Split(id, bytes);
  }
  PoolChunk& chunk = chunks_.Edit(id);
  chunk.state = PoolChunk::State::kInUse;
  totals_.in_use_bytes += chunk.size_bytes;
  return id;
}

void BfcModel::Split(ChunkId id, uint64_t bytes) {
  const ChunkId rest_id = chunks_.New();
  PoolChunk& chunk = chunks_.Edit(id);
  PoolChunk& rest = chunks_.Edit(rest_id);
  rest.address = chunk.address + bytes;
  rest.size_bytes = chunk.size_bytes - bytes;
  rest.freed_at = chunk.freed_at;
  rest.previous = id;
  rest.next = chunk.next;
  chunk.size_bytes = bytes;
  chunk.next = rest_id;
  if (rest.next != kNoChunk) chunks_.Edit(rest.next).previous = rest_id;
  chunks_.List(rest_id);
}

ChunkId BfcModel::AllocateAt(uint64_t address, uint64_t size_bytes,
                             ChunkId below) {
  const auto above =
      std::upper_bound(regions_.begin(), regions_.end(), address,
                       [](uint64_t a, const Region& r) { return a < r.end(); });
  if (above == regions_.end() || address < above->address) return kNoChunk;
  ChunkId id = above->first;
  if (below != kNoChunk && chunks_[below].address >= above->address) id = below;
  while (id != kNoChunk &&
         chunks_[id].address + chunks_[id].size_bytes <= address) {
    id = chunks_[id].next;
  }
  if (id == kNoChunk || !chunks_[id].listed ||
      chunks_[id].address + chunks_[id].size_bytes - address < size_bytes) {
    return kNoChunk;
  }
  chunks_.Unlist(id);
  if (chunks_[id].address < address) {
    Split(id, address - chunks_[id].address);
    const ChunkId upper = chunks_[id].next;
    chunks_.List(id);
    chunks_.Unlist(upper);
    id = upper;
  }
  if (chunks_[id].size_bytes > size_bytes) Split(id, size_bytes);
  chunks_.Edit(id).state = PoolChunk::State::kInUse;
  totals_.in_use_bytes += size_bytes;
  return id;
}

void BfcModel::Free(ChunkId id, uint64_t freed_at) {
  PoolChunk& chunk = chunks_.Edit(id);
  chunk.state = PoolChunk::State::kFree;
  if (freed_at != 0) chunk.freed_at = freed_at;
  totals_.in_use_bytes -= chunk.size_bytes;
  if (freed_at != 0) {
    chunks_.List(id);
    timed_.push_back(id);
  } else {
    chunks_.List(Coalesce(id, false));
  }
}

void BfcModel::SetSafeFrontier(uint64_t count) {
  safe_frontier_ = std::max(safe_frontier_, count);
}

ChunkId BfcModel::Coalesce(ChunkId id, bool ignore_freed_at) {
  if (!ignore_freed_at && chunks_[id].freed_at > 0) return id;
  const auto mergeable = [&](ChunkId other) {
    return other != kNoChunk &&
           chunks_[other].state == PoolChunk::State::kFree &&
           (chunks_[other].freed_at == 0 || ignore_freed_at);
  };
  const ChunkId next = chunks_[id].next;
  if (mergeable(next)) {
    chunks_.Unlist(next);
    Merge(id, next);
  }
  const ChunkId previous = chunks_[id].previous;
  if (mergeable(previous)) {
    chunks_.Unlist(previous);
    Merge(previous, id);
    return previous;
  }
  return id;
}

void BfcModel::Merge(ChunkId id, ChunkId next_id) {
  PoolChunk& chunk = chunks_.Edit(id);
  const PoolChunk& next = chunks_[next_id];
  chunk.size_bytes += next.size_bytes;
  chunk.freed_at = std::max(chunk.freed_at, next.freed_at);
  chunk.next = next.next;
  if (next.next != kNoChunk) chunks_.Edit(next.next).previous = id;
  chunks_.Delete(next_id);
}

bool BfcModel::MergeTimed(uint64_t required_bytes) {
  std::vector<ChunkId> to_merge;
  std::deque<ChunkId> waiting;
  for (const ChunkId id : timed_) {
    const PoolChunk& chunk = chunks_[id];
    // Gone, perhaps with its place in other use, or in use again.
    if (chunk.state != PoolChunk::State::kFree) continue;
    if (chunk.freed_at == 0) {
      to_merge.push_back(id);
    } else if (chunk.freed_at < safe_frontier_) {
      chunks_.Edit(id).freed_at = 0;
      to_merge.push_back(id);
    } else if (required_bytes > 0) {
      to_merge.push_back(id);
    } else {
      waiting.push_back(id);
    }
  }
  timed_ = std::move(waiting);
  bool satisfied = required_bytes == 0;
  for (const ChunkId id : to_merge) {
    // Merged into another meanwhile.
    if (chunks_[id].state != PoolChunk::State::kFree) continue;
    if (required_bytes > 0 && satisfied) {
      timed_.push_back(id);
      continue;
    }
    chunks_.Unlist(id);
    const ChunkId whole = Coalesce(id, required_bytes > 0);
    chunks_.List(whole);
    if (required_bytes == 0) continue;
    if (whole != id && chunks_[whole].freed_at > 0) timed_.push_back(whole);
    if (chunks_[whole].size_bytes >= required_bytes) satisfied = true;
  }
  return satisfied;
}

std::vector<ChunkId> BfcModel::ChunksInOrder() const {
  std::vector<ChunkId> ids;
  for (const Region& region : regions_) {
    for (ChunkId id = region.first; id != kNoChunk; id = chunks_[id].next) {
      ids.push_back(id);
    }
  }
  return ids;
}

void BfcModel::KeepJournal() {
  keeps_journal_ = true;
  chunks_.KeepJournal();
}

BfcModel::Moment BfcModel::Now() const {
  return {chunks_.Now(), past_regions_.size(), totals_.reserved_bytes,
          totals_.in_use_bytes, totals_.next_region_bytes};
}

void BfcModel::GoBack(const Moment& moment) {
  chunks_.GoBack(moment.change);
  if (past_regions_.size() > moment.region_change) {
    regions_ = std::move(past_regions_[moment.region_change]);
    past_regions_.resize(moment.region_change);
  }
  totals_ = {moment.reserved_bytes, moment.in_use_bytes,
             moment.next_region_bytes};
}

void BfcModel::ForgetPast() {
  chunks_.ForgetPast();
  past_regions_.clear();
}

void BfcModel::RememberRegions() {
  if (keeps_journal_) past_regions_.push_back(regions_);
}

}  // namespace oom_forensics
