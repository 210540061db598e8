#include "converter/datasets/forecast_columns.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "converter/trace/op_name.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

constexpr size_t kLayers = 8;
// A layer's name has so many parts: "functional_1/conv2d_3".
constexpr int kNameParts = 2;

std::string LayerOf(std::string_view op) {
  const std::string_view scope = ScopeOf(op);
  if (scope.empty())
    return absl::StrCat("(no scope) ", std::string(OpTypeOf(op)));
  size_t end = 0;
  for (int part = 0; part < kNameParts; ++part) {
    end = scope.find('/', end + (part > 0 ? 1 : 0));
    if (end == std::string_view::npos) return std::string(scope);
  }
  return std::string(scope.substr(0, end));
}

// The state of the step after each of its events.
class Walk {
 public:
  Walk(const HostTrace& host, const ForecastTrace& forecast) {
    layer_of_site_.reserve(forecast.sites.size());
    for (const ForecastSite& site : forecast.sites) {
      const auto [at, added] =
          number_of_.emplace(LayerOf(host.strings.Get(site.op)), names_.size());
      if (added) names_.push_back(at->first);
      layer_of_site_.push_back(at->second);
    }
    bytes_.resize(names_.size());
  }

  void Apply(const ForecastTrace& forecast, const ForecastEvent& event) {
    if (event.is_free) {
      const auto& [layer, bytes] = held_[event.index];
      bytes_[layer] -= bytes;
      in_use_bytes_ -= bytes;
      return;
    }
    const size_t layer = layer_of_site_[event.index];
    const uint64_t bytes =
        RoundedBytes(forecast.sites[event.index].requested_bytes);
    held_.emplace_back(layer, bytes);
    bytes_[layer] += bytes;
    in_use_bytes_ += bytes;
  }

  uint64_t in_use_bytes() const { return in_use_bytes_; }
  const std::vector<uint64_t>& bytes() const { return bytes_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  absl::flat_hash_map<std::string, size_t> number_of_;
  std::vector<std::string> names_;
  std::vector<size_t> layer_of_site_;
  std::vector<uint64_t> bytes_;
  std::vector<std::pair<size_t, uint64_t>> held_;
  uint64_t in_use_bytes_ = 0;
};

}  // namespace

void FillForecastColumns(const HostTrace& host, const ForecastTrace& forecast,
                         uint64_t live_bytes, uint32_t columns,
                         StepForecast* answer) {
  if (forecast.orders.empty()) return;
  const std::vector<ForecastEvent>& events = forecast.orders.front().events;
  Walk to_peak(host, forecast);
  std::vector<uint64_t> at_peak;
  uint64_t peak_bytes = 0;
  for (const ForecastEvent& event : events) {
    to_peak.Apply(forecast, event);
    if (to_peak.in_use_bytes() > peak_bytes) {
      peak_bytes = to_peak.in_use_bytes();
      at_peak = to_peak.bytes();
    }
  }
  std::vector<size_t> shown(at_peak.size());
  std::iota(shown.begin(), shown.end(), size_t{0});
  std::stable_sort(shown.begin(), shown.end(), [&at_peak](size_t a, size_t b) {
    return at_peak[a] > at_peak[b];
  });
  if (shown.size() > kLayers) shown.resize(kLayers);
  for (const size_t layer : shown) {
    answer->add_layers(to_peak.names()[layer]);
  }
  answer->add_layers("(all others)");

  Walk walk(host, forecast);
  const size_t count = std::max<size_t>(1, columns);
  const size_t width = std::max<size_t>(1, (events.size() + count - 1) / count);
  for (size_t from = 0; from < events.size(); from += width) {
    const size_t to = std::min(events.size(), from + width);
    ForecastColumn* column = answer->add_columns();
    column->set_from_request(from);
    column->set_to_request(to);
    bool first = true;
    for (size_t i = from; i < to; ++i) {
      walk.Apply(forecast, events[i]);
      const uint64_t in_use_bytes = live_bytes + walk.in_use_bytes();
      if (!first && in_use_bytes <= column->in_use_bytes()) continue;
      first = false;
      column->set_in_use_bytes(in_use_bytes);
      if (!events[i].is_free) {
        column->set_op_name(
            host.strings.Get(forecast.sites[events[i].index].op));
      }
      column->clear_layer_bytes();
      uint64_t others = walk.in_use_bytes();
      for (const size_t layer : shown) {
        column->add_layer_bytes(walk.bytes()[layer]);
        others -= walk.bytes()[layer];
      }
      column->add_layer_bytes(others);
    }
  }
}

}  // namespace oom_forensics
