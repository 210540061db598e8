#include "converter/counterfactual/likely_orders.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "converter/counterfactual/successive_steps.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// Orders that agree with what was recorded so much less than the best does are
// not those that TensorFlow takes; where even that does not, names tell
// nothing.
constexpr double kLessAlike = 0.1;
constexpr double kLeastAlike = 0.5;
// Requests of the orders that are tried; of long steps only those that agree
// best are.
constexpr size_t kMostEvents = 40000;
// A step that held so large a part of its bytes in more tensors of an op than
// any order has them at once does what is not forecast: its loops compute ahead
// what needs no result of the iteration before.
constexpr uint64_t kMoreParts = 32;

double Alike(const HeldTensors& recorded, const HeldTensors& held) {
  double both = 0;
  double either = 0;
  for (const auto& [tensor, count] : recorded) {
    const auto same = held.find(tensor);
    const uint64_t other = same == held.end() ? 0 : same->second;
    const auto bytes = static_cast<double>(tensor.second);
    both += bytes * static_cast<double>(std::min(count, other));
    either += bytes * static_cast<double>(std::max(count, other));
  }
  for (const auto& [tensor, count] : held) {
    if (recorded.count(tensor) != 0) continue;
    either += static_cast<double>(tensor.second) * static_cast<double>(count);
  }
  return either == 0 ? 1 : both / either;
}

// What the orders hold, beside the elements of the pipeline: how many of those
// there are is its own doing.
class OrdersInTime {
 public:
  OrdersInTime(const ForecastTrace& forecast, const StepStream& stream)
      : stream_(stream) {
    const StringTable& strings = stream.replay->host().strings;
    for (const ForecastSite& site : forecast.sites) {
      tensors_.emplace_back(StripCallPrefix(strings.Get(site.op)),
                            site.requested_bytes);
    }
  }

  // How much the order agrees, where it asks for what was refused, with what
  // the step held then: 0 to 1.
  double AgreementOf(const ForecastOrderTrace& order) {
    HeldTensors held;
    std::vector<uint32_t> asked;
    double best = 0;
    for (const ForecastEvent& event : order.events) {
      if (event.is_free) {
        const uint32_t site = asked[event.index];
        if (!IsElement(site)) --held[tensors_[site]];
        continue;
      }
      const auto& tensor = tensors_[event.index];
      if (tensor == stream_.refused) {
        best = std::max(best, Alike(stream_.held_at_refusal, held));
      }
      asked.push_back(event.index);
      if (IsElement(event.index)) continue;
      uint64_t& most = most_held_[tensor];
      most = std::max(most, ++held[tensor]);
    }
    return best;
  }

  // Whether the step held more tensors of an op than any order so far.
  bool StepHeldMore() const {
    uint64_t held_bytes = 0;
    uint64_t more_bytes = 0;
    for (const auto& [tensor, count] : stream_.held_at_refusal) {
      held_bytes += tensor.second * count;
      const auto most = most_held_.find(tensor);
      // Names that the graph does not have tell nothing.
      if (most == most_held_.end() || most->second >= count) continue;
      more_bytes += tensor.second * (count - most->second);
    }
    return more_bytes > held_bytes / kMoreParts;
  }

 private:
  bool IsElement(uint32_t site) const {
    return site < stream_.element_sites.size() && stream_.element_sites[site];
  }

  const StepStream& stream_;
  // The op and bytes of each site.
  std::vector<std::pair<std::string, uint64_t>> tensors_;
  // The most of each tensor that any order holds.
  HeldTensors most_held_;
};

}  // namespace

LikelyOrders FindLikelyOrders(const ForecastTrace& forecast,
                              const StepStream& stream) {
  LikelyOrders likely;
  std::vector<size_t>& numbers = likely.numbers;
  numbers.resize(forecast.orders.size());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  if (numbers.empty() || !stream.was_refused || forecast.planned ||
      forecast.origin == kRecordedOrigin) {
    return likely;
  }
  OrdersInTime orders(forecast, stream);
  std::vector<double> agreement;
  for (const ForecastOrderTrace& order : forecast.orders) {
    agreement.push_back(orders.AgreementOf(order));
  }
  likely.held_more = orders.StepHeldMore();
  std::stable_sort(numbers.begin(), numbers.end(), [&](size_t a, size_t b) {
    return agreement[a] > agreement[b];
  });
  const double best = agreement[numbers.front()];
  size_t events = 0;
  size_t count = 0;
  while (
      count < numbers.size() &&
      (best < kLeastAlike || agreement[numbers[count]] >= best - kLessAlike) &&
      (count == 0 || events < kMostEvents)) {
    events += forecast.orders[numbers[count++]].events.size();
  }
  numbers.resize(count);
  return likely;
}

}  // namespace oom_forensics
