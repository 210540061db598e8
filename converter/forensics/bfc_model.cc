#include "converter/forensics/bfc_model.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace oom_forensics {
namespace {

// Space between regions of a model that places them itself.
constexpr uint64_t kRegionGapBytes = uint64_t{1} << 20;

// Saturated: a limit out of a damaged trace may be anything.
uint64_t Twice(uint64_t bytes) {
  return bytes > UINT64_MAX / 2 ? UINT64_MAX : 2 * bytes;
}

}  // namespace

BfcModel::BfcModel(BfcSettings settings) : settings_(std::move(settings)) {
  const uint64_t first_bytes =
      settings_.allow_growth
          ? std::min(settings_.first_region_bytes, settings_.limit_bytes)
          : settings_.limit_bytes;
  next_region_bytes_ = std::max(kMinAllocationBytes, RoundedBytes(first_bytes));
}

BfcModel::BfcModel(BfcSettings settings, const Layout& layout,
                   uint64_t next_region_bytes)
    : BfcModel(std::move(settings)) {
  uint64_t largest_region_bytes = 0;
  for (const RegionLayout& region : layout) {
    regions_.emplace(region.address, region.size_bytes);
    reserved_bytes_ += region.size_bytes;
    largest_region_bytes = std::max(largest_region_bytes, region.size_bytes);
    for (const Block& block : region.blocks) {
      const auto chunk =
          chunks_
              .insert_or_assign(block.address,
                                Chunk{block.size_bytes, region.address, true})
              .first;
      in_use_bytes_ += block.size_bytes;
      if (block.free()) {
        Free(chunk->first);
      }
    }
  }
  if (next_region_bytes != 0) {
    next_region_bytes_ = next_region_bytes;
  } else if (settings_.allow_growth && largest_region_bytes != 0) {
    next_region_bytes_ = Twice(largest_region_bytes);
  }
}

std::optional<uint64_t> BfcModel::Allocate(uint64_t requested_bytes) {
  if (requested_bytes == 0) return std::nullopt;
  const uint64_t bytes = RoundedBytes(requested_bytes);
  std::optional<uint64_t> address = TakeBestFit(bytes);
  if (!address.has_value() && Grow(bytes)) address = TakeBestFit(bytes);
  if (!address.has_value() && GiveBackUnusedRegions(bytes) && Grow(bytes)) {
    address = TakeBestFit(bytes);
  }
  return address;
}

std::optional<uint64_t> BfcModel::TakeBestFit(uint64_t bytes) {
  const auto best = free_.lower_bound({bytes, 0});
  if (best == free_.end()) return std::nullopt;
  const auto chunk = chunks_.find(best->second);
  free_.erase(best);
  const uint64_t size = chunk->second.size_bytes;
  if (IsSplit(size, bytes, settings_.max_waste_bytes)) {
    const auto rest =
        chunks_.emplace_hint(std::next(chunk), chunk->first + bytes,
                             Chunk{size - bytes, chunk->second.region, false});
    chunk->second.size_bytes = bytes;
    InsertFree(rest);
  }
  chunk->second.in_use = true;
  in_use_bytes_ += chunk->second.size_bytes;
  return chunk->first;
}

bool BfcModel::Free(uint64_t address) {
  auto chunk = chunks_.find(address);
  if (chunk == chunks_.end() || !chunk->second.in_use) return false;
  chunk->second.in_use = false;
  in_use_bytes_ -= chunk->second.size_bytes;

  const auto mergeable = [](Chunks::iterator left, Chunks::iterator right) {
    return !left->second.in_use && !right->second.in_use &&
           left->second.region == right->second.region;
  };
  const auto next = std::next(chunk);
  if (next != chunks_.end() && mergeable(chunk, next)) {
    EraseFree(next);
    chunk->second.size_bytes += next->second.size_bytes;
    chunks_.erase(next);
  }
  if (chunk != chunks_.begin() && mergeable(std::prev(chunk), chunk)) {
    const auto previous = std::prev(chunk);
    EraseFree(previous);
    previous->second.size_bytes += chunk->second.size_bytes;
    chunks_.erase(chunk);
    chunk = previous;
  }
  InsertFree(chunk);
  return true;
}

bool BfcModel::Grow(uint64_t bytes) {
  const uint64_t left_bytes = settings_.limit_bytes > reserved_bytes_
                                  ? (settings_.limit_bytes - reserved_bytes_) /
                                        kMinAllocationBytes *
                                        kMinAllocationBytes
                                  : 0;
  if (bytes > left_bytes) return false;
  bool doubled = false;
  while (bytes > next_region_bytes_) {
    next_region_bytes_ = Twice(next_region_bytes_);
    doubled = true;
  }
  const uint64_t size = std::min(next_region_bytes_, left_bytes);
  if (!doubled) next_region_bytes_ = Twice(next_region_bytes_);
  return AddRegion(PlaceRegion(size), size);
}

bool BfcModel::AddRegion(uint64_t address, uint64_t size_bytes) {
  if (size_bytes == 0 || address > UINT64_MAX - size_bytes) return false;
  const auto next = regions_.lower_bound(address);
  if (next != regions_.end() && next->first - address < size_bytes) {
    return false;
  }
  if (next != regions_.begin()) {
    const auto previous = std::prev(next);
    if (address - previous->first < previous->second) return false;
  }
  regions_.emplace(address, size_bytes);
  reserved_bytes_ += size_bytes;
  InsertFree(
      chunks_.insert_or_assign(address, Chunk{size_bytes, address, false})
          .first);
  return true;
}

bool BfcModel::GiveBackUnusedRegions(uint64_t bytes) {
  if (!settings_.garbage_collection) return false;
  std::vector<uint64_t> unused;
  uint64_t unused_bytes = 0;
  for (const auto& [address, size_bytes] : regions_) {
    const auto chunk = chunks_.find(address);
    if (chunk->second.in_use || chunk->second.size_bytes != size_bytes) {
      continue;
    }
    unused.push_back(address);
    unused_bytes += size_bytes;
  }
  if (unused.empty() ||
      bytes > settings_.limit_bytes - reserved_bytes_ + unused_bytes) {
    return false;
  }
  for (const uint64_t address : unused) {
    const auto chunk = chunks_.find(address);
    EraseFree(chunk);
    chunks_.erase(chunk);
    regions_.erase(address);
  }
  reserved_bytes_ -= unused_bytes;
  return true;
}

uint64_t BfcModel::SizeOf(uint64_t address) const {
  const auto chunk = chunks_.find(address);
  if (chunk == chunks_.end() || !chunk->second.in_use) return 0;
  return chunk->second.size_bytes;
}

uint64_t BfcModel::largest_free_bytes() const {
  return free_.empty() ? 0 : free_.rbegin()->first;
}

void BfcModel::InsertFree(Chunks::iterator chunk) {
  free_.emplace(chunk->second.size_bytes, chunk->first);
}

void BfcModel::EraseFree(Chunks::iterator chunk) {
  free_.erase({chunk->second.size_bytes, chunk->first});
}

uint64_t BfcModel::PlaceRegion(uint64_t size_bytes) const {
  if (settings_.place_region) return settings_.place_region(size_bytes);
  if (regions_.empty()) return kRegionGapBytes;
  const auto& [address, last_bytes] = *regions_.rbegin();
  return address + last_bytes + kRegionGapBytes;
}

}  // namespace oom_forensics
