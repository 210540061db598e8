#include "converter/compiled/module_match.h"

#include <algorithm>
#include <map>
#include <utility>

#include "converter/compiled/module_plan.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// A module whose requests are all small is asked for by chance, too.
constexpr uint64_t kTellingBytes = 4096;
constexpr size_t kTellingLength = 3;
// Modules that begin with a request of the same size; of more the first.
constexpr size_t kMaxAlike = 256;

}  // namespace

ModuleMatcher::ModuleMatcher(HostTrace* trace) : trace_(*trace) {
  for (size_t i = 0; i < trace->modules.size(); ++i) {
    const CompiledModule& module = trace->modules[i];
    functions_.push_back(trace->strings.Intern(module.function));
    names_.push_back(trace->strings.Intern(module.name));
    by_name_.try_emplace(std::pair(module.program_id, names_.back()), i);
    Sequence sequence{static_cast<int32_t>(i), {}, FreshResults(module)};
    uint64_t largest = 0;
    for (const CompiledAllocation& allocation : module.allocations) {
      if (!IsAskedFor(allocation)) continue;
      sequence.allocations.push_back(&allocation);
      largest = std::max(largest, allocation.size_bytes);
    }
    if (largest >= kTellingBytes ||
        sequence.allocations.size() >= kTellingLength) {
      sequences_.push_back(std::move(sequence));
    }
  }
  for (size_t i = 0; i < sequences_.size(); ++i) {
    std::vector<size_t>& alike =
        by_first_size_[sequences_[i].allocations.front()->size_bytes];
    if (alike.size() < kMaxAlike) alike.push_back(i);
  }
}

CompiledRequest ModuleMatcher::Resolve(const CompiledRequest& recorded,
                                       uint64_t requested_bytes) const {
  CompiledRequest request = recorded;
  const auto known =
      by_name_.find(std::pair(recorded.program_id, recorded.module_name));
  if (known == by_name_.end()) return request;
  const CompiledModule& module = trace_.modules[known->second];
  request.module = static_cast<int32_t>(known->second);
  if (request.function == kEmptyString) {
    request.function = functions_[known->second];
  }
  request.match = RequestMatch::kRecorded;
  const CompiledAllocation* found = module.AllocationOf(recorded.allocation);
  if (found == nullptr) {
    request.match = RequestMatch::kBySize;
    for (const CompiledAllocation& allocation : module.allocations) {
      if (!IsAskedFor(allocation) || allocation.size_bytes != requested_bytes ||
          (recorded.has_kind && allocation.kind != recorded.kind)) {
        continue;
      }
      if (found != nullptr) request.others_fit = true;
      if (found == nullptr) found = &allocation;
    }
  }
  if (found == nullptr) {
    request.match = RequestMatch::kNone;
    return request;
  }
  request.allocation = found->index;
  request.kind = found->kind;
  request.has_kind = true;
  return request;
}

bool ModuleMatcher::MayBeXla(const AllocationSite& site) const {
  if (site.compiled != 0) return false;
  const std::string& op = trace_.OpOf(site);
  if (op.empty() || StartsWith(op, "__inference_")) return true;
  const std::string_view type = OpTypeOf(op);
  return type == "xla_run" || type == "_XlaRun" || type == "XlaLaunch" ||
         type == "StatefulPartitionedCall" || type == "PartitionedCall";
}

size_t ModuleMatcher::LengthAt(const Sequence& sequence,
                               const AllocatorTrace& allocator,
                               const std::vector<Row>& rows, size_t at) const {
  for (size_t i = 0; i < sequence.allocations.size(); ++i) {
    if (at + i >= rows.size()) return 0;
    const Row row = rows[at + i];
    const AllocationSite& site = trace_.sites.Get(allocator.site[row]);
    if (site.requested_bytes != sequence.allocations[i]->size_bytes) return 0;
    // A run ends with the request that failed.
    if (allocator.kind_of[row] == RowKind::kFailed) return i + 1;
  }
  return sequence.allocations.size();
}

ModuleMatcher::Found ModuleMatcher::FindAt(const AllocatorTrace& allocator,
                                           const std::vector<Row>& rows,
                                           size_t at) const {
  Found found;
  const AllocationSite& first = trace_.sites.Get(allocator.site[rows[at]]);
  const auto candidates = by_first_size_.find(first.requested_bytes);
  if (candidates == by_first_size_.end()) return found;
  for (const size_t i : candidates->second) {
    const size_t length = LengthAt(sequences_[i], allocator, rows, at);
    if (length == 0) continue;
    if (length == found.length) found.others_fit = true;
    if (length > found.length) found = {&sequences_[i], length, false};
  }
  return found;
}

CompiledRequest ModuleMatcher::RequestOf(const Sequence& sequence,
                                         size_t i) const {
  const auto module = static_cast<size_t>(sequence.module);
  const CompiledAllocation& allocation = *sequence.allocations[i];
  CompiledRequest request;
  request.function = functions_[module];
  request.module_name = names_[module];
  request.program_id = trace_.modules[module].program_id;
  request.module = sequence.module;
  request.allocation = allocation.index;
  request.kind = allocation.kind;
  request.has_kind = true;
  request.match = RequestMatch::kByOrder;
  return request;
}

size_t ModuleMatcher::MatchBeyond(const Sequence& sequence,
                                  const AllocatorTrace& allocator,
                                  const std::vector<Row>& rows, size_t at,
                                  std::vector<RowMatch>* matches) const {
  int32_t from = 0;
  while (at < rows.size() && FindAt(allocator, rows, at).length < 2) {
    const uint64_t bytes =
        trace_.sites.Get(allocator.site[rows[at]]).requested_bytes;
    const int32_t result = sequence.fresh_results.NextOf(bytes, from);
    if (result == FreshResults::kNone) break;
    CompiledRequest request = RequestOf(sequence, 0);
    SetFreshResult(trace_, result, &request);
    request.others_fit =
        sequence.fresh_results.NextOf(bytes, result + 1) != FreshResults::kNone;
    matches->push_back({rows[at++], request});
    from = result + 1;
  }
  return at;
}

std::vector<RowMatch> ModuleMatcher::MatchRows(
    const AllocatorTrace& allocator) const {
  std::vector<RowMatch> matches;
  if (sequences_.empty()) return matches;
  std::vector<bool> may_be(trace_.sites.size());
  for (SiteId id = 0; id < may_be.size(); ++id) {
    may_be[id] = MayBeXla(trace_.sites.Get(id));
  }
  std::map<uint64_t, std::vector<Row>> by_thread;
  for (Row row = allocator.baseline_rows; row < allocator.row_count(); ++row) {
    const RowKind kind = allocator.kind_of[row];
    if ((kind == RowKind::kAlloc || kind == RowKind::kFailed) &&
        may_be[allocator.site[row]]) {
      by_thread[allocator.ContextOf(row).thread].push_back(row);
    }
  }
  for (const auto& [thread, rows] : by_thread) {
    for (size_t at = 0; at < rows.size();) {
      const Found found = FindAt(allocator, rows, at);
      if (found.sequence == nullptr) {
        ++at;
        continue;
      }
      for (size_t i = 0; i < found.length; ++i) {
        CompiledRequest request = RequestOf(*found.sequence, i);
        request.others_fit = found.others_fit;
        matches.push_back({rows[at + i], request});
      }
      at += found.length;
      if (found.length < found.sequence->allocations.size()) continue;
      at = MatchBeyond(*found.sequence, allocator, rows, at, &matches);
    }
  }
  return matches;
}

}  // namespace oom_forensics
