#include "converter/forensics/host_memory/host_growth.h"

#include <algorithm>
#include <map>
#include <utility>

#include "converter/forensics/source_frames.h"
#include "converter/trace/site_source.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// Growth is looked for in the last minute, or what there is of it.
constexpr int64_t kLongestNs = 60 * kSecondNs;
// A process that just began reads its libraries.
constexpr int64_t kShortestNs = kSecondNs / 2;
// Growth goes on: each quarter of the time has at least this part of an even
// share of it.
constexpr double kLeastOfShare = 0.25;
constexpr size_t kQuarters = 4;
// Less than this part of what there was is no growth.
constexpr double kLeastOfWhole = 0.05;

struct Sum {
  double bytes = 0;
  double count = 0;
  double grown_bytes = 0;
  bool estimated = false;
  AllocationSite site;
  // By the call that led there, what it made.
  std::map<StackIndex, double> by_call;
};

// The user's frames of a call beyond the first.
std::vector<SourceFrame> CallersOf(const HostTrace& host, StackIndex call) {
  std::vector<SourceFrame> callers;
  if (call == kNoStack) return callers;
  bool is_first = true;
  for (const StackFrame& frame : host.source.StackAt(call).frames) {
    if (frame.is_library || frame.line == kNoLine) continue;
    if (!is_first) callers.push_back(MakeSourceFrame(host, frame.line));
    is_first = false;
  }
  return callers;
}

}  // namespace

HostGrowth GrowthAtLast(const HostMemoryTrace& memory) {
  HostGrowth growth;
  const HostQuantity* const own = memory.Find(schema::kRssAnon);
  if (own == nullptr || own->time_ns.empty()) return growth;
  const std::vector<int64_t>& times = own->time_ns;
  const auto bytes_at = [&](int64_t time_ns) {
    const auto after = std::upper_bound(times.begin(), times.end(), time_ns);
    const size_t at = after == times.begin()
                          ? 0
                          : static_cast<size_t>(after - times.begin()) - 1;
    return static_cast<double>(own->bytes[at]);
  };
  growth.to_ns = times.back();
  // The longest time up to the end over which it grew all along.
  for (int64_t range_ns = std::min(kLongestNs, times.back() - times.front());
       range_ns >= kShortestNs; range_ns /= 2) {
    const int64_t from_ns = growth.to_ns - range_ns;
    const double grown = bytes_at(growth.to_ns) - bytes_at(from_ns);
    if (grown <= kLeastOfWhole * bytes_at(growth.to_ns)) continue;
    bool is_steady = true;
    for (size_t i = 0; i < kQuarters; ++i) {
      const int64_t begin_ns = from_ns + range_ns /
                                             static_cast<int64_t>(kQuarters) *
                                             static_cast<int64_t>(i);
      const double share =
          bytes_at(begin_ns + range_ns / static_cast<int64_t>(kQuarters)) -
          bytes_at(begin_ns);
      is_steady &= share >= kLeastOfShare * grown / kQuarters;
    }
    if (!is_steady) continue;
    growth.from_ns = from_ns;
    growth.bytes = static_cast<uint64_t>(grown);
    growth.bytes_per_s = static_cast<uint64_t>(grown * kSecondNs /
                                               static_cast<double>(range_ns));
    break;
  }
  return growth;
}

std::vector<HeldByLine> HoldersByLine(const HostTrace& host,
                                      const AllocatorReplay& blocks,
                                      const HostGrowth& growth, size_t limit) {
  const AllocatorTrace& trace = blocks.trace();
  // By line; where none is known, by who asked.
  std::map<std::pair<LineId, StringId>, Sum> sums;
  for (const Row row : blocks.LiveAt(blocks.end_position())) {
    const AllocationSite& site = host.sites.Get(trace.site[row]);
    const SiteSource source = SourceOf(host, site);
    const LineId line = source.line;
    Sum& sum = sums[{line, line == kNoLine ? site.op : kEmptyString}];
    const double weight = trace.WeightOf(row);
    const double bytes = weight * static_cast<double>(blocks.BytesOf(row));
    sum.bytes += bytes;
    sum.count += weight;
    sum.estimated |= weight > 1;
    sum.site = site;
    sum.by_call[source.called] += bytes;
    if (growth.bytes != 0 && host.ToNs(trace.time_ps[row]) >= growth.from_ns) {
      sum.grown_bytes += bytes;
    }
  }
  std::vector<HeldByLine> holders;
  const double range_s =
      static_cast<double>(growth.to_ns - growth.from_ns) / kSecondNs;
  for (const auto& [key, sum] : sums) {
    HeldByLine held;
    HostMemoryHolder& holder = held.holder;
    if (key.first != kNoLine) {
      *holder.mutable_line() = MakeSourceFrame(host, key.first);
    }
    holder.set_owner(host.OpOf(sum.site));
    holder.set_bytes(static_cast<uint64_t>(sum.bytes));
    holder.set_count(static_cast<uint64_t>(sum.count + 0.5));
    holder.set_estimated(sum.estimated);
    if (growth.bytes != 0) {
      holder.set_growth_bytes_per_s(
          static_cast<uint64_t>(sum.grown_bytes / range_s));
    }
    const auto most = std::max_element(
        sum.by_call.begin(), sum.by_call.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    held.callers = CallersOf(host, most->first);
    holders.push_back(std::move(held));
  }
  std::sort(holders.begin(), holders.end(),
            [](const HeldByLine& a, const HeldByLine& b) {
              return a.holder.bytes() > b.holder.bytes();
            });
  if (holders.size() > limit) holders.resize(limit);
  return holders;
}

}  // namespace oom_forensics
