// How a BfcModel's pool takes regions from the system, and gives them back.
#include <algorithm>

#include "converter/bfc/bfc_model.h"
#include "core/bfc.h"
#include "core/bfc_limit.h"

namespace oom_forensics {
namespace {

// Between regions that nobody placed.
constexpr uint64_t kRegionGapBytes = uint64_t{1} << 20;

// Saturated: a limit out of a damaged trace may be anything.
uint64_t Twice(uint64_t bytes) {
  return bytes > UINT64_MAX / 2 ? UINT64_MAX : 2 * bytes;
}

uint64_t FirstRegionBytes(const BfcSettings& settings) {
  const uint64_t bytes = settings.allow_growth
                             ? std::min(settings.limit_bytes, kFirstRegionBytes)
                             : settings.limit_bytes;
  return RoundedBytes(bytes);
}

// What the pool takes after a region of this size, when `next_bytes` was its
// turn: a larger one was needed, and counts as the doubling.
uint64_t NextAfter(uint64_t next_bytes, uint64_t size_bytes) {
  if (next_bytes == 0) return 0;
  const bool enlarged = next_bytes < size_bytes;
  while (next_bytes < size_bytes) next_bytes = Twice(next_bytes);
  return enlarged ? next_bytes : Twice(next_bytes);
}

}  // namespace

uint64_t NextRegionBytes(const BfcSettings& settings,
                         const std::vector<uint64_t>& sizes_bytes) {
  uint64_t next_bytes = FirstRegionBytes(settings);
  for (const uint64_t bytes : sizes_bytes) {
    next_bytes = NextAfter(next_bytes, bytes);
  }
  return next_bytes;
}

uint64_t BfcModel::AvailableBytes() const {
  if (totals_.reserved_bytes > settings_.limit_bytes && !was_given_more_) {
    return 0;
  }
  return settings_.limit_bytes - totals_.reserved_bytes;
}

bool BfcModel::Extend(uint64_t bytes) {
  const uint64_t available_bytes = RoundedDownBytes(AvailableBytes());
  if (bytes > available_bytes) return false;
  uint64_t& next_bytes = totals_.next_region_bytes;
  if (next_bytes == 0) return false;
  bool enlarged = false;
  while (bytes > next_bytes) {
    next_bytes = Twice(next_bytes);
    enlarged = true;
  }
  uint64_t asked_bytes = std::min(next_bytes, available_bytes);
  std::optional<BfcRegion> region = TakeRegion(asked_bytes);
  if (!region.has_value()) {
    if (was_refused_ && settings_.asks_for_less_only_once) return false;
    was_refused_ = true;
  }
  while (!region.has_value()) {
    // In floating point, and with its rounding, as TensorFlow does it.
    constexpr float kBackPedal = 0.9F;
    const uint64_t less_bytes = RoundedBytes(
        static_cast<uint64_t>(static_cast<float>(asked_bytes) * kBackPedal));
    if (less_bytes >= asked_bytes || less_bytes < bytes) return false;
    asked_bytes = less_bytes;
    region = TakeRegion(asked_bytes);
  }
  if (!enlarged) next_bytes = Twice(next_bytes);
  if (region->size_bytes > asked_bytes) was_given_more_ = true;
  InsertRegion(*region);
  return true;
}

std::optional<BfcRegion> BfcModel::TakeRegion(uint64_t size_bytes) {
  if (source_ != nullptr) return source_->Take(size_bytes);
  const uint64_t end = regions_.empty() ? 0 : regions_.back().end();
  if (size_bytes > UINT64_MAX - 2 * kRegionGapBytes - end) return std::nullopt;
  return BfcRegion{end + kRegionGapBytes, size_bytes};
}

void BfcModel::InsertRegion(const BfcRegion& region) {
  RememberRegions();
  totals_.reserved_bytes += region.size_bytes;
  const ChunkId id = chunks_.New();
  PoolChunk& chunk = chunks_.Edit(id);
  chunk.address = region.address;
  chunk.size_bytes = region.size_bytes;
  chunk.previous = kNoChunk;
  chunk.next = kNoChunk;
  const auto above =
      std::upper_bound(regions_.begin(), regions_.end(), region.address,
                       [](uint64_t a, const Region& r) { return a < r.end(); });
  if (settings_.merges_regions && above != regions_.begin() &&
      std::prev(above)->end() == region.address) {
    Region& extended = *std::prev(above);
    extended.size_bytes += region.size_bytes;
    ChunkId last = extended.first;
    while (chunks_[last].next != kNoChunk) last = chunks_[last].next;
    chunk.previous = last;
    chunks_.Edit(last).next = id;
  } else {
    regions_.insert(above, {region.address, region.size_bytes, id});
  }
  chunks_.List(Coalesce(id, false));
}

bool BfcModel::AddRegion(const BfcRegion& region) {
  if (region.size_bytes == 0 ||
      region.address > UINT64_MAX - region.size_bytes) {
    return false;
  }
  const auto above =
      std::upper_bound(regions_.begin(), regions_.end(), region.address,
                       [](uint64_t a, const Region& r) { return a < r.end(); });
  if (above != regions_.end() &&
      above->address < region.address + region.size_bytes) {
    return false;
  }
  totals_.next_region_bytes =
      NextAfter(totals_.next_region_bytes, region.size_bytes);
  InsertRegion(region);
  return true;
}

bool BfcModel::RemoveRegion(uint64_t address) {
  const auto region =
      std::find_if(regions_.begin(), regions_.end(),
                   [address](const Region& r) { return r.address == address; });
  if (region == regions_.end() || HasLiveChunk(*region)) return false;
  RememberRegions();
  DropChunks(*region);
  regions_.erase(region);
  return true;
}

void BfcModel::DropChunks(const Region& region) {
  for (ChunkId id = region.first; id != kNoChunk;) {
    const ChunkId next = chunks_[id].next;
    chunks_.Unlist(id);
    chunks_.Delete(id);
    id = next;
  }
  totals_.reserved_bytes -= region.size_bytes;
}

bool BfcModel::HasLiveChunk(const Region& region) const {
  for (ChunkId id = region.first; id != kNoChunk; id = chunks_[id].next) {
    if (chunks_[id].state == PoolChunk::State::kInUse) return true;
  }
  return false;
}

bool BfcModel::GiveBackUnusedRegions(uint64_t bytes) {
  if (!settings_.garbage_collection) return false;
  uint64_t unused_bytes = 0;
  for (const Region& region : regions_) {
    if (!HasLiveChunk(region)) unused_bytes += region.size_bytes;
  }
  if (unused_bytes == 0 || bytes > AvailableBytes() + unused_bytes) {
    return false;
  }
  RememberRegions();
  const auto is_given_back = [this](const Region& region) {
    if (HasLiveChunk(region)) return false;
    DropChunks(region);
    if (source_ != nullptr)
      source_->GiveBack({region.address, region.size_bytes});
    return true;
  };
  regions_.erase(
      std::remove_if(regions_.begin(), regions_.end(), is_given_back),
      regions_.end());
  return true;
}

std::vector<BfcRegion> BfcModel::Regions() const {
  std::vector<BfcRegion> regions;
  for (const Region& region : regions_) {
    regions.push_back({region.address, region.size_bytes});
  }
  return regions;
}

}  // namespace oom_forensics
