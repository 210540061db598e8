#include "converter/testing/trace_builder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/reader/trace_reader.h"
#include "core/bfc.h"
#include "proto/event_schema.h"

namespace oom_forensics::test {
namespace {

constexpr int64_t kEventPs = 1'000'000;

}  // namespace

TraceBuilder::TraceBuilder(const std::string& allocator)
    : allocator_(allocator),
      plane_(absl::StrCat(std::string(schema::kPlanePrefix), allocator)),
      source_(schema::kSourcePlane) {
  baseline_.name = std::string(schema::kBaselineLine);
  events_.name = std::string(schema::kEventsLine);
  plane_.AddStat(Text(schema::kAllocatorKind, "bfc"));
  plane_.AddStat(U64(schema::kBaselineComplete, 1));
}

int64_t TraceBuilder::SiteId(const std::string& kind, const Ask& ask) {
  const uint64_t allocated = ask.allocated_bytes != 0
                                 ? ask.allocated_bytes
                                 : RoundedBytes(ask.requested_bytes);
  const auto key =
      std::make_tuple(kind, ask.op, ask.shape, ask.dtype, ask.requested_bytes,
                      allocated, ask.eager, ask.stack);
  const auto found = sites_.find(key);
  if (found != sites_.end()) return found->second;
  std::vector<Stat> stats = {Ref(schema::kOp, ask.op),
                             I64(schema::kDtype, ask.dtype),
                             U64(schema::kRequestedBytes, ask.requested_bytes)};
  if (!ask.shape.empty()) stats.push_back(Ref(schema::kShape, ask.shape));
  if (ask.eager.has_value()) {
    stats.push_back(U64(schema::kEager, *ask.eager ? 1 : 0));
  }
  if (ask.stack != 0) {
    stats.push_back(U64(schema::kStack, static_cast<uint64_t>(ask.stack)));
  }
  if (kind == schema::kAlloc) {
    stats.push_back(U64(schema::kAllocatedBytes, allocated));
  }
  return sites_[key] = plane_.AddEventMetadata(kind, ask.op, stats);
}

int64_t TraceBuilder::KindId(const std::string& kind) {
  const auto found = kinds_.find(kind);
  if (found != kinds_.end()) return found->second;
  return kinds_[kind] = plane_.AddEventMetadata(kind);
}

void TraceBuilder::FlushSticky(Event* event) {
  if (std::exchange(thread_changed_, false)) {
    event->stats.push_back(U64(schema::kThread, thread_));
  }
  if (std::exchange(step_id_changed_, false)) {
    event->stats.push_back(I64(schema::kStepId, step_id_));
  }
}

Event& TraceBuilder::AddEvent(int64_t metadata_id, std::vector<Stat> stats) {
  now_ps_ += kEventPs;
  Event event{metadata_id, now_ps_, 0, std::move(stats)};
  FlushSticky(&event);
  return events_.events.emplace_back(std::move(event));
}

TraceBuilder& TraceBuilder::BaselineRegion(uint64_t address,
                                           uint64_t size_bytes) {
  const auto offset = static_cast<int64_t>(baseline_.events.size());
  baseline_.events.push_back(
      {KindId(std::string(schema::kRegionAdd)),
       offset,
       0,
       {U64(schema::kAddress, address), U64(schema::kSizeBytes, size_bytes)}});
  return *this;
}

TraceBuilder& TraceBuilder::BaselineChunk(uint64_t address, const Ask& ask,
                                          uint64_t age_ns) {
  const auto offset = static_cast<int64_t>(baseline_.events.size());
  baseline_.events.push_back(
      {SiteId(std::string(schema::kAlloc), ask),
       offset,
       0,
       {U64(schema::kAddress, address), U64(schema::kAgeNs, age_ns)}});
  return *this;
}

TraceBuilder& TraceBuilder::Region(uint64_t address, uint64_t size_bytes) {
  AddEvent(
      KindId(std::string(schema::kRegionAdd)),
      {U64(schema::kAddress, address), U64(schema::kSizeBytes, size_bytes)});
  return *this;
}

TraceBuilder& TraceBuilder::RegionGone(uint64_t address, uint64_t size_bytes) {
  AddEvent(
      KindId(std::string(schema::kRegionRemove)),
      {U64(schema::kAddress, address), U64(schema::kSizeBytes, size_bytes)});
  return *this;
}

TraceBuilder& TraceBuilder::Alloc(uint64_t address, const Ask& ask) {
  AddEvent(SiteId(std::string(schema::kAlloc), ask),
           {U64(schema::kAddress, address)});
  return *this;
}

TraceBuilder& TraceBuilder::Free(uint64_t address) {
  AddEvent(KindId(std::string(schema::kFree)),
           {U64(schema::kAddress, address)});
  return *this;
}

TraceBuilder& TraceBuilder::Fail(const Ask& ask, const Failure& failure) {
  std::vector<Stat> stats = {
      U64(schema::kRetryOnFailure, failure.is_oom ? 1 : 0)};
  if (failure.limit_bytes > 0) {
    stats.push_back(U64(schema::kBytesLimit, failure.limit_bytes));
  }
  if (!failure.memory_dump.empty()) {
    stats.push_back(Text(schema::kMemoryDump, failure.memory_dump));
  }
  AddEvent(SiteId(std::string(schema::kFailed), ask), std::move(stats))
      .duration_ps = failure.waited_ns * 1000;
  return *this;
}

TraceBuilder& TraceBuilder::Raw(const Event& event) {
  events_.events.push_back(event);
  return *this;
}

TraceBuilder& TraceBuilder::Step(int64_t number) {
  EndStep();
  step_begins_.emplace_back(number, now_ps_ + kEventPs / 2);
  return *this;
}

TraceBuilder& TraceBuilder::EndStep() {
  if (step_begins_.empty()) return *this;
  const auto [number, begin_ps] = step_begins_.back();
  step_begins_.clear();
  steps_.push_back({1,
                    begin_ps,
                    now_ps_ + kEventPs / 4 - begin_ps,
                    {I64("step_num", number)}});
  return *this;
}

TraceBuilder& TraceBuilder::Thread(uint64_t thread) {
  thread_ = thread;
  thread_changed_ = true;
  return *this;
}

TraceBuilder& TraceBuilder::StepId(int64_t step_id) {
  step_id_ = step_id;
  step_id_changed_ = true;
  return *this;
}

TraceBuilder& TraceBuilder::Wait(int64_t duration_ns) {
  now_ps_ += duration_ns * 1000 - kEventPs;
  return *this;
}

TraceBuilder& TraceBuilder::AllocatorStat(const Stat& stat) {
  plane_.AddStat(stat);
  return *this;
}

TraceBuilder& TraceBuilder::SessionStat(const Stat& stat) {
  session_stats_.push_back(stat);
  return *this;
}

int64_t TraceBuilder::Stack(const std::vector<std::string>& frames) {
  std::vector<Stat> stats;
  for (const std::string& frame : frames) {
    std::string text = frame.substr(2);
    std::replace(text.begin(), text.end(), ':', schema::kFrameSeparator);
    stats.push_back(
        Ref(frame[0] == 'l' ? schema::kLibraryFrame : schema::kFrame, text));
  }
  return source_.AddEventMetadata(schema::kStackRecord, "", stats);
}

TraceBuilder& TraceBuilder::SourceRecord(std::string_view kind,
                                         const std::string& name,
                                         const std::vector<Stat>& stats) {
  source_.AddEventMetadata(kind, name, stats);
  return *this;
}

TraceBuilder& TraceBuilder::Forecast(const std::string& function,
                                     int64_t step_id, uint64_t requested_bytes,
                                     const std::string& op, int orders) {
  PlaneBuilder& plane = forecasts_.emplace_back(schema::kForecastPlane);
  const int64_t forecast = plane.AddEventMetadata(
      schema::kForecast, "",
      {Text(schema::kOrigin, "oom"), Text(schema::kFunction, function),
       Text(schema::kAllocatorName, allocator_),
       I64(schema::kStepId, step_id)});
  if (requested_bytes == 0) return *this;
  for (int i = 0; i < orders; ++i) {
    const int64_t site = plane.AddEventMetadata(
        schema::kAlloc, "",
        {Text(schema::kOp, op), U64(schema::kRequestedBytes, requested_bytes)});
    plane.AddLine({i + 1,
                   i == 0 ? "fifo" : absl::StrCat("random_", i),
                   0,
                   {{forecast, 0, 0, {}}, {site, 1, 0, {}}}});
  }
  return *this;
}

TraceBuilder& TraceBuilder::Step(const std::string& function, int64_t step_id,
                                 const std::string& reason) {
  forecasts_.emplace_back(schema::kStepPlane)
      .AddEventMetadata(
          schema::kForecast, "",
          {Text(schema::kFunction, function),
           Text(schema::kAllocatorName, allocator_),
           I64(schema::kStepId, step_id), Text(schema::kReason, reason)});
  return *this;
}

TraceBuilder& TraceBuilder::SourceStat(const Stat& stat) {
  source_.AddStat(stat);
  return *this;
}

std::string TraceBuilder::SerializePlane() {
  PlaneBuilder plane = plane_;
  plane.AddLine(events_);
  plane.AddLine(baseline_);
  return plane.Serialize();
}

std::string TraceBuilder::Serialize(const std::vector<TraceBuilder*>& others) {
  EndStep();
  PlaneBuilder session(schema::kSessionPlane);
  session.AddStat(U64(schema::kVersion, schema::kSchemaVersion));
  session.AddStat(Text(schema::kOrigin, "profile"));
  for (const Stat& stat : session_stats_) session.AddStat(stat);
  PlaneBuilder host("/host:CPU");
  host.AddEventMetadata("train");
  host.AddLine({1, "python", 0, steps_});
  std::vector<std::string> planes = {SerializePlane(), session.Serialize(),
                                     host.Serialize(), source_.Serialize(),
                                     TaskEnvironmentPlane(kStartNs, 0)};
  for (PlaneBuilder& forecast : forecasts_) {
    planes.push_back(forecast.Serialize());
  }
  for (TraceBuilder* other : others) planes.push_back(other->SerializePlane());
  return SerializeSpace(planes);
}

std::unique_ptr<Run> TraceBuilder::Open(
    const std::vector<TraceBuilder*>& others) {
  return OpenBytes({Serialize(others)});
}

std::unique_ptr<Run> OpenBytes(const std::vector<std::string>& files) {
  std::vector<std::unique_ptr<HostAnalysis>> hosts;
  for (size_t i = 0; i < files.size(); ++i) {
    auto trace = ReadTraceFromBytes(
        files[i], absl::StrCat("host", i, ".xplane.pb"), ReadOptions());
    if (!trace.ok()) {
      std::fprintf(stderr, "%s\n",
                   std::string(trace.status().message()).c_str());
      std::abort();
    }
    hosts.push_back(std::make_unique<HostAnalysis>(*std::move(trace)));
  }
  return std::make_unique<Run>(std::move(hosts));
}

}  // namespace oom_forensics::test
