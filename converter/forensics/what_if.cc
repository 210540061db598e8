#include "converter/forensics/what_if.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

// A pool whose only region is at least this part of its limit does not grow.
constexpr double kWholePoolShare = 0.99;

BfcSettings SettingsOf(const AllocatorReplay& replay, Row failure,
                       uint64_t limit_bytes) {
  const AllocatorTrace& trace = replay.trace();
  const Position position = failure;
  BfcSettings settings;
  settings.limit_bytes = limit_bytes;
  // Without a known limit, the pool is taken for full as it stands.
  if (settings.limit_bytes == 0) {
    settings.limit_bytes = replay.usage().At(position).reserved_bytes;
  }
  const std::vector<MappedRegion> regions = replay.RegionsAt(position);
  settings.allow_growth =
      regions.size() != 1 ||
      static_cast<double>(regions.front().size_bytes) <
          kWholePoolShare * static_cast<double>(settings.limit_bytes);
  settings.garbage_collection = StartsWith(trace.name, "GPU");
  return settings;
}

// One replay of the rows through a model.
class Trial {
 public:
  Trial(const AllocatorReplay& replay, Row failure, BfcSettings settings,
        const Scenario& scenario)
      : replay_(replay),
        failure_(failure),
        settings_(std::move(settings)),
        scenario_(scenario) {
    if (scenario_.limit_bytes.has_value()) {
      settings_.limit_bytes = *scenario_.limit_bytes;
    }
    if (scenario_.one_region) {
      settings_.allow_growth = false;
    } else {
      PlaceRegionsAsRecorded();
    }
  }

  Outcome Run(Row from) {
    Start(from);
    for (Row row = from; row < failure_ && !outcome_.failed_before; ++row) {
      Apply(row);
    }
    if (!outcome_.failed_before) {
      const std::optional<uint64_t> place =
          model_->Allocate(RequestedBytes(failure_));
      outcome_.placed = place.has_value();
      if (outcome_.placed && scenario_.then_step.has_value()) {
        model_->Free(*place);
        outcome_.placed = RunCompletedStep(*scenario_.then_step);
      }
    }
    for (const Row row : scenario_.then_like) {
      outcome_.placed =
          outcome_.placed && model_->Allocate(RequestedBytes(row)).has_value();
    }
    outcome_.in_use_bytes = model_->in_use_bytes();
    outcome_.free_bytes = model_->free_bytes();
    outcome_.largest_free_bytes = model_->largest_free_bytes();
    return outcome_;
  }

 private:
  uint64_t RequestedBytes(Row row) const {
    const uint64_t bytes = replay_.SiteOf(row).requested_bytes;
    return scenario_.resized ? scenario_.resized(row, bytes) : bytes;
  }
  bool IsLeftOut(Row row) const {
    return scenario_.is_left_out && scenario_.is_left_out(row);
  }

  // A region of a size that was recorded lies where it was.
  void PlaceRegionsAsRecorded() {
    uint64_t end = 0;
    for (const RegionChange& change : replay_.region_changes()) {
      end = std::max(end, change.address + change.size_bytes);
      if (!change.added || change.row >= failure_) continue;
      recorded_.emplace(change.size_bytes, change.address);
    }
    constexpr uint64_t kGapBytes = uint64_t{1} << 20;
    settings_.place_region =
        [this, next = end + kGapBytes](uint64_t size_bytes) mutable {
          const auto known = recorded_.find(size_bytes);
          if (known != recorded_.end()) {
            const uint64_t address = known->second;
            recorded_.erase(known);
            return address;
          }
          const uint64_t address = next;
          next += size_bytes + kGapBytes;
          return address;
        };
  }

  void Start(Row from) {
    if (scenario_.one_region) {
      model_ = std::make_unique<BfcModel>(settings_);
      std::vector<Row> live = replay_.LiveAt(from);
      std::sort(live.begin(), live.end(), [this](Row a, Row b) {
        return replay_.BornPs(a) < replay_.BornPs(b);
      });
      for (const Row row : live) Allocate(row);
      return;
    }
    Layout layout = LayoutAt(replay_, from);
    for (RegionLayout& region : layout) {
      const auto held = recorded_.find(region.size_bytes);
      if (held != recorded_.end()) recorded_.erase(held);
      region.blocks = Changed(region.blocks);
    }
    model_ = std::make_unique<BfcModel>(settings_, layout);
  }

  // The blocks as the scenario has them: left out ones free, smaller ones with
  // a hole behind.
  std::vector<Block> Changed(const std::vector<Block>& blocks) {
    std::vector<Block> changed;
    for (const Block& block : blocks) {
      if (block.free()) {
        changed.push_back(block);
        continue;
      }
      const Row row = static_cast<Row>(block.holder);
      if (IsLeftOut(row)) {
        changed.push_back({block.address, block.size_bytes, Block::kFree, 0});
        continue;
      }
      address_[row] = block.address;
      const uint64_t bytes =
          scenario_.resized
              ? std::min(block.size_bytes,
                         std::max(kMinAllocationBytes,
                                  RoundedBytes(RequestedBytes(row))))
              : block.size_bytes;
      changed.push_back({block.address, bytes, block.holder, block.age_ns});
      if (bytes < block.size_bytes) {
        changed.push_back(
            {block.address + bytes, block.size_bytes - bytes, Block::kFree, 0});
      }
    }
    return changed;
  }

  void Apply(Row row) {
    switch (replay_.trace().kind_of[row]) {
      case RowKind::kAlloc:
        Allocate(row);
        break;
      case RowKind::kFree: {
        const auto live = address_.find(replay_.PartnerOf(row));
        if (live == address_.end()) break;
        model_->Free(live->second);
        address_.erase(live);
        break;
      }
      case RowKind::kFailed:
      case RowKind::kRegionAdd:
      case RowKind::kRegionRemove:
        break;
    }
  }

  void Allocate(Row row) {
    if (IsLeftOut(row)) return;
    ++outcome_.requests;
    const std::optional<uint64_t> address =
        model_->Allocate(RequestedBytes(row));
    if (!address.has_value()) {
      outcome_.failed_before = true;
      return;
    }
    if (*address != replay_.trace().address[row]) ++outcome_.moved;
    address_[row] = *address;
  }

  // The failed step anew, as a completed one went. What that one freed of what
  // was older than itself stays: its like may be needed longer now.
  bool RunCompletedStep(const CompletedStep& step) {
    std::vector<Row> begun;
    for (const auto& [row, address] : address_) {
      if (row >= step.failed_begin) begun.push_back(row);
    }
    std::sort(begun.begin(), begun.end());
    for (const Row row : begun) model_->Free(address_.at(row));
    outcome_.step_peak_bytes = model_->in_use_bytes();
    absl::flat_hash_map<Row, uint64_t> made;
    for (Row row = step.begin; row < step.end; ++row) {
      const RowKind kind = replay_.trace().kind_of[row];
      if (kind == RowKind::kAlloc) {
        const std::optional<uint64_t> place =
            model_->Allocate(RequestedBytes(row));
        if (!place.has_value()) return false;
        made[row] = *place;
        outcome_.step_peak_bytes =
            std::max(outcome_.step_peak_bytes, model_->in_use_bytes());
      } else if (kind == RowKind::kFree) {
        const auto live = made.find(replay_.PartnerOf(row));
        if (live == made.end()) continue;
        model_->Free(live->second);
        made.erase(live);
      }
    }
    return true;
  }

  const AllocatorReplay& replay_;
  const Row failure_;
  BfcSettings settings_;
  const Scenario& scenario_;
  std::unique_ptr<BfcModel> model_;
  // Where the live allocations lie in the model.
  absl::flat_hash_map<Row, uint64_t> address_;
  std::multimap<uint64_t, uint64_t> recorded_;
  Outcome outcome_;
};

}  // namespace

Layout LayoutAt(const AllocatorReplay& replay, Position position) {
  const ChunkMap map = replay.MapAt(position);
  const int64_t now_ps = replay.TimePsOf(position);
  Layout layout;
  for (const MappedRegion& region : map.regions) {
    layout.push_back({region.address, region.size_bytes, {}});
  }
  for (const MappedChunk& chunk : map.chunks) {
    Block block{chunk.address, chunk.size_bytes, Block::kFree, 0};
    if (!chunk.is_free()) {
      block.holder = chunk.row;
      block.age_ns = static_cast<uint64_t>(std::max<int64_t>(
                         0, now_ps - replay.BornPs(chunk.row))) /
                     1000;
    }
    layout[chunk.region].blocks.push_back(block);
  }
  return layout;
}

Scenario Together(const Scenario& first, const Scenario& second) {
  Scenario both = first;
  if (first.resized && second.resized) {
    both.resized = [a = first.resized, b = second.resized](Row row,
                                                           uint64_t bytes) {
      return b(row, a(row, bytes));
    };
  } else if (second.resized) {
    both.resized = second.resized;
  }
  if (first.is_left_out && second.is_left_out) {
    both.is_left_out = [a = first.is_left_out, b = second.is_left_out](
                           Row row) { return a(row) || b(row); };
  } else if (second.is_left_out) {
    both.is_left_out = second.is_left_out;
  }
  if (second.limit_bytes.has_value()) both.limit_bytes = second.limit_bytes;
  both.one_region = first.one_region || second.one_region;
  if (!both.then_step.has_value()) both.then_step = second.then_step;
  // Both know of the same rest of the step; one may know of more.
  if (second.then_like.size() > both.then_like.size()) {
    both.then_like = second.then_like;
  }
  return both;
}

WhatIf::WhatIf(const AllocatorReplay& replay, Row failure, uint64_t limit_bytes)
    : replay_(replay),
      failure_(failure),
      from_(std::max(replay.trace().baseline_rows,
                     failure > kMaxWhatIfRows ? failure - kMaxWhatIfRows : 0)),
      settings_(SettingsOf(replay, failure, limit_bytes)),
      as_recorded_(Try({})) {}

Outcome WhatIf::Try(const Scenario& scenario) const {
  if (!replay_.trace().has_layout) {
    Outcome unknown;
    unknown.placed = true;
    return unknown;
  }
  return Trial(replay_, failure_, settings_, scenario).Run(from_);
}

}  // namespace oom_forensics
