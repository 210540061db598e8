#include "collector/flight_recorder/run.h"

#include <utility>

#include "collector/flight_recorder/summary.h"
#include "collector/flight_recorder/user_line.h"
#include "core/plane_builder.h"
#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

std::string TraceName() { return HostName() + ".xplane.pb"; }

}  // namespace

RecentTrace TakeRecentTrace(const RunSources& sources,
                            const std::string& origin,
                            std::optional<uint64_t> address_shift) {
  RecentTrace trace;
  trace.session = sources.session();
  trace.session.origin = origin;
  trace.session.writes_own_file = true;
  trace.session.buffer_events = sources.settings().allocation_log_buffer_size;
  trace.recording = sources.recorder->Recent();
  trace.sites = sources.recorder->sites().Snapshot();
  trace.allocators = sources.allocators();
  trace.session.address_shift =
      address_shift.value_or(AddressShift(trace.session, *trace.recording));
  std::vector<AllocatorInfo> allocators;
  for (const AllocatorState& state : trace.allocators) {
    if (state.has_events) allocators.push_back(state.info);
  }
  trace.xspace =
      WriteTrace(trace.session, allocators, *trace.recording, trace.sites,
                 sources.recorder->stacks().Snapshot()) +
      sources.device_planes(trace.recording->baseline.time_ns,
                            trace.session.address_shift) +
      sources.module_plane(*trace.recording, trace.sites);
  return trace;
}

Run::Run(const RunSources& sources, const std::string& origin,
         const RefusedRequest& refused, std::optional<uint64_t> address_shift)
    : sources_(sources),
      refused_(refused),
      trace_(TakeRecentTrace(sources, origin, address_shift)) {
  if (refused.sequence == 0) return;
  refusal_ = FindRefusal(*trace_.recording, trace_.sites, trace_.allocators,
                         sources.device_of, refused.sequence);
  summary_ = SummaryLines(*refusal_);
  const std::string line =
      UserLine(trace_.session.source, sources.recorder->stacks().Snapshot(),
               refusal_->site.stack);
  if (!line.empty()) {
    summary_.insert(summary_.begin() + 1, "It asked at " + line);
  }
}

std::string Run::path() const {
  return folder_.has_value() ? folder_->path() : "";
}

void Run::LookAgain() {
  RecentTrace later =
      TakeRecentTrace(sources_, trace_.session.origin, address_shift());
  if (later.recording->baseline.next_sequence <= refused_.sequence) {
    trace_ = std::move(later);
  }
}

bool Run::Write(const std::string& logdir, const std::string& planes,
                const std::string& why_incomplete, std::string* error) {
  const bool is_new = !folder_.has_value();
  if (is_new) {
    if (logdir.empty()) {
      *error = "there is no folder to write to; set OOM_FORENSICS_LOGDIR";
    } else {
      folder_ = RunFolder::Make(
          logdir,
          refusal_.has_value() ? refusal_->time_ns : trace_.recording->stop_ns,
          trace_.session.origin, error);
    }
    if (!folder_.has_value()) return false;
  }
  std::string evidence = planes;
  if (!why_incomplete.empty()) {
    PlaneBuilder builder(&evidence, schema::kEvidencePlane);
    builder.AddString(builder.plane(), schema::xplane::kStats, schema::kReason,
                      why_incomplete);
    builder.Finish();
  }
  const bool written = folder_->Write(
      TraceName(), evidence.empty() ? trace_.xspace : trace_.xspace + evidence,
      error);
  if (!written && is_new) {
    folder_->RemoveIfEmpty();
    folder_.reset();
  }
  return written;
}

WrittenRun Run::Written(uint64_t incident) const {
  return {folder_->path() + "/" + TraceName(), trace_.session.origin,
          address_shift(), folder_->remote_logdir(), incident};
}

}  // namespace oom_forensics::collector
