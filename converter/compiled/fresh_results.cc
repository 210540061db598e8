#include "converter/compiled/fresh_results.h"

#include <algorithm>

namespace oom_forensics {
namespace {

bool IsBeyondThePlan(const HostTrace& trace, const AllocationSite& site) {
  const CompiledRequest* request = trace.CompiledOf(site);
  if (request == nullptr || request->fresh_result >= 0 ||
      (request->match != RequestMatch::kNone &&
       request->match != RequestMatch::kBySize) ||
      (request->has_kind && request->kind != BufferKind::kOutput)) {
    return false;
  }
  const CompiledModule* module = trace.ModuleOf(*request);
  return module != nullptr && !module->fresh_results.empty();
}

class FreshResultMatcher {
 public:
  FreshResultMatcher(const HostTrace& trace, const AllocatorTrace& allocator)
      : trace_(trace), allocator_(allocator) {}

  std::vector<RowMatch> Run() {
    enum class Site : uint8_t { kOther, kPlanned, kBeyond };
    std::vector<Site> sites(trace_.sites.size());
    bool any = false;
    for (SiteId id = 0; id < sites.size(); ++id) {
      const AllocationSite& site = trace_.sites.Get(id);
      if (site.compiled == 0) continue;
      const bool beyond = IsBeyondThePlan(trace_, site);
      sites[id] = beyond ? Site::kBeyond : Site::kPlanned;
      any |= beyond;
    }
    if (!any) return {};
    // By thread: what a run asked for beyond its plan so far.
    absl::flat_hash_map<uint64_t, std::vector<Row>> asked;
    for (Row row = 0; row < allocator_.row_count(); ++row) {
      const RowKind kind = allocator_.kind_of[row];
      if (kind != RowKind::kAlloc && kind != RowKind::kFailed) continue;
      const Site site = sites[allocator_.site[row]];
      if (site == Site::kOther) continue;
      std::vector<Row>& rows = asked[allocator_.ContextOf(row).thread];
      if (site == Site::kPlanned ||
          (!rows.empty() && ModuleOf(rows.back()) != ModuleOf(row))) {
        Match(rows);
        rows.clear();
      }
      if (site == Site::kBeyond) rows.push_back(row);
    }
    for (const auto& [thread, rows] : asked) Match(rows);
    return std::move(matches_);
  }

 private:
  const CompiledRequest& RequestOf(Row row) const {
    return *trace_.CompiledOf(trace_.sites.Get(allocator_.site[row]));
  }
  int32_t ModuleOf(Row row) const { return RequestOf(row).module; }
  uint64_t BytesOf(Row row) const {
    return trace_.sites.Get(allocator_.site[row]).requested_bytes;
  }

  // Takes the rows of one module in the order of their requests. They belong to
  // one run, or to several of which nothing else is left.
  void Match(const std::vector<Row>& rows) {
    if (rows.empty()) return;
    const auto module = static_cast<size_t>(ModuleOf(rows.front()));
    const FreshResults& results =
        results_.try_emplace(module, trace_.modules[module]).first->second;
    for (size_t begin = 0; begin < rows.size();) {
      // As early as the order allows.
      std::vector<int32_t> earliest;
      int32_t from = 0;
      for (size_t i = begin; i < rows.size(); ++i) {
        const int32_t result = results.NextOf(BytesOf(rows[i]), from);
        if (result == FreshResults::kNone) break;
        earliest.push_back(result);
        from = result + 1;
      }
      // As late; where that is another one, both would do.
      int32_t end = results.count();
      for (size_t i = earliest.size(); i-- > 0;) {
        const Row row = rows[begin + i];
        end = results.LastOf(BytesOf(row), end);
        CompiledRequest request = RequestOf(row);
        SetFreshResult(trace_, earliest[i], &request);
        request.others_fit = end != earliest[i];
        matches_.push_back({row, request});
      }
      begin += std::max<size_t>(1, earliest.size());
    }
  }

  const HostTrace& trace_;
  const AllocatorTrace& allocator_;
  absl::flat_hash_map<size_t, FreshResults> results_;
  std::vector<RowMatch> matches_;
};

}  // namespace

FreshResults::FreshResults(const CompiledModule& module)
    : count_(static_cast<int32_t>(module.fresh_results.size())) {
  for (int32_t i = 0; i < count_; ++i) {
    by_size_[module.fresh_results[static_cast<size_t>(i)].size_bytes].push_back(
        i);
  }
}

int32_t FreshResults::NextOf(uint64_t bytes, int32_t from) const {
  const auto alike = by_size_.find(bytes);
  if (alike == by_size_.end()) return kNone;
  const auto next =
      std::lower_bound(alike->second.begin(), alike->second.end(), from);
  return next == alike->second.end() ? kNone : *next;
}

int32_t FreshResults::LastOf(uint64_t bytes, int32_t end) const {
  const auto alike = by_size_.find(bytes);
  if (alike == by_size_.end()) return kNone;
  const auto next =
      std::lower_bound(alike->second.begin(), alike->second.end(), end);
  return next == alike->second.begin() ? kNone : *(next - 1);
}

void SetFreshResult(const HostTrace& trace, int32_t result,
                    CompiledRequest* request) {
  const CompiledModule& module =
      trace.modules[static_cast<size_t>(request->module)];
  request->fresh_result = result;
  request->allocation = module.fresh_results[static_cast<size_t>(result)].index;
  request->kind = BufferKind::kOutput;
  request->has_kind = true;
  request->match = RequestMatch::kByOrder;
}

std::vector<RowMatch> MatchFreshResults(const HostTrace& trace,
                                        const AllocatorTrace& allocator) {
  return FreshResultMatcher(trace, allocator).Run();
}

}  // namespace oom_forensics
