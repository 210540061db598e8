#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"
#include "converter/compiled/planned_forecasts.h"
#include "converter/reader/plane_reader.h"
#include "converter/trace/allocator_trace_writer.h"

namespace oom_forensics {
namespace {

// A batch beyond it is damage.
constexpr int64_t kMaxBatch = int64_t{1} << 40;

// Far more forecasts, orders of one of them and lines of a list than are ever
// written.
constexpr size_t kMaxForecasts = 128;
constexpr size_t kMaxOrders = 64;
constexpr size_t kMaxListed = 256;

enum class MetadataKind : uint8_t { kOther, kForecast, kAlloc, kFree };

// An XEventMetadata of the plane.
struct Metadata {
  MetadataKind kind = MetadataKind::kOther;
  StatSet stats;
};

Metadata ReadMetadata(std::string_view bytes, const PlaneVocabulary& vocabulary,
                      ReadContext* context) {
  Metadata metadata;
  const bool whole = ForEachField(bytes, [&](FieldReader& reader) {
    switch (reader.tag()) {
      case schema::xevent_metadata::kName: {
        const std::string_view name = View(reader.get_view());
        if (name == schema::kForecast) metadata.kind = MetadataKind::kForecast;
        if (name == schema::kAlloc) metadata.kind = MetadataKind::kAlloc;
        if (name == schema::kFree) metadata.kind = MetadataKind::kFree;
        break;
      }
      case schema::xevent_metadata::kStats:
        ReadStat(View(reader.get_view()), vocabulary, &metadata.stats);
        break;
      default:
        reader.skip();
    }
  });
  if (!whole) {
    context->trace().quality.Add(QualityCounter::kMalformedMessages);
  }
  return metadata;
}

class ForecastPlane {
 public:
  ForecastPlane(const PlaneLayout& plane, ReadContext* context)
      : plane_(plane),
        vocabulary_(plane, StatVocabulary::kCollector),
        context_(*context) {}

  absl::Status Read() {
    for (const auto& [id, bytes] : plane_.event_metadata) {
      Metadata metadata = ReadMetadata(bytes, vocabulary_, &context_);
      if (metadata.kind == MetadataKind::kForecast &&
          forecasts_.size() == kMaxForecasts) {
        context_.trace().quality.Add(QualityCounter::kMalformedMessages);
        metadata.kind = MetadataKind::kOther;
      }
      if (metadata.kind == MetadataKind::kForecast) {
        forecast_of_[id] = forecasts_.size();
        forecasts_.push_back(Facts(metadata.stats));
        runs_of_.emplace_back();
        site_indices_.emplace_back();
      }
      kinds_[id] = metadata.kind;
      if (metadata.kind == MetadataKind::kAlloc) {
        sites_[id] = Site(metadata.stats);
        if (metadata.stats.Has(StatKind::kHloModule)) {
          modules_[id] = {0, Text(metadata.stats, StatKind::kHloModule),
                          metadata.stats.Uint64Or(StatKind::kHloProgramId, 0)};
        }
      }
    }
    for (const std::string_view line : plane_.lines) {
      const absl::Status fits =
          context_.ReserveRows(ReadLineHeader(line).event_count);
      if (!fits.ok()) return fits;
      ReadOrder(line);
    }
    for (size_t i = 0; i < forecasts_.size(); ++i) {
      if (plane_.name == schema::kStepPlane && IsMade(forecasts_[i])) continue;
      PlanRuns(runs_of_[i], &context_.trace(), &forecasts_[i]);
      context_.trace().forecasts.push_back(std::move(forecasts_[i]));
    }
    return absl::OkStatus();
  }

 private:
  // Whether the trace has the forecast of this step, for its pool.
  bool IsMade(const ForecastTrace& step) const {
    const std::vector<ForecastTrace>& made = context_.trace().forecasts;
    return std::any_of(made.begin(), made.end(), [&](const ForecastTrace& one) {
      return one.step_id == step.step_id && one.function == step.function &&
             one.allocator == step.allocator;
    });
  }

  std::string Text(const StatSet& stats, StatKind kind) {
    return stats.Has(kind) ? context_.Text(vocabulary_.TextOf(stats.Get(kind)))
                           : std::string();
  }

  std::vector<std::string> Lines(const StatSet& stats, StatKind kind) {
    std::vector<std::string> lines =
        absl::StrSplit(Text(stats, kind), '\n', absl::SkipEmpty());
    if (lines.size() > kMaxListed) {
      context_.trace().quality.Add(QualityCounter::kShortenedText);
      lines.resize(kMaxListed);
      lines.shrink_to_fit();
    }
    if (context_.MayKeep(lines.size() * sizeof(std::string))) return lines;
    return {};
  }

  ForecastTrace Facts(const StatSet& stats) {
    ForecastTrace forecast;
    forecast.origin = Text(stats, StatKind::kOrigin);
    forecast.function = Text(stats, StatKind::kFunction);
    forecast.allocator = Text(stats, StatKind::kAllocatorName);
    forecast.reason = Text(stats, StatKind::kReason);
    forecast.step_id = stats.Int64Or(StatKind::kStepId, 0);
    const int64_t batch = stats.Int64Or(StatKind::kBatch, 0);
    forecast.batch = batch > 0 && batch < kMaxBatch ? batch : 0;
    forecast.held_bytes =
        std::min(kMaxChunkBytes, stats.Uint64Or(StatKind::kHeldBytes, 0));
    forecast.op_count = stats.Uint64Or(StatKind::kOpCount, 0);
    forecast.unknown_count = stats.Uint64Or(StatKind::kUnknownCount, 0);
    forecast.unknown_ops = Lines(stats, StatKind::kUnknownOps);
    forecast.assumed = Lines(stats, StatKind::kAssumed);
    return forecast;
  }

  ForecastSite Site(const StatSet& stats) {
    ForecastSite site;
    const auto interned = [&](StatKind kind) {
      return stats.Has(kind)
                 ? context_.Intern(vocabulary_.TextOf(stats.Get(kind)))
                 : kEmptyString;
    };
    site.op = interned(StatKind::kOp);
    site.shape = interned(StatKind::kShape);
    site.dtype = DtypeOf(stats.Int64Or(StatKind::kDtype, 0));
    site.requested_bytes =
        std::min(kMaxChunkBytes, stats.Uint64Or(StatKind::kRequestedBytes, 0));
    site.per_example_bytes = std::min(
        site.requested_bytes, stats.Uint64Or(StatKind::kPerExampleBytes, 0));
    site.is_scratch = stats.Int64Or(StatKind::kIsScratch, 0) != 0;
    return site;
  }

  // A line that does not begin with its forecast belongs to none; a free of
  // what is not held is left out.
  void ReadOrder(std::string_view line) {
    ForecastTrace* forecast = nullptr;
    size_t forecast_index = 0;
    ForecastOrderTrace order;
    std::vector<bool> held;
    absl::flat_hash_map<int64_t, uint32_t> local_sites;
    QualityLog* quality = &context_.trace().quality;
    const LineHeader header = ForEachEvent(
        line, vocabulary_, EventsToRead::kAll, quality,
        [&](const EventFields& fields, std::string_view) {
          const auto kind = kinds_.find(fields.metadata_id);
          if (kind == kinds_.end()) {
            quality->Add(QualityCounter::kUnknownEventKind);
            return;
          }
          switch (kind->second) {
            case MetadataKind::kForecast:
              forecast_index = forecast_of_[fields.metadata_id];
              forecast = &forecasts_[forecast_index];
              break;
            case MetadataKind::kAlloc: {
              if (forecast == nullptr) return;
              const auto [at, added] =
                  local_sites.try_emplace(fields.metadata_id, 0);
              if (added) {
                at->second = InternSite(fields.metadata_id, forecast_index);
              }
              order.events.push_back({false, at->second});
              held.push_back(true);
              break;
            }
            case MetadataKind::kFree: {
              const uint64_t number = fields.stats.Uint64Or(
                  StatKind::kNumber, static_cast<uint64_t>(held.size()));
              if (number >= held.size() || !held[number]) {
                quality->Add(QualityCounter::kUnmatchedFree);
                return;
              }
              held[number] = false;
              order.events.push_back({true, static_cast<uint32_t>(number)});
              break;
            }
            case MetadataKind::kOther:
              quality->Add(QualityCounter::kUnknownEventKind);
          }
        });
    if (forecast == nullptr) return;
    if (forecast->orders.size() == kMaxOrders) {
      quality->Add(QualityCounter::kMalformedMessages);
      return;
    }
    order.name = context_.Text(header.name);
    forecast->orders.push_back(std::move(order));
  }

  // What makes two sites of a forecast one: op, shape, dtype, bytes, bytes of
  // an example; name and id of the module that it is a run of.
  using SiteKey = std::tuple<StringId, StringId, int32_t, uint64_t, uint64_t,
                             std::string, uint64_t>;

  // Index of the site of that id among those of the forecast. Each order may
  // have been written with sites of its own.
  uint32_t InternSite(int64_t id, size_t forecast_index) {
    const ForecastSite& site = sites_[id];
    const auto module = modules_.find(id);
    SiteKey key{site.op,
                site.shape,
                site.dtype,
                site.requested_bytes,
                site.per_example_bytes,
                module == modules_.end() ? "" : module->second.module_name,
                module == modules_.end() ? 0 : module->second.program_id};
    std::vector<ForecastSite>& sites = forecasts_[forecast_index].sites;
    const auto [known, added] = site_indices_[forecast_index].emplace(
        std::move(key), static_cast<uint32_t>(sites.size()));
    if (!added) return known->second;
    if (module != modules_.end()) {
      std::vector<ModuleRun>& runs = runs_of_[forecast_index];
      runs.push_back(module->second);
      runs.back().site = sites.size();
    }
    sites.push_back(site);
    return known->second;
  }

  const PlaneLayout& plane_;
  const PlaneVocabulary vocabulary_;
  ReadContext& context_;
  absl::flat_hash_map<int64_t, MetadataKind> kinds_;
  absl::flat_hash_map<int64_t, ForecastSite> sites_;
  absl::flat_hash_map<int64_t, size_t> forecast_of_;
  // By id; the site in it is not set.
  absl::flat_hash_map<int64_t, ModuleRun> modules_;
  std::vector<ForecastTrace> forecasts_;
  // The runs of each of them.
  std::vector<std::vector<ModuleRun>> runs_of_;
  std::vector<absl::flat_hash_map<SiteKey, uint32_t>> site_indices_;
};

}  // namespace

absl::Status ReadForecastPlane(const PlaneLayout& plane, ReadContext* context) {
  return ForecastPlane(plane, context).Read();
}

}  // namespace oom_forensics
