#include "converter/exports/perfetto/run_trace.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/dataset.h"
#include "converter/datasets/selection.h"
#include "converter/exports/perfetto/allocation_slices.h"
#include "converter/exports/perfetto/failure_instants.h"
#include "converter/exports/perfetto/track_event_writer.h"
#include "converter/exports/perfetto/usage_counters.h"

namespace oom_forensics {
namespace {

absl::StatusOr<OomWindow> AskOoms(const Run& run, const Query& query) {
  Query ooms_query;
  ooms_query.set_dataset(OOM_WINDOW);
  ooms_query.mutable_filter()->set_host(query.filter().host());
  ooms_query.mutable_filter()->set_allocator(query.filter().allocator());
  auto answer = AnswerQuery({run, nullptr, ooms_query});
  if (!answer.ok()) return answer.status();
  OomWindow ooms;
  ooms.CopyFrom(**answer);
  return ooms;
}

void AddSteps(const HostTrace& host, const NsRange& range, TrackId parent,
              TrackEventWriter* writer) {
  if (host.steps.empty()) return;
  const TrackId track = writer->AddTrack(parent, "Training steps", "");
  int64_t free_since_ns = range.from_ns;
  for (const TrainingStep& step : host.steps) {
    // Steps that overlap are cut: slices of one track may not.
    const int64_t begin_ns = std::max(host.ToNs(step.begin_ps), free_since_ns);
    const int64_t end_ns = std::min(host.ToNs(step.end_ps), range.to_ns);
    if (begin_ns >= end_ns) continue;
    writer->AddSlice(track, begin_ns, end_ns,
                     absl::StrCat("step ", step.number), {});
    free_since_ns = end_ns;
  }
}

// What was lost, sampled or missing, in the description of the track that it
// touches.
std::string QualityText(const Selection& selected) {
  google::protobuf::RepeatedPtrField<Quality> quality;
  AddQuality(selected, &quality);
  std::string text;
  for (const Quality& entry : quality) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", entry.sentence());
  }
  return text;
}

PositionRange PositionsIn(const SelectedAllocator& allocator,
                          const NsRange& range) {
  const AllocatorTrace& trace = allocator.replay->trace();
  const HostTrace& host = allocator.host->trace();
  PositionRange positions;
  positions.begin =
      std::max(trace.baseline_rows, trace.PositionAt(host.ToPs(range.from_ns)));
  positions.end =
      std::max(positions.begin, trace.PositionAt(host.ToPs(range.to_ns)));
  return positions;
}

}  // namespace

absl::StatusOr<std::string> ExportPerfettoTrace(const Run& run,
                                                const Query& query,
                                                const PerfettoLimits& limits) {
  const auto selected = SelectAllocators(run, query.filter());
  if (!selected.ok()) return selected.status();
  const auto ooms = AskOoms(run, query);
  if (!ooms.ok()) return ooms.status();
  const NsRange range = SelectedRange(*selected, query.filter());
  TrackEventWriter writer(range.from_ns);
  SharedHost host;
  TrackId host_track = kNoTrack;
  for (const SelectedAllocator& allocator : *selected) {
    if (allocator.host != host) {
      host = allocator.host;
      host_track = writer.AddTrack(kNoTrack, host->trace().host, "");
      AddSteps(host->trace(), range, host_track, &writer);
    }
    const TrackId track =
        writer.AddTrack(host_track, allocator.replay->trace().name,
                        QualityText(Selection(run, {allocator.ref})));
    AddFailureInstants(allocator, *ooms, range, track, &writer);
    AddUsageCounters(allocator, PositionsIn(allocator, range),
                     limits.counter_stretches, track, &writer);
    AddAllocationSlices(allocator, query.filter(), range, limits.allocations,
                        track, &writer);
  }
  return writer.Finish();
}

}  // namespace oom_forensics
