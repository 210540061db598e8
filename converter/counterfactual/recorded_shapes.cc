#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "converter/cancellation/cancellation.h"
#include "converter/counterfactual/counterfactual.h"
#include "converter/counterfactual/recorded_step.h"
#include "core/data_types.h"

namespace oom_forensics {
namespace {

// What hands out the batches of a pipeline.
constexpr std::string_view kNext = "IteratorGetNext";

// What ops of the trace asked for each op and shape once.
class ShapeCollector {
 public:
  ShapeCollector(const AllocatorReplay& replay, const RoleClassifier& roles,
                 const std::vector<Row>& live, Row last)
      : host_(replay.host()) {
    absl::flat_hash_map<SiteId, uint64_t> live_bytes;
    for (const Row row : live) {
      live_bytes[replay.trace().site[row]] += replay.BytesOf(row);
      const Role role = roles.RoleOf(row);
      if (role == ROLE_VARIABLE || role == ROLE_OPTIMIZER) {
        variable_shapes_.insert(replay.SiteOf(row).shape);
      }
    }
    const bool refused = last < replay.end_position() &&
                         replay.trace().kind_of[last] == RowKind::kFailed;
    if (refused) refused_ = replay.trace().site[last];
    std::vector<bool> seen(host_.sites.size());
    for (Row row = 0; row <= last && row < replay.end_position(); ++row) {
      StopIfCancelled(row);
      const RowKind kind = replay.trace().kind_of[row];
      if (kind != RowKind::kAlloc && kind != RowKind::kFailed) continue;
      const SiteId site = replay.trace().site[row];
      if (seen[site]) continue;
      seen[site] = true;
      const auto parts = host_.block_parts.find(site);
      if (parts != host_.block_parts.end()) {
        for (const SitePart& part : parts->second) {
          Add(part.site, host_.sites.Get(part.site).allocated_bytes);
        }
        continue;
      }
      const auto bytes = live_bytes.find(site);
      Add(site, bytes == live_bytes.end() ? 0 : bytes->second);
    }
  }

  const std::vector<ShapeUse>& uses() const { return uses_; }

 private:
  void Add(SiteId id, uint64_t bytes) {
    const AllocationSite& site = host_.sites.Get(id);
    ShapeUse use;
    use.op = host_.OpOf(site);
    use.bytes = bytes;
    use.is_variable = variable_shapes_.count(site.shape) != 0;
    use.is_graph_node = ModeOf(host_, site) == GRAPH;
    use.is_input = use.op == kNext || use.op.empty();
    // In a graph of its own it may be tf.data's, which picks examples so.
    use.is_gathered = !use.is_graph_node &&
                      (use.op == "GatherV2" || use.op == "ResourceGather");
    use.is_refused = id == refused_;
    if (!ParseShape(host_.ShapeOf(site), &use.dims) || use.dims.empty()) return;
    // Shapes, indices and counters: vectors of integers, not data.
    const std::string dtype = DtypeName(site.dtype);
    if (use.dims.size() == 1 && dtype.find("int") != std::string::npos) return;
    const auto [known, inserted] =
        index_.try_emplace({site.op, site.shape}, uses_.size());
    if (inserted) {
      uses_.push_back(std::move(use));
    } else {
      uses_[known->second].bytes += bytes;
      uses_[known->second].is_refused |= use.is_refused;
    }
  }

  const HostTrace& host_;
  std::optional<SiteId> refused_;
  std::set<StringId> variable_shapes_;
  absl::flat_hash_map<std::pair<StringId, StringId>, size_t> index_;
  std::vector<ShapeUse> uses_;
};

}  // namespace

std::vector<ShapeUse> RecordedShapes(const AllocatorReplay& replay,
                                     const RoleClassifier& roles,
                                     const std::vector<Row>& live, Row last) {
  return ShapeCollector(replay, roles, live, last).uses();
}

std::optional<BatchDimension> RecordedBatch(const AllocatorReplay& replay,
                                            const RoleClassifier& roles,
                                            const std::vector<Row>& live,
                                            Row last) {
  auto batch = BatchDimension::Find(RecordedShapes(replay, roles, live, last));
  const bool refused = last < replay.end_position() &&
                       replay.trace().kind_of[last] == RowKind::kFailed;
  const ForecastTrace* const forecast =
      refused ? ForecastOf(replay, last) : nullptr;
  if (batch.has_value() && forecast != nullptr && forecast->batch > 0 &&
      forecast->batch != batch->size()) {
    return std::nullopt;
  }
  return batch;
}

}  // namespace oom_forensics
