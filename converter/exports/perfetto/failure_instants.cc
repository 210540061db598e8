#include "converter/exports/perfetto/failure_instants.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace oom_forensics {
namespace {

void AddOom(const Oom& oom, TrackId track, TrackEventWriter* writer) {
  const Request& request = oom.request();
  const Verdict& verdict = oom.verdict();
  TrackEventArgs args = {
      {"verdict", std::string_view(verdict.kind())},
      {"sentence", std::string_view(verdict.sentence())},
      {"op", std::string_view(request.op_name())},
      {"requested_bytes", request.requested_bytes()},
      {"dtype", std::string_view(request.dtype())},
      {"waited_ns", request.waited_ns()},
      {"limit_bytes", oom.limit_bytes()},
      {"reserved_bytes", oom.reserved_bytes()},
      {"in_use_bytes", oom.in_use_bytes()},
      {"free_bytes", oom.free_bytes()},
      {"largest_free_bytes", oom.largest_free_bytes()},
      {"short_by_bytes", verdict.short_by_bytes()},
      {"fits_if_compacted", oom.fits_if_compacted()},
  };
  if (!verdict.doubt().empty()) {
    args.push_back({"doubt", std::string_view(verdict.doubt())});
  }
  // Arguments of one name hide each other.
  std::vector<std::string> names;
  names.reserve(
      static_cast<size_t>(verdict.evidence_size() + oom.remedies_size()));
  for (const Evidence& evidence : verdict.evidence()) {
    names.push_back(absl::StrCat("evidence.", evidence.name()));
    args.push_back({names.back(), std::string_view(evidence.sentence())});
  }
  for (const Remedy& remedy : oom.remedies()) {
    names.push_back(absl::StrCat("remedy.", remedy.kind()));
    args.push_back({names.back(), std::string_view(remedy.title())});
  }
  writer->AddInstant(track, oom.time_ns(), absl::StrCat("OOM ", oom.index()),
                     args);
}

void AddProbe(const SelectedAllocator& allocator, const FailedRequest& failure,
              int64_t time_ns, TrackId track, TrackEventWriter* writer) {
  const AllocationSite& site = allocator.replay->SiteOf(failure.row);
  const HostTrace& host = allocator.host->trace();
  writer->AddInstant(track, time_ns, "Failed probe",
                     {{"op", std::string_view(host.OpOf(site))},
                      {"requested_bytes", site.requested_bytes}});
}

}  // namespace

void AddFailureInstants(const SelectedAllocator& allocator,
                        const OomWindow& ooms, const NsRange& range,
                        TrackId parent, TrackEventWriter* writer) {
  const HostTrace& host = allocator.host->trace();
  const AllocatorTrace& trace = allocator.replay->trace();
  const auto in_range = [&range](int64_t time_ns) {
    return time_ns >= range.from_ns && time_ns < range.to_ns;
  };
  TrackId track = kNoTrack;
  const auto failure_track = [&] {
    if (track == kNoTrack) {
      track = writer->AddTrack(parent, "Failed requests",
                               "OOMs with their verdict, and probes.");
    }
    return track;
  };
  for (const Oom& oom : ooms.ooms()) {
    if (oom.host() != host.host || oom.allocator() != trace.name) continue;
    if (in_range(oom.time_ns())) AddOom(oom, failure_track(), writer);
  }
  for (const FailedRequest& failure : trace.failures) {
    const int64_t time_ns = host.ToNs(trace.time_ps[failure.row]);
    if (failure.is_oom || !in_range(time_ns)) continue;
    AddProbe(allocator, failure, time_ns, failure_track(), writer);
  }
}

}  // namespace oom_forensics
