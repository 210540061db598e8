#include "converter/forensics/oom_case/oom_case.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "converter/counterfactual/recorded_step.h"
#include "converter/counterfactual/refused_step.h"
#include "converter/replay/dump_comparison.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

// The share of a limit that a full pool has left in its gaps.
constexpr double kCrumbs = 0.02;

// TensorFlow's own chunk map is of the same moment as the failure's numbers,
// and has every chunk, whatever the recording may lack.
std::optional<FreeSpace> FreeInDump(
    const FailedRequest& failure,
    std::vector<std::pair<uint64_t, uint64_t>> regions,
    uint64_t* reserved_bytes) {
  const std::vector<DumpedChunk> dump = ParseMemoryDump(failure.Dump());
  if (dump.empty()) return std::nullopt;
  FreeSpaceCounter counter(std::move(regions));
  *reserved_bytes = 0;
  for (const DumpedChunk& chunk : dump) {
    *reserved_bytes += chunk.size_bytes;
    if (!chunk.in_use) counter.AddFreeChunk(chunk.address, chunk.size_bytes);
  }
  return counter.Total();
}

FreeSpace FreeInLayout(const Layout& layout,
                       std::vector<std::pair<uint64_t, uint64_t>> regions) {
  FreeSpaceCounter counter(std::move(regions));
  for (const RegionLayout& region : layout) {
    for (const Block& block : region.blocks) {
      if (block.free()) counter.AddFreeChunk(block.address, block.size_bytes);
    }
  }
  return counter.Total();
}

PoolNumbers NumbersOf(const AllocatorReplay& replay, Row row,
                      const Layout& layout,
                      const std::optional<DevicePressure>& device) {
  const FailedRequest* failure = replay.trace().FailureOf(row);
  PoolNumbers pool;
  pool.has_layout = replay.trace().has_layout;
  pool.request_bytes = replay.BytesToPlace(replay.SiteOf(row).requested_bytes);
  pool.limit_bytes = replay.trace().LimitAt(row);
  pool.LimitBy(replay.trace().name, replay.host().facts.environment);
  pool.reserved_bytes = replay.usage().At(row).reserved_bytes;
  if (device.has_value()) pool.device = *device;
  if (!pool.has_layout) {
    if (failure != nullptr && failure->in_use_bytes != 0) {
      pool.reserved_bytes = failure->in_use_bytes;
    }
    // CUDA's own pool may take all that the device has.
    if (pool.limit_bytes == 0 && pool.device.has_value()) {
      pool.limit_bytes = pool.reserved_bytes + pool.device->free_bytes;
    }
    return pool;
  }
  std::vector<std::pair<uint64_t, uint64_t>> regions;
  if (!replay.regions_derived()) {
    for (const RegionLayout& region : layout) {
      regions.emplace_back(region.address, region.size_bytes);
    }
  }
  if (failure != nullptr) {
    pool.free = FreeInDump(*failure, regions, &pool.reserved_bytes);
  }
  if (!pool.free.has_value()) {
    pool.free = FreeInLayout(layout, std::move(regions));
  }
  return pool;
}

}  // namespace

OomCase::OomCase(const AllocatorReplay& replay, const RoleClassifier& roles,
                 Row failure, std::shared_ptr<const LeakSearchResult> leaks,
                 const std::optional<DevicePressure>& device)
    : replay_(replay),
      roles_(roles),
      failure_(failure),
      device_(device),
      usage_(replay.usage().At(failure)),
      layout_(LayoutAt(replay, failure)),
      live_(replay.LiveAt(failure)),
      pool_(NumbersOf(replay, failure, layout_, device_)),
      leaks_(std::move(leaks)),
      what_if_(replay, failure,
               device_is_full() ? usage_.reserved_bytes + growable_bytes()
                                : limit_bytes()) {
  if (const CompiledAllocation* const block = this->block(); block != nullptr) {
    block_batch_ =
        BlockBatch::Find(*host().ModuleOf(*host().CompiledOf(site())), *block);
  }
  if (block_batch_.has_value()) {
    const BlockBatch::Share share = block_batch_->ShareOf(*block());
    batch_ = BatchDimension::OfBlock(block_batch_->size(), share.buffers,
                                     share.of_buffers);
  } else {
    batch_ = RecordedBatch(replay, roles, live_, failure);
  }
  step_ = StepOfRefusal(replay, roles, failure, limit_bytes(), leaks_->steps,
                        what_if_.order());
}

int64_t OomCase::replica_count() const {
  absl::flat_hash_set<std::string_view> names = {""};
  for (SiteId id = 0; id < host().sites.size(); ++id) {
    names.insert(ReplicaOf(host().OpOf(host().sites.Get(id))));
  }
  return static_cast<int64_t>(names.size());
}

bool OomCase::IsOfThisStep(Row alloc) const {
  if (!host().steps.empty()) {
    const int64_t now = host().StepAt(replay_.trace().time_ps[failure_]);
    if (now != kUnknownStep) return host().StepAt(replay_.BornPs(alloc)) == now;
  }
  const int64_t step_id = replay_.trace().ContextOf(failure_).step_id;
  if (step_id != 0) {
    return replay_.trace().ContextOf(alloc).step_id == step_id;
  }
  // Eager ops have no id, nor has anything in TensorFlow 2.20 and older.
  return !steps().spans().empty() && alloc >= steps().spans().back().end;
}

const CompiledAllocation* OomCase::block() const {
  if (!host().block_parts.contains(replay_.trace().site[failure_])) {
    return nullptr;
  }
  return host().AllocationOf(*host().CompiledOf(site()));
}

bool OomCase::IsFull() const {
  return has_layout() && limit_bytes() != 0 &&
         static_cast<double>(available_bytes()) <
             kCrumbs * static_cast<double>(limit_bytes());
}

bool OomCase::OnGpu() const { return StartsWith(replay_.trace().name, "GPU"); }

}  // namespace oom_forensics
