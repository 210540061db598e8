#include "converter/counterfactual/pool_simulation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "converter/cancellation/cancellation.h"
#include "converter/counterfactual/pool_settings.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

// Between regions that TensorFlow did not have, so that none touch.
constexpr uint64_t kGapBytes = uint64_t{1} << 20;

// Where TensorFlow got a region of that size next, it lies where TensorFlow's
// did; any other lies behind all that were recorded.
class RecordedRegions : public RegionSource {
 public:
  // Those that were taken from row `from` on. `refuses`: where TensorFlow got a
  // smaller region than the model asks for, the system had no larger one.
  RecordedRegions(const AllocatorReplay& replay, Row from, bool refuses)
      : refuses_(refuses) {
    for (const RegionChange& change : replay.region_changes()) {
      if (!change.added) continue;
      free_address_ = std::max(free_address_,
                               change.address + change.size_bytes + kGapBytes);
      if (change.row >= from && !replay.regions_derived()) {
        recorded_.push_back({change.address, change.size_bytes});
      }
    }
  }

  std::optional<BfcRegion> Take(uint64_t size_bytes) override {
    if (next_ < recorded_.size()) {
      const BfcRegion& region = recorded_[next_];
      if (region.size_bytes == size_bytes) {
        ++next_;
        return region;
      }
      if (refuses_ && region.size_bytes < size_bytes) return std::nullopt;
    }
    if (size_bytes > UINT64_MAX - kGapBytes - free_address_) {
      return std::nullopt;
    }
    const uint64_t address = free_address_;
    free_address_ += size_bytes + kGapBytes;
    return BfcRegion{address, size_bytes};
  }
  void GiveBack(const BfcRegion&) override {}

 private:
  std::vector<BfcRegion> recorded_;
  size_t next_ = 0;
  uint64_t free_address_ = 0;
  const bool refuses_;
};

// One run of the rows through a model.
class Trial {
 public:
  Trial(const AllocatorReplay& replay, const BfcSettings& settings,
        const Scenario& scenario, const PoolSimulator::Range& range,
        bool is_another_program = false)
      : replay_(replay),
        trace_(replay.trace()),
        scenario_(scenario),
        range_(range),
        settings_(Changed(settings, scenario)),
        is_as_set_(settings_.limit_bytes == settings.limit_bytes &&
                   settings_.allow_growth == settings.allow_growth),
        grew_(settings.allow_growth),
        // With other requests the pool takes other regions: that TensorFlow
        // then got a smaller one says nothing of what the system would give.
        regions_(std::make_unique<RecordedRegions>(
            replay, range.from,
            !is_another_program && is_as_set_ && !scenario.resized &&
                !scenario.is_left_out)) {}

  Simulation Run(const ServingOrder& order) {
    Start();
    Row rows = 0;
    for (const Row row : order.rows) {
      StopIfCancelled(rows++);
      if (HasEnded()) break;
      if (row < range_.from || row >= range_.to) continue;
      if (row == range_.map_at) TakeMap();
      Serve(row);
    }
    if (!HasEnded() && range_.to < trace_.row_count() &&
        trace_.kind_of[range_.to] == RowKind::kFailed) {
      result_.reached_end = true;
      Allocate(range_.to);
      for (const Row row : scenario_.then_like) {
        if (!HasEnded()) Allocate(row);
      }
    }
    if (!has_map_) TakeMap();
    return std::move(result_);
  }

  std::optional<ServedPool> Serve(const ServingOrder& order,
                                  const std::function<bool(Row)>& is_skipped) {
    Start();
    Row rows = 0;
    for (const Row row : order.rows) {
      StopIfCancelled(rows++);
      if (HasEnded()) return std::nullopt;
      if (row < range_.from || row >= range_.to || is_skipped(row)) continue;
      Serve(row);
    }
    if (HasEnded()) return std::nullopt;
    return ServedPool{std::move(regions_), std::move(model_),
                      std::move(chunk_of_)};
  }

 private:
  bool HasEnded() const { return result_.refused != kNoRow; }

  uint64_t RequestedBytes(Row row) const {
    const uint64_t bytes = replay_.SiteOf(row).requested_bytes;
    return scenario_.resized ? scenario_.resized(row, bytes) : bytes;
  }
  bool IsLeftOut(Row row) const {
    return scenario_.is_left_out && scenario_.is_left_out(row);
  }

  // What was live lies where it lay, if the pool could have come to be so.
  void Start() {
    if (!trace_.has_layout) {
      StartAnew();
      return;
    }
    PoolState pool = PoolAt(replay_, range_.from);
    uint64_t reserved_bytes = 0;
    for (const BfcRegion& region : pool.regions) {
      reserved_bytes += region.size_bytes;
    }
    const bool could_be =
        grew_ && settings_.allow_growth
            ? reserved_bytes <= settings_.limit_bytes
            : !grew_ && !settings_.allow_growth &&
                  ResizeOnlyRegion(settings_.limit_bytes, &pool);
    if (is_as_set_ || could_be) {
      StartFrom(pool);
    } else {
      StartAnew();
    }
  }

  void StartFrom(const PoolState& pool) {
    std::vector<BfcChunk> chunks;
    std::vector<std::pair<Row, ChunkId>> holders;
    for (size_t i = 0; i < pool.chunks.size(); ++i) {
      const BfcChunk& chunk = pool.chunks[i];
      const Row row = pool.holders[i];
      if (row == kNoRow || IsLeftOut(row)) {
        chunks.push_back({chunk.address, chunk.size_bytes, false});
        continue;
      }
      const uint64_t bytes = BytesHeld(row, chunk.size_bytes);
      holders.emplace_back(row, static_cast<ChunkId>(chunks.size()));
      chunks.push_back({chunk.address, bytes, true});
      if (bytes < chunk.size_bytes) {
        chunks.push_back(
            {chunk.address + bytes, chunk.size_bytes - bytes, false});
      }
    }
    model_ = std::make_unique<BfcModel>(
        settings_, regions_.get(), pool.regions, chunks,
        NextRegionBytes(settings_, pool.region_sizes_bytes));
    for (const auto& [row, id] : holders) chunk_of_[row] = id;
    Note();
  }

  // Smaller where the scenario makes it so, with a hole behind it.
  uint64_t BytesHeld(Row row, uint64_t held_bytes) const {
    const uint64_t before = replay_.SiteOf(row).requested_bytes;
    const uint64_t after = RequestedBytes(row);
    if (after == before) return held_bytes;
    return std::min(held_bytes, RoundedBytes(std::max<uint64_t>(after, 1)));
  }

  void StartAnew() {
    model_ = std::make_unique<BfcModel>(settings_, regions_.get());
    std::vector<Row> live = replay_.LiveAt(range_.from);
    std::sort(live.begin(), live.end(), [this](Row a, Row b) {
      return replay_.BornPs(a) < replay_.BornPs(b);
    });
    for (const Row row : live) {
      if (!HasEnded()) Allocate(row);
    }
  }

  void Serve(Row row) {
    switch (trace_.kind_of[row]) {
      case RowKind::kAlloc:
        GiveBackHeldBy(row);
        Allocate(row);
        break;
      case RowKind::kFree:
        Free(replay_.PartnerOf(row));
        break;
      case RowKind::kFailed:
        ServeFailed(row);
        break;
      case RowKind::kRegionAdd:
      case RowKind::kRegionRemove:
        break;
    }
  }

  void Free(Row alloc) {
    const auto live = chunk_of_.find(alloc);
    if (live == chunk_of_.end()) return;
    model_->Free(live->second);
    chunk_of_.erase(live);
  }

  // TensorFlow's attempt changes the pool too, even if it fails. What it gets
  // here, but did not there, it holds until its thread goes on without it.
  void ServeFailed(Row row) {
    GiveBackHeldBy(row);
    if (IsLeftOut(row)) return;
    const ChunkId chunk = model_->Allocate(RequestedBytes(row));
    const FailedRequest* failed = trace_.FailureOf(row);
    if (chunk != kNoChunk) {
      held_[trace_.ContextOf(row).thread] = row;
      chunk_of_[row] = chunk;
      Note();
    } else if (result_.refused_again == kNoRow &&
               (failed == nullptr || failed->is_oom)) {
      result_.refused_again = row;
    }
  }

  void GiveBackHeldBy(Row row) {
    if (held_.empty()) return;
    const auto held = held_.find(trace_.ContextOf(row).thread);
    if (held == held_.end()) return;
    Free(held->second);
    held_.erase(held);
  }

  void Allocate(Row row) {
    if (IsLeftOut(row)) return;
    const ChunkId chunk = model_->Allocate(RequestedBytes(row));
    if (chunk == kNoChunk) {
      Refuse(row);
      return;
    }
    if (trace_.kind_of[row] == RowKind::kAlloc) {
      ++result_.requests;
      if (model_->chunk(chunk).address != trace_.address[row]) {
        ++result_.moved;
      }
    }
    chunk_of_[row] = chunk;
    Note();
  }

  void Refuse(Row row) {
    result_.refused = row;
    result_.refused_bytes = RequestedBytes(row);
  }

  void Note() {
    result_.peak_in_use_bytes =
        std::max(result_.peak_in_use_bytes, model_->in_use_bytes());
    result_.peak_reserved_bytes =
        std::max(result_.peak_reserved_bytes, model_->reserved_bytes());
  }

  void TakeMap() {
    has_map_ = true;
    result_.in_use_bytes = model_->in_use_bytes();
    result_.free_bytes = model_->free_bytes();
    result_.largest_free_bytes = model_->largest_free_bytes();
    if (!range_.map_at.has_value()) return;
    absl::flat_hash_map<ChunkId, Row> row_of;
    for (const auto& [row, chunk] : chunk_of_) row_of[chunk] = row;
    result_.regions = model_->Regions();
    for (const ChunkId id : model_->ChunksInOrder()) {
      const PoolChunk& chunk = model_->chunk(id);
      const auto row = row_of.find(id);
      const bool is_free = chunk.state == PoolChunk::State::kFree;
      result_.chunks.push_back(
          {chunk.address, chunk.size_bytes,
           is_free || row == row_of.end() ? kNoRow : row->second});
    }
  }

  const AllocatorReplay& replay_;
  const AllocatorTrace& trace_;
  const Scenario& scenario_;
  const PoolSimulator::Range& range_;
  const BfcSettings settings_;
  // As TensorFlow's pool was.
  const bool is_as_set_;
  // TensorFlow's pool grew region by region.
  const bool grew_;
  std::unique_ptr<RecordedRegions> regions_;
  std::unique_ptr<BfcModel> model_;
  // Where the live allocations lie in the model.
  absl::flat_hash_map<Row, ChunkId> chunk_of_;
  // By thread: what a request got that failed when it was recorded.
  absl::flat_hash_map<uint64_t, Row> held_;
  bool has_map_ = false;
  Simulation result_;
};

}  // namespace

BfcSettings Changed(BfcSettings settings, const Scenario& scenario) {
  if (scenario.limit_bytes.has_value()) {
    settings.limit_bytes = *scenario.limit_bytes;
  }
  if (scenario.one_region) settings.allow_growth = false;
  if (scenario.grows) settings.allow_growth = true;
  if (scenario.garbage_collection.has_value()) {
    settings.garbage_collection = *scenario.garbage_collection;
  }
  return settings;
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
  if (second.garbage_collection.has_value()) {
    both.garbage_collection = second.garbage_collection;
  }
  both.one_region = first.one_region || second.one_region;
  both.grows = first.grows || second.grows;
  // Both know of the same rest of the step; one may know of more.
  if (second.then_like.size() > both.then_like.size()) {
    both.then_like = second.then_like;
  }
  return both;
}

Simulation PoolSimulator::Run(const Scenario& scenario,
                              const Range& range) const {
  return Trial(replay_, settings_, scenario, range).Run(order_);
}

std::optional<ServedPool> PoolSimulator::Serve(
    const Scenario& scenario, const Range& range,
    const std::function<bool(Row)>& is_skipped) const {
  return Trial(replay_, settings_, scenario, range,
               /*is_another_program=*/true)
      .Serve(order_, is_skipped);
}

}  // namespace oom_forensics
