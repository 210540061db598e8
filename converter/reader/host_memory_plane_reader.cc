#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "converter/reader/plane_reader.h"

namespace oom_forensics {
namespace {

// More lines than there are quantities are damage.
constexpr size_t kMaxQuantities = 64;
// The same of activities (core/black_box.h).
constexpr size_t kMaxActivities = 1024;

// The names of the plane's events, by the ids of their metadata.
absl::flat_hash_map<int64_t, std::string> EventNames(const PlaneLayout& plane,
                                                     ReadContext* context) {
  absl::flat_hash_map<int64_t, std::string> names;
  for (const auto& [id, bytes] : plane.event_metadata) {
    std::string name;
    const bool whole = ForEachField(bytes, [&](FieldReader& reader) {
      if (reader.tag() == schema::xevent_metadata::kName) {
        name = context->Text(View(reader.get_view()));
      } else {
        reader.skip();
      }
    });
    if (!whole) {
      context->trace().quality.Add(QualityCounter::kMalformedMessages);
    }
    names[id] = std::move(name);
  }
  return names;
}

HostActivity ActivityOf(const std::string& kind, int64_t first_ns,
                        const StatSet& stats, const PlaneVocabulary& vocabulary,
                        ReadContext* context) {
  const auto text = [&](StatKind stat) {
    return stats.Has(stat) ? context->Text(vocabulary.TextOf(stats.Get(stat)))
                           : std::string();
  };
  HostActivity activity;
  activity.kind = kind;
  activity.name = text(StatKind::kOp);
  activity.what = text(StatKind::kText);
  activity.stack =
      context->trace().source.StackOf(stats.Uint64Or(StatKind::kStack, 0));
  activity.first_ns = first_ns;
  activity.last_ns = static_cast<int64_t>(stats.Uint64Or(StatKind::kLastNs, 0));
  activity.times = stats.Uint64Or(StatKind::kTimes, 0);
  activity.under_way = stats.Uint64Or(StatKind::kUnderWay, 0) != 0;
  activity.live = stats.Uint64Or(StatKind::kLive, 0);
  activity.element_bytes = stats.Uint64Or(StatKind::kSizeBytes, 0);
  activity.grown_bytes = stats.Uint64Or(StatKind::kBytes, 0);
  activity.begin_bytes = stats.Uint64Or(StatKind::kBeginBytes, 0);
  return activity;
}

}  // namespace

absl::Status ReadHostMemoryPlane(const PlaneLayout& plane,
                                 ReadContext* context) {
  const PlaneVocabulary vocabulary(plane, StatVocabulary::kCollector);
  HostTrace& trace = context->trace();
  HostMemoryTrace& memory = trace.host_memory;
  const auto names = EventNames(plane, context);
  for (const std::string_view line : plane.lines) {
    const LineHeader header = ReadLineHeader(line);
    const absl::Status fits = context->ReserveRows(header.event_count);
    if (!fits.ok()) return fits;
    const bool facts = header.name == schema::kFactsLine;
    const bool activities = header.name == schema::kActivitiesLine;
    const bool quantities = !facts && !activities;
    if (quantities && memory.quantities.size() >= kMaxQuantities) {
      trace.quality.Add(QualityCounter::kUnknownEventKind);
      continue;
    }
    HostQuantity quantity;
    const int64_t start_ps = context->LineStartPs(header.timestamp_ns);
    ForEachEvent(
        line, vocabulary, EventsToRead::kAll, &trace.quality,
        [&](const EventFields& event, std::string_view) {
          const int64_t time_ns =
              trace.ToNs(ReadContext::TimePs(start_ps, event.offset_ps));
          if (quantities) {
            // What is out of order is damage.
            if (!quantity.time_ns.empty() &&
                time_ns < quantity.time_ns.back()) {
              trace.quality.Add(QualityCounter::kUnsortedEvents);
              return;
            }
            quantity.time_ns.push_back(time_ns);
            quantity.bytes.push_back(event.stats.Uint64Or(StatKind::kBytes, 0));
            return;
          }
          const auto name = names.find(event.metadata_id);
          if (name == names.end()) return;
          if (activities) {
            if (memory.activities.size() < kMaxActivities) {
              memory.activities.push_back(ActivityOf(
                  name->second, time_ns, event.stats, vocabulary, context));
            }
            return;
          }
          if (event.stats.Has(StatKind::kText)) {
            memory.texts[name->second] = context->Text(
                vocabulary.TextOf(event.stats.Get(StatKind::kText)));
          } else {
            memory.numbers[name->second] =
                event.stats.Uint64Or(StatKind::kBytes, 0);
          }
        });
    if (quantities) {
      memory.quantities[context->Text(header.name)] = std::move(quantity);
    }
  }
  return absl::OkStatus();
}

}  // namespace oom_forensics
