#include <string>
#include <string_view>

#include "converter/reader/plane_reader.h"
#include "converter/text/text.h"

namespace oom_forensics {

void ReadSessionPlane(const PlaneLayout& plane, ReadContext* context) {
  const PlaneVocabulary vocabulary(plane, StatVocabulary::kCollector);
  HostTrace& trace = context->trace();
  const StatSet stats = ReadPlaneStats(plane, vocabulary, &trace.quality);
  const auto text = [&](StatKind kind) {
    return stats.Has(kind) ? context->Text(vocabulary.TextOf(stats.Get(kind)))
                           : std::string();
  };
  RecordingFacts& facts = trace.facts;
  // A plane without a version is of the first.
  facts.schema_version = stats.Uint64Or(StatKind::kVersion, 1);
  facts.collector_version = text(StatKind::kCollectorVersion);
  facts.tensorflow_version = text(StatKind::kTensorFlowVersion);
  facts.origin = text(StatKind::kOrigin);
  facts.hooks = text(StatKind::kHooks);
  facts.attribution = text(StatKind::kAttribution);
  facts.cupti_mode = text(StatKind::kCuptiMode);
  facts.cupti_reason = text(StatKind::kCuptiReason);
  facts.process_id = stats.Uint64Or(StatKind::kProcessId, 0);
  facts.start_ns = stats.Int64Or(StatKind::kStartNs, 0);
  facts.stop_ns = stats.Int64Or(StatKind::kStopNs, 0);
  facts.min_bytes = stats.Uint64Or(StatKind::kMinBytes, 0);
  facts.anonymized = stats.Uint64Or(StatKind::kAnonymized, 0) != 0;
  if (stats.Has(StatKind::kSamplingRate)) {
    const double rate = stats.Get(StatKind::kSamplingRate).AsDouble();
    if (rate > 0 && rate < 1) facts.sampling_rate = rate;
  }
  if (stats.Has(StatKind::kLibraryError)) {
    OutsidePool device;
    device.device.total_bytes = stats.Uint64Or(StatKind::kTotalBytes, 0);
    device.device.free_bytes = stats.Uint64Or(StatKind::kFreeBytes, 0);
    device.device.process_bytes = stats.Uint64Or(StatKind::kProcessBytes, 0);
    device.device.others = ProcessesFromLines(text(StatKind::kOtherProcesses));
    device.pools_bytes = stats.Uint64Or(StatKind::kPoolsBytes, 0);
    device.pools_in_use_bytes = stats.Uint64Or(StatKind::kPoolsInUseBytes, 0);
    facts.failed_library = FailedLibrary{text(StatKind::kLibraryError), device};
  }
  const std::string environment = text(StatKind::kEnvironment);
  std::string_view rest = environment;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    if (end != 0) facts.environment.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (facts.schema_version > schema::kSchemaVersion) {
    trace.quality.Add(QualityCounter::kNewerSchema);
  }
  if (facts.sampling_rate < 1) trace.quality.Add(QualityCounter::kSampled);
  if (facts.min_bytes > 0) {
    trace.quality.Add(QualityCounter::kSmallAllocationsLeftOut,
                      facts.min_bytes);
  }
  if (StartsWith(facts.attribution, "off")) {
    trace.quality.Add(QualityCounter::kAttributionOff);
  }
  if (facts.anonymized) trace.quality.Add(QualityCounter::kAnonymized);
  trace.quality.Add(QualityCounter::kSiteTableFull,
                    stats.Uint64Or(StatKind::kUnnamedAllocations, 0));
  trace.quality.Add(QualityCounter::kAllocatorTableFull,
                    stats.Uint64Or(StatKind::kUnknownAllocatorRequests, 0));
}

}  // namespace oom_forensics
