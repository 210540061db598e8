#include "converter/datasets/info.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "converter/datasets/answer_parts.h"

namespace oom_forensics {
namespace {

// An allocator that ran out of memory is the closest there is.
std::pair<bool, double> Rank(const AllocatorInfo& info) {
  return {info.oom_count() > 0, info.closeness()};
}

std::pair<bool, double> Rank(const HostInfo& info) {
  return info.allocators().empty() ? std::pair(false, 0.0)
                                   : Rank(info.allocators(0));
}

// With the allocators that are selected, ranked.
HostInfo MakeHostInfo(const Selection& selected, size_t host) {
  std::vector<AllocatorInfo> allocators;
  for (const AllocatorRef& ref : selected.refs()) {
    if (ref.host == host) allocators.push_back(selected.SummaryOf(ref).info);
  }
  std::stable_sort(allocators.begin(), allocators.end(),
                   [](const AllocatorInfo& a, const AllocatorInfo& b) {
                     return Rank(a) > Rank(b);
                   });
  HostInfo info = selected.run().hosts()[host].info;
  info.mutable_allocators()->Assign(allocators.begin(), allocators.end());
  return info;
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerInfo(const DatasetInput& input) {
  const auto selected = SelectAllocators(input.run, input.query.filter());
  if (!selected.ok()) return selected.status();
  auto info = std::make_unique<Info>();
  info->set_converter_version(kConverterVersion);
  std::vector<HostInfo> hosts;
  for (size_t i = 0; i < input.run.hosts().size(); ++i) {
    const std::string& asked = input.query.filter().host();
    if (!asked.empty() && input.run.hosts()[i].host != asked) continue;
    hosts.push_back(MakeHostInfo(*selected, i));
  }
  std::stable_sort(
      hosts.begin(), hosts.end(),
      [](const HostInfo& a, const HostInfo& b) { return Rank(a) > Rank(b); });
  info->mutable_hosts()->Assign(hosts.begin(), hosts.end());
  AddQuality(input, *selected, info->mutable_quality());
  return DatasetMessage(std::move(info));
}

}  // namespace oom_forensics
