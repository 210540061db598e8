#include "converter/forensics/host_memory/host_growth.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "converter/forensics/source_frames.h"
#include "converter/trace/site_source.h"
#include "core/black_box.h"
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
// But one that takes this part of what there is by its end in the shortest time
// needs not go on.
constexpr double kBurst = 0.25;
// At its limit a process may go on for a while before it is killed, and has to
// read its code again and again: so long at most where the limit is not known,
// and with no more than this part of what it has grown.
constexpr int64_t kLongestAtLimitNs = 5 * kSecondNs;
constexpr double kNoGrowth = 0.01;
// Less than this part of what there was is no growth.
constexpr double kLeastOfWhole = 0.05;

struct Sum {
  double bytes = 0;
  double count = 0;
  double grown_bytes = 0;
  uint64_t largest_bytes = 0;
  bool estimated = false;
  // The last one.
  AllocationSite site;
  bool is_one_op = true;
  // By the call that led there, what it made.
  std::map<StackIndex, double> by_call;
};

// What an op of TensorFlow made; others have neither.
bool IsTensor(const AllocationSite& site) {
  return site.dtype != 0 || site.shape != kEmptyString;
}

// The op, without the numbers by which TensorFlow tells those of one name
// apart: a model or function that is made again has others each time
// ("adam_3/dense_6_kernel", "__inference_step_220").
std::string OwnerOf(const std::string& op) {
  constexpr std::string_view kFunction = "__inference_";
  std::string owner;
  for (size_t i = op.rfind(kFunction, 0) == 0 ? kFunction.size() : 0;
       i < op.size(); ++i) {
    size_t end = i + 1;
    while (end < op.size() && std::isdigit(op[end]) != 0) ++end;
    if (op[i] == '_' && end > i + 1) {
      i = end - 1;
    } else {
      owner += op[i];
    }
  }
  return owner;
}

// The user's frames of a call beyond the line of the first: a comprehension is
// a frame of its own.
std::vector<SourceFrame> CallersOf(const HostTrace& host, StackIndex call) {
  std::vector<SourceFrame> callers;
  if (call == kNoStack) return callers;
  SourceFrame first;
  for (const StackFrame& frame : host.source.StackAt(call).frames) {
    if (frame.is_library || frame.line == kNoLine) continue;
    SourceFrame caller = MakeSourceFrame(host, frame.line);
    if (first.file().empty()) first = caller;
    if (caller.file() != first.file() || caller.line() != first.line()) {
      callers.push_back(std::move(caller));
    }
  }
  return callers;
}

}  // namespace

bool IsShort(const HostMemoryTrace& memory) {
  const uint64_t limit = memory.NumberOf(schema::kHostLimit);
  const uint64_t whole =
      limit == 0 ? memory.NumberOf(schema::kHostMachine) : limit;
  return static_cast<double>(memory.Last(schema::kHostUsed)) >
         black_box::kShort * static_cast<double>(whole);
}

uint64_t CountTensorsOf(const HostTrace& host, const AllocatorReplay& blocks,
                        uint64_t bytes) {
  const AllocatorTrace& trace = blocks.trace();
  uint64_t count = 0;
  for (const Row row : blocks.LiveAt(blocks.end_position())) {
    count += blocks.BytesOf(row) == bytes &&
             IsTensor(host.sites.Get(trace.site[row]));
  }
  return count;
}

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
  const int64_t longest_ns = IsShort(memory) ? kLongestNs : kLongestAtLimitNs;
  for (size_t i = times.size();
       i-- > 0 && times[i] >= times.back() - longest_ns &&
       static_cast<double>(own->bytes[i]) >=
           (1 - kNoGrowth) * static_cast<double>(own->bytes.back());) {
    growth.to_ns = times[i];
  }
  // The longest time up to then over which it grew all along.
  for (int64_t range_ns = std::min(kLongestNs, growth.to_ns - times.front());
       range_ns >= kShortestNs; range_ns /= 2) {
    const int64_t from_ns = growth.to_ns - range_ns;
    const double grown = bytes_at(growth.to_ns) - bytes_at(from_ns);
    if (grown <= kLeastOfWhole * bytes_at(growth.to_ns)) continue;
    bool is_steady =
        range_ns / 2 < kShortestNs && grown > kBurst * bytes_at(growth.to_ns);
    bool has_each_quarter = true;
    for (size_t i = 0; i < kQuarters; ++i) {
      const int64_t begin_ns = from_ns + range_ns /
                                             static_cast<int64_t>(kQuarters) *
                                             static_cast<int64_t>(i);
      const double share =
          bytes_at(begin_ns + range_ns / static_cast<int64_t>(kQuarters)) -
          bytes_at(begin_ns);
      has_each_quarter &= share >= kLeastOfShare * grown / kQuarters;
    }
    is_steady |= has_each_quarter;
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
  std::map<std::pair<LineId, std::string>, Sum> sums;
  for (const Row row : blocks.LiveAt(blocks.end_position())) {
    const AllocationSite& site = host.sites.Get(trace.site[row]);
    const SiteSource source = SourceOf(host, site);
    const LineId line = source.line;
    Sum& sum = sums[{line, line == kNoLine ? OwnerOf(host.OpOf(site)) : ""}];
    sum.is_one_op &= sum.count == 0 || sum.site.op == site.op;
    const double weight = trace.WeightOf(row);
    const double bytes = weight * static_cast<double>(blocks.BytesOf(row));
    sum.bytes += bytes;
    sum.count += weight;
    sum.estimated |= weight > 1;
    if (weight <= 1) {
      sum.largest_bytes = std::max(sum.largest_bytes, blocks.BytesOf(row));
    }
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
    held.largest_bytes = sum.largest_bytes;
    if (key.first != kNoLine) {
      *holder.mutable_line() = MakeSourceFrame(host, key.first);
    }
    const std::string& op = host.OpOf(sum.site);
    holder.set_owner(sum.is_one_op ? op : OwnerOf(op));
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
    held.is_tensor = IsTensor(sum.site);
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
