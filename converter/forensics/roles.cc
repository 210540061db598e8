#include "converter/forensics/roles.h"

#include <algorithm>
#include <string>

#include "converter/cancellation/cancellation.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"
#include "core/data_types.h"

namespace oom_forensics {
namespace {

RequestKind KindOf(const HostTrace& host, const AllocationSite& site,
                   std::string& dtype) {
  RequestKind kind;
  kind.region_type = host.strings.Get(site.region_type);
  dtype = DtypeName(site.dtype);
  kind.dtype = dtype;
  std::vector<int64_t> dims;
  kind.has_shape = ParseShape(host.ShapeOf(site), &dims);
  kind.rank = dims.size();
  kind.eager = ModeOf(host, site) == EAGER;
  const OpSource* source = host.source.OpOf(site.op);
  kind.of_optimizer = source != nullptr && source->of_optimizer;
  return kind;
}

bool IsFloating(int32_t dtype) {
  const std::string name = DtypeName(dtype);
  return StartsWith(name, "float") || StartsWith(name, "bfloat") ||
         StartsWith(name, "complex");
}

// Counters, shapes and the like: no role of theirs matters.
bool IsBookkeeping(const HostTrace& host, const AllocationSite& site) {
  if (IsFloating(site.dtype) || DtypeName(site.dtype) == "bool") return false;
  std::vector<int64_t> dims;
  return !ParseShape(host.ShapeOf(site), &dims) || dims.size() <= 1;
}

}  // namespace

Mode ModeOf(const HostTrace& host, const AllocationSite& site) {
  if (site.mode == SiteMode::kEager) return EAGER;
  if (site.mode == SiteMode::kGraph) return GRAPH;
  const std::string& op = host.OpOf(site);
  return op.find('/') != std::string::npos || StartsWith(op, "__inference_")
             ? GRAPH
             : MODE_UNKNOWN;
}

RoleClassifier::RoleClassifier(const AllocatorReplay& replay)
    : replay_(replay) {
  ReadSites();
  FindUpdates();
}

void RoleClassifier::ReadSites() {
  const HostTrace& host = replay_.host();
  purpose_.resize(host.sites.size());
  has_gradient_.resize(host.sites.size());
  absl::flat_hash_set<std::string_view> ops_with_gradient;
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    const AllocationSite& site = host.sites.Get(id);
    std::string dtype;
    purpose_[id] = PurposeOf(host.OpOf(site), KindOf(host, site, dtype));
    if (const CompiledRequest* compiled = host.CompiledOf(site)) {
      purpose_[id] = compiled->kind == BufferKind::kTemp ? OpPurpose::kWorkspace
                                                         : OpPurpose::kUnknown;
    }
    if (purpose_[id] != OpPurpose::kGradient) continue;
    const std::string_view path = LayerPath(host.OpOf(site));
    const size_t slash = path.rfind('/');
    if (slash != std::string_view::npos) {
      ops_with_gradient.insert(path.substr(0, slash));
    }
  }
  for (const CompiledModule& module : host.modules) {
    for (const ProgramStep& step : module.program) {
      if (!IsGradientName(step.op_name)) continue;
      const std::string_view path = LayerPath(step.op_name);
      const size_t slash = path.rfind('/');
      if (slash != std::string_view::npos) {
        ops_with_gradient.insert(path.substr(0, slash));
      }
    }
  }
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    const AllocationSite& site = host.sites.Get(id);
    has_gradient_[id] = purpose_[id] == OpPurpose::kUnknown &&
                        ModeOf(host, site) != EAGER &&
                        ops_with_gradient.contains(LayerPath(host.OpOf(site)));
  }
}

void RoleClassifier::FindUpdates() {
  const HostTrace& host = replay_.host();
  const AllocatorTrace& trace = replay_.trace();
  // Sites are few and rows are many: what a row is looked at for is decided by
  // its site. The first row of a site tells all there is to know of it.
  std::vector<bool> is_open(host.sites.size());
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    const AllocationSite& site = host.sites.Get(id);
    is_open[id] = purpose_[id] == OpPurpose::kOptimizerSlot ||
                  ((purpose_[id] == OpPurpose::kOptimizerUpdate ||
                    purpose_[id] == OpPurpose::kVariableUpdate) &&
                   site.shape != kEmptyString && IsFloating(site.dtype));
  }
  for (Row row = 0; row < trace.row_count(); ++row) {
    StopIfCancelled(row);
    const SiteId id = trace.site[row];
    if (trace.kind_of[row] != RowKind::kAlloc || !is_open[id]) continue;
    const AllocationSite& site = host.sites.Get(id);
    if (purpose_[id] == OpPurpose::kOptimizerSlot) {
      first_slot_.try_emplace(site.requested_bytes, row);
    } else {
      first_update_.try_emplace(site.shape, row);
    }
    is_open[id] = false;
  }
  may_have_witness_.resize(host.sites.size());
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    const AllocationSite& site = host.sites.Get(id);
    may_have_witness_[id] = purpose_[id] == OpPurpose::kUnknown &&
                            IsFloating(site.dtype) &&
                            site.shape != kEmptyString &&
                            (first_update_.contains(site.shape) ||
                             first_slot_.contains(site.requested_bytes));
    is_open[id] = may_have_witness_[id] && OpTypeOf(host.OpOf(site)) != "Fill";
  }
  for (Row row = 0; row < trace.row_count(); ++row) {
    StopIfCancelled(row);
    const SiteId id = trace.site[row];
    if (trace.kind_of[row] != RowKind::kAlloc || !is_open[id] ||
        WitnessOf(row) == kNoRow) {
      continue;
    }
    random_variables_.insert(host.sites.Get(id).shape);
    is_open[id] = false;
  }
}

Row RoleClassifier::WitnessOf(Row alloc) const {
  if (!may_have_witness_[replay_.trace().site[alloc]]) return kNoRow;
  const AllocationSite& site = replay_.SiteOf(alloc);
  const auto shows = [&](Row witness) {
    // Every eager op is a run of its own, without an id.
    return replay_.IsLiveAt(alloc, witness) &&
           (site.mode == SiteMode::kEager ||
            replay_.trace().ContextOf(alloc).step_id !=
                replay_.trace().ContextOf(witness).step_id);
  };
  const auto update = first_update_.find(site.shape);
  if (update != first_update_.end() && shows(update->second)) {
    return update->second;
  }
  const auto slot = first_slot_.find(site.requested_bytes);
  if (slot != first_slot_.end() && shows(slot->second)) return slot->second;
  return kNoRow;
}

bool RoleClassifier::OutlivesItsStep(Row alloc) const {
  const std::vector<TrainingStep>& steps = replay_.host().steps;
  const int64_t born_ps = replay_.BornPs(alloc);
  const auto next = std::partition_point(
      steps.begin(), steps.end(),
      [born_ps](const TrainingStep& step) { return step.end_ps <= born_ps; });
  if (next == steps.end()) return false;
  const Row end = replay_.EndOf(alloc);
  if (end == kNoRow) return replay_.trace().time_ps.back() >= next->end_ps;
  return replay_.trace().time_ps[end] >= next->end_ps;
}

Role RoleClassifier::RoleByLifetime(Row alloc) const {
  if (WitnessOf(alloc) == kNoRow) return ROLE_UNKNOWN;
  const AllocationSite& site = replay_.SiteOf(alloc);
  if (OpTypeOf(replay_.host().OpOf(site)) != "Fill") return ROLE_VARIABLE;
  return random_variables_.contains(site.shape) ? ROLE_OPTIMIZER : ROLE_UNKNOWN;
}

Role RoleClassifier::RoleOf(Row alloc) const {
  const SiteId site = replay_.trace().site[alloc];
  switch (purpose_[site]) {
    case OpPurpose::kOptimizerUpdate:
      return OutlivesItsStep(alloc) ? ROLE_OPTIMIZER : ROLE_WORKSPACE;
    case OpPurpose::kVariableUpdate:
      return OutlivesItsStep(alloc) ? ROLE_VARIABLE : ROLE_WORKSPACE;
    case OpPurpose::kUnknown: {
      const Role role = RoleByLifetime(alloc);
      return role != ROLE_UNKNOWN ? role : RoleOfFailed(site);
    }
    default:
      return RoleOfFailed(site);
  }
}

Role RoleClassifier::RoleOfFailed(SiteId id) const {
  const HostTrace& host = replay_.host();
  const AllocationSite& site = host.sites.Get(id);
  switch (purpose_[id]) {
    case OpPurpose::kVariable:
      return ROLE_VARIABLE;
    case OpPurpose::kOptimizerSlot:
    case OpPurpose::kOptimizerUpdate:
    case OpPurpose::kVariableUpdate:
      return ROLE_OPTIMIZER;
    case OpPurpose::kGradient:
      return IsBookkeeping(host, site) ? ROLE_UNKNOWN : ROLE_GRADIENT;
    case OpPurpose::kForward:
      return IsBookkeeping(host, site) ? ROLE_UNKNOWN : ROLE_ACTIVATION;
    case OpPurpose::kInput:
      return ROLE_INPUT;
    case OpPurpose::kWorkspace:
      return ROLE_WORKSPACE;
    case OpPurpose::kUnknown:
      return has_gradient_[id] && !IsBookkeeping(host, site) ? ROLE_ACTIVATION
                                                             : ROLE_UNKNOWN;
  }
  return ROLE_UNKNOWN;
}

}  // namespace oom_forensics
