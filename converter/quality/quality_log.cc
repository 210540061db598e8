#include "converter/quality/quality_log.h"

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "converter/text/text.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

struct Definition {
  QualityCounter counter;
  std::string_view name;
  Severity severity;
  // "$n" stands for the count, "$size" for as many bytes.
  std::string_view sentence;
};

constexpr Definition kDefinitions[] = {
    {QualityCounter::kTruncatedFile, "truncated_file", Severity::ERROR,
     "The file ends in the middle of a message; only what precedes the cut was "
     "read, so later events are missing."},
    {QualityCounter::kMalformedMessages, "malformed_messages", Severity::ERROR,
     "$n messages of the file could not be decoded and were left out."},
    {QualityCounter::kDroppedEvents, "dropped_events", Severity::ERROR,
     "$n events happened but are not in the trace, because the collector's "
     "buffer was full: it keeps the end of a recording. Counts of allocations "
     "and frees are exact."},
    {QualityCounter::kSampled, "sampled", Severity::WARNING,
     "The recording was sampled: bytes and counts by site are estimates."},
    {QualityCounter::kSmallAllocationsLeftOut, "small_allocations_left_out",
     Severity::WARNING,
     "Allocations below $size were not recorded; the sums leave them out."},
    {QualityCounter::kNoBaseline, "no_baseline", Severity::WARNING,
     "What was live before the recording began is not in the trace."},
    {QualityCounter::kIncompleteBaseline, "incomplete_baseline",
     Severity::WARNING,
     "The collector was loaded after the allocator had been made: allocations "
     "from before that may be missing or without a name."},
    {QualityCounter::kLiveSetFull, "live_set_full", Severity::ERROR,
     "The collector's list of what is live was full: $n allocations were never "
     "in it, so live memory may be missing here."},
    {QualityCounter::kSiteTableFull, "site_table_full", Severity::WARNING,
     "The collector's table of sites was full: $n allocations since TensorFlow "
     "was loaded have sizes but no op, shape or dtype."},
    {QualityCounter::kAllocatorTableFull, "allocator_table_full",
     Severity::ERROR,
     "The collector had no room for another allocator: $n requests of further "
     "ones are not recorded at all."},
    {QualityCounter::kUnmatchedFree, "unmatched_free", Severity::WARNING,
     "$n frees were of addresses that the trace does not know as allocated; "
     "they were ignored."},
    {QualityCounter::kOverlappingChunks, "overlapping_chunks", Severity::ERROR,
     "$n allocations were made where another one was still live, so a free is "
     "missing in the trace; the earlier one was taken as freed."},
    {QualityCounter::kChunkOutsideRegions, "chunk_outside_regions",
     Severity::WARNING,
     "$n allocations lie outside the recorded regions; regions were derived "
     "for them."},
    {QualityCounter::kRegionsDerived, "regions_derived", Severity::WARNING,
     "The trace does not say which regions the allocator holds; they were "
     "derived from the addresses seen, so reserved and free bytes are lower "
     "bounds."},
    {QualityCounter::kNoLayout, "no_layout", Severity::WARNING,
     "This allocator takes each block from the device's driver, and the driver "
     "alone knows what is free: there is no map of it, and nothing can be said "
     "about fragmentation."},
    {QualityCounter::kUnknownRegionRemoved, "unknown_region_removed",
     Severity::WARNING, "$n regions were given back that were never taken."},
    {QualityCounter::kUnsortedEvents, "unsorted_events", Severity::WARNING,
     "Time went back $n times inside a line of events; they were sorted."},
    {QualityCounter::kTimeOutOfRange, "time_out_of_range", Severity::ERROR,
     "$n events have an impossible time; it was moved to the nearest possible "
     "one."},
    {QualityCounter::kUnknownSite, "unknown_site", Severity::ERROR,
     "$n events refer to a description that the file does not have; they were "
     "left out."},
    {QualityCounter::kInvalidSize, "invalid_size", Severity::ERROR,
     "$n events have an impossible size or address and were left out."},
    {QualityCounter::kUnknownEventKind, "unknown_event_kind", Severity::WARNING,
     "$n events are of a kind that this version does not know and were left "
     "out."},
    {QualityCounter::kNewerSchema, "newer_schema", Severity::ERROR,
     "The trace was written by a newer collector; what this version does not "
     "know was left out. Update the package."},
    {QualityCounter::kNoEventOfOom, "no_event_of_oom", Severity::WARNING,
     "A stock trace records no failed requests, so it cannot show whether and "
     "why memory ran out."},
    {QualityCounter::kNoAddresses, "no_addresses", Severity::WARNING,
     "$n events have no address: there is no map of them."},
    {QualityCounter::kInUseDrift, "in_use_drift", Severity::WARNING,
     "At $n events the allocator's own count of bytes in use differs from the "
     "sum of the events: events are missing in the trace."},
    {QualityCounter::kUnnamedBaseline, "unnamed_baseline", Severity::WARNING,
     "$size were already in use when the trace began, by allocations that "
     "it does not name."},
    {QualityCounter::kNoSteps, "no_steps", Severity::INFO_ONLY,
     "The trace has no training steps: nothing can be shown by step. Mark them "
     "with tf.profiler.experimental.Trace('train', step_num=i)."},
    {QualityCounter::kNoCollector, "no_collector", Severity::WARNING,
     "Recorded without the OOM Forensics collector: no failed requests, no "
     "regions, no names for what was live before. Install oom-forensics where "
     "the training runs."},
    {QualityCounter::kAttributionOff, "attribution_off", Severity::WARNING,
     "The collector did not recognize this TensorFlow's op annotations: "
     "allocations have sizes and addresses but no names."},
    {QualityCounter::kAnonymized, "anonymized", Severity::INFO_ONLY,
     "Addresses are shifted by a secret amount; names are those of the job."},
    {QualityCounter::kDumpDiffers, "dump_differs", Severity::ERROR,
     "The replayed map differs from TensorFlow's own in $n chunks."},
    {QualityCounter::kOomsLeftOut, "ooms_left_out", Severity::INFO_ONLY,
     "$n more out-of-memories are not shown, as there are very many; ask for "
     "one of them by its number (--oom)."},
    {QualityCounter::kShortenedText, "shortened_text", Severity::INFO_ONLY,
     "$n texts of the trace are longer than any real one and were cut."},
    {QualityCounter::kModulesLeftOut, "modules_left_out", Severity::WARNING,
     "$n compiled modules are not in the trace, because of its limit: what "
     "their blocks hold is not known."},
    {QualityCounter::kModuleWithoutOrder, "module_without_order",
     Severity::WARNING,
     "The order in which $n compiled modules run is not known: their buffers "
     "count as live together."},
    {QualityCounter::kSourceLinesSwitchedOff, "source_lines_switched_off",
     Severity::INFO_ONLY,
     "Source lines were switched off: eager operations have none."},
    {QualityCounter::kNoSourceLines, "no_source_lines", Severity::WARNING,
     "The collector could not read the frames of the Python that ran the job: "
     "eager operations have no source line. `oom-forensics doctor` says why."},
    {QualityCounter::kDroppedStacks, "dropped_stacks", Severity::WARNING,
     "$n eager allocations have no source line, because the collector's table "
     "of stacks was full or busy."},
    {QualityCounter::kIncompleteEvidence, "incomplete_evidence",
     Severity::WARNING,
     "What Python knows is missing or incomplete: lines of graphs, who keeps "
     "tensors, and the forecast. The job's log says why."},
};

const Definition& DefinitionOf(QualityCounter counter) {
  for (const Definition& definition : kDefinitions) {
    if (definition.counter == counter) return definition;
  }
  static constexpr Definition kNone = {QualityCounter::kCount, "unknown",
                                       Severity::ERROR, "Unknown counter."};
  return kNone;
}

}  // namespace

std::string_view QualityCounterName(QualityCounter counter) {
  return DefinitionOf(counter).name;
}

std::vector<Quality> QualityLog::Entries(std::string_view host,
                                         std::string_view allocator) const {
  std::vector<Quality> entries;
  for (const Definition& definition : kDefinitions) {
    const uint64_t n = count(definition.counter);
    if (n == 0) continue;
    Quality& entry = entries.emplace_back();
    entry.set_name(std::string(definition.name));
    entry.set_severity(definition.severity);
    entry.set_count(n);
    entry.set_sentence(absl::StrReplaceAll(
        Absl(definition.sentence),
        {{"$n", FormatCount(n)}, {"$size", FormatBytes(n)}}));
    entry.set_host(std::string(host));
    entry.set_allocator(std::string(allocator));
  }
  return entries;
}

}  // namespace oom_forensics
