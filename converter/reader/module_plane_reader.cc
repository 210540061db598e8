// "/host:metadata": the modules that XLA compiled, as TensorFlow's profiler and
// our collector write them.
#include <string_view>

#include "converter/hlo/compiled_module.h"
#include "converter/reader/hlo_reader.h"
#include "converter/reader/plane_reader.h"

namespace oom_forensics {
namespace {

// The most that all modules of a file may take in memory.
constexpr uint64_t kMaxModuleBytes = uint64_t{512} << 20;

StatSet StatsOf(std::string_view metadata, const PlaneVocabulary& vocabulary,
                QualityLog* quality) {
  StatSet stats;
  const bool whole = ForEachField(metadata, [&](FieldReader& reader) {
    if (reader.tag() == schema::xevent_metadata::kStats) {
      ReadStat(View(reader.get_view()), vocabulary, &stats);
    } else {
      reader.skip();
    }
  });
  if (!whole) quality->Add(QualityCounter::kMalformedMessages);
  return stats;
}

}  // namespace

void ReadModulePlane(const PlaneLayout& plane, ReadContext* context) {
  HostTrace& trace = context->trace();
  const PlaneVocabulary vocabulary(plane, StatVocabulary::kStock);
  const StatSet facts = ReadPlaneStats(plane, vocabulary, &trace.quality);
  trace.quality.Add(QualityCounter::kModulesLeftOut,
                    facts.Uint64Or(StatKind::kModulesLeftOut, 0));
  uint64_t bytes = 0;
  for (const auto& [id, metadata] : plane.event_metadata) {
    StopIfCancelled();
    const StatSet stats = StatsOf(metadata, vocabulary, &trace.quality);
    if (!stats.Has(StatKind::kHloProto)) continue;
    const std::string_view proto = stats.Get(StatKind::kHloProto).text;
    // What comes of a module is at most some times its size.
    if (bytes + proto.size() > kMaxModuleBytes) {
      trace.quality.Add(QualityCounter::kModulesLeftOut);
      continue;
    }
    const HloGraph graph = ReadHloModule(proto, &trace.quality);
    if (graph.allocations.empty()) continue;
    CompiledModule module =
        MakeCompiledModule(graph, static_cast<uint64_t>(id));
    module.compile_ns = stats.Uint64Or(StatKind::kCompileNs, 0);
    bytes += module.ResidentBytes();
    if (!module.has_schedule || module.ranges_cut) {
      trace.quality.Add(QualityCounter::kModuleWithoutOrder);
    }
    if (module.texts_left_out) {
      trace.quality.Add(QualityCounter::kShortenedText);
    }
    trace.modules.push_back(std::move(module));
  }
}

}  // namespace oom_forensics
