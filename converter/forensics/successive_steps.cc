#include "converter/forensics/successive_steps.h"

#include <algorithm>
#include <random>
#include <utility>

#include "converter/cancellation/cancellation.h"
#include "core/bfc.h"

namespace oom_forensics {

SuccessiveSteps::SuccessiveSteps(const ForecastTrace& forecast,
                                 const std::vector<bool>& element_sites,
                                 std::vector<uint64_t> bytes,
                                 uint64_t from_bytes, BfcModel* model)
    : forecast_(forecast),
      element_sites_(element_sites),
      bytes_(std::move(bytes)),
      from_bytes_(from_bytes),
      model_(model) {}

std::vector<SuccessiveSteps::Fate> SuccessiveSteps::FatesOf(
    const ForecastOrderTrace& order) const {
  const bool is_simulated =
      !forecast_.planned && forecast_.origin != kRecordedOrigin;
  std::vector<Fate> fates;
  for (const ForecastEvent& event : order.events) {
    if (event.is_free) {
      fates[event.index] = Fate::kFreed;
    } else if (!is_simulated) {
      fates.push_back(Fate::kReplaces);
    } else {
      const bool is_element =
          event.index < element_sites_.size() && element_sites_[event.index];
      fates.push_back(is_element ? Fate::kUntilNextStep : Fate::kStays);
    }
  }
  return fates;
}

void SuccessiveSteps::FreeUntil(size_t event, std::vector<LateFree>* late) {
  const auto is_due = [&](const LateFree& free) {
    if (free.due > event) return false;
    model_->Free(free.chunk);
    return true;
  };
  late->erase(std::remove_if(late->begin(), late->end(), is_due), late->end());
}

std::optional<size_t> SuccessiveSteps::Run(const ForecastOrderTrace& order,
                                           size_t most_late) {
  for (const ChunkId chunk : until_next_step_) model_->Free(chunk);
  until_next_step_.clear();
  const std::vector<Fate> fates = FatesOf(order);
  // The same numbers on every machine.
  std::minstd_rand chance(static_cast<uint32_t>(steps_ + 1));
  std::vector<LateFree> late;
  // kNoChunk: not placed, or given back.
  std::vector<ChunkId> chunks;
  chunks.reserve(fates.size());
  for (size_t i = 0; i < order.events.size(); ++i) {
    StopIfCancelled(i);
    FreeUntil(i, &late);
    const ForecastEvent& event = order.events[i];
    if (event.is_free) {
      const ChunkId chunk = chunks[event.index];
      chunks[event.index] = kNoChunk;
      if (chunk == kNoChunk) continue;
      late.push_back({i + chance() % (most_late + 1), chunk});
      FreeUntil(i, &late);
      continue;
    }
    const bool is_there = steps_ > 0 && fates[chunks.size()] == Fate::kStays;
    if (is_there || bytes_[event.index] < from_bytes_) {
      chunks.push_back(kNoChunk);
      continue;
    }
    ChunkId chunk = model_->Allocate(bytes_[event.index]);
    if (chunk == kNoChunk && !late.empty()) {
      FreeUntil(order.events.size() + most_late, &late);
      chunk = model_->Allocate(bytes_[event.index]);
    }
    if (chunk == kNoChunk) return i;
    chunks.push_back(chunk);
  }
  FreeUntil(order.events.size() + most_late, &late);
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i] == kNoChunk || fates[i] == Fate::kStays) continue;
    if (fates[i] == Fate::kUntilNextStep) {
      until_next_step_.push_back(chunks[i]);
    } else {
      model_->Free(chunks[i]);
    }
  }
  ++steps_;
  return std::nullopt;
}

uint64_t SuccessiveSteps::PeakOf(const ForecastOrderTrace& order) const {
  const std::vector<Fate> fates = FatesOf(order);
  uint64_t staying_bytes = 0;
  uint64_t peak_bytes = 0;
  for (const bool is_first : {true, false}) {
    uint64_t in_use_bytes = staying_bytes;
    std::vector<uint64_t> sizes;
    sizes.reserve(fates.size());
    for (const ForecastEvent& event : order.events) {
      if (event.is_free) {
        in_use_bytes -= sizes[event.index];
        continue;
      }
      const bool stays = fates[sizes.size()] == Fate::kStays;
      const uint64_t bytes = RoundedBytes(bytes_[event.index]);
      if (stays && is_first) staying_bytes += bytes;
      sizes.push_back(stays && !is_first ? 0 : bytes);
      in_use_bytes += sizes.back();
      peak_bytes = std::max(peak_bytes, in_use_bytes);
    }
  }
  return peak_bytes;
}

}  // namespace oom_forensics
