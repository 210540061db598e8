#include "collector/flight_recorder/report.h"

#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "collector/json_writer.h"
#include "collector/version.h"
#include "core/data_types.h"

namespace oom_forensics::collector {
namespace {

// 2: a shape is a list of numbers.
constexpr int kReportVersion = 2;
constexpr size_t kMaxHolders = 1000;

std::string Hexadecimal(uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, address);
  return text;
}

// "[8,16]" as a list; left out where it is not known.
void WriteShape(std::string_view shape, JsonWriter* json) {
  const bool is_list =
      shape.size() >= 2 && shape.front() == '[' && shape.back() == ']' &&
      shape.find_first_not_of("0123456789,[]") == std::string::npos;
  if (!is_list) return;
  json->Name("shape");
  json->Raw(shape);
}

void WriteSite(const SiteKey& site, JsonWriter* json) {
  json->Field("op_name", site.op);
  WriteShape(site.shape, json);
  json->Field("dtype", DtypeName(site.dtype));
  if (site.mode != ExecutionMode::kUnknown) {
    json->Field("mode", site.mode == ExecutionMode::kEager ? "eager" : "graph");
  }
  if (!site.compiled.function.empty()) {
    json->Field("compiled_function", site.compiled.function);
  }
  if (!site.compiled.buffer_kind.empty()) {
    json->Field("buffer_kind", site.compiled.buffer_kind);
  }
}

void WriteStep(int64_t training_step, JsonWriter* json) {
  if (training_step != kNoStep) {
    json->Field("step", static_cast<uint64_t>(training_step));
  }
}

void WriteRequest(const MemoryStory& story, JsonWriter* json) {
  const OutOfMemory& oom = *story.oom;
  json->BeginObject();
  WriteSite(oom.site, json);
  json->Field("requested_bytes", oom.site.requested_bytes);
  if (const AllocatorState* state = story.Find(oom.event.allocator)) {
    json->Field("allocator", FullName(state->info));
  }
  WriteStep(oom.training_step, json);
  json->Field("step_id", std::to_string(oom.event.value));
  json->Field("thread", uint64_t{oom.event.thread});
  json->Field("waited_seconds",
              static_cast<double>(oom.failure.waited_ns) / 1e9);
  json->EndObject();
}

void WriteReason(const MemoryStory& story, JsonWriter* json) {
  json->BeginObject();
  json->Field("kind", story.oom->placement.kind);
  json->Field("sentence", story.oom->placement.sentence);
  json->Field("short_by_bytes", story.oom->placement.short_by_bytes);
  json->EndObject();
}

void WriteRecent(const MemoryStory& story, const Settings& settings,
                 JsonWriter* json) {
  json->BeginArray();
  for (const NamedAllocation& allocation : story.recent) {
    const Event& event = allocation.event;
    json->BeginObject();
    json->Field("time", IsoTime(event.time_ns));
    WriteSite(allocation.site, json);
    json->Field("bytes", allocation.site.allocated_bytes);
    json->Field("requested_bytes", allocation.site.requested_bytes);
    // An address is of use only beside the trace that has the same ones.
    if (!settings.anonymize_addresses) {
      json->Field("address", Hexadecimal(event.address));
    }
    WriteStep(allocation.training_step, json);
    json->Field("step_id", std::to_string(event.value));
    json->Field("thread", uint64_t{event.thread});
    if (const AllocatorState* state = story.Find(event.allocator)) {
      json->Field("allocator", FullName(state->info));
    }
    json->EndObject();
  }
  json->EndArray();
}

void WriteHolders(const MemoryStory& story, JsonWriter* json) {
  json->BeginArray();
  for (size_t i = 0; i < story.holders.size() && i < kMaxHolders; ++i) {
    const Holder& holder = story.holders[i];
    json->BeginObject();
    WriteSite(holder.site, json);
    json->Field("region_type", holder.site.region_type);
    json->Field("count", holder.count);
    json->Field("requested_bytes", holder.requested_bytes);
    json->Field("allocated_bytes", holder.allocated_bytes);
    if (const AllocatorState* state = story.Find(holder.allocator)) {
      json->Field("allocator", FullName(state->info));
    }
    json->EndObject();
  }
  json->EndArray();
}

void WriteSettings(const Settings& settings, JsonWriter* json) {
  json->BeginObject();
  json->Field("allocation_log_buffer_size",
              settings.allocation_log_buffer_size);
  json->Field("allocation_log_sampling_rate",
              settings.allocation_log_sampling_rate);
  json->Field("min_bytes", settings.min_bytes);
  json->Field("anonymize_addresses", settings.anonymize_addresses);
  json->Field("max_reports", settings.max_reports);
  json->EndObject();
}

// "NAME=value" lines as an object.
void WriteEnvironment(const std::string& lines, JsonWriter* json) {
  json->BeginObject();
  size_t begin = 0;
  while (begin < lines.size()) {
    size_t end = lines.find('\n', begin);
    if (end == std::string::npos) end = lines.size();
    const std::string line = lines.substr(begin, end - begin);
    const size_t equals = line.find('=');
    if (equals != std::string::npos) {
      json->Field(line.substr(0, equals), line.substr(equals + 1));
    }
    begin = end + 1;
  }
  json->EndObject();
}

}  // namespace

std::string IsoTime(int64_t time_ns) {
  const time_t seconds = time_ns / 1'000'000'000;
  tm utc;
  gmtime_r(&seconds, &utc);
  char date[32];
  strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
  char text[64];
  std::snprintf(text, sizeof(text), "%s.%09" PRId64 "Z", date,
                time_ns % 1'000'000'000);
  return text;
}

std::string WriteReport(const MemoryStory& story, const SessionFacts& session,
                        const Settings& settings, uint64_t number,
                        const std::vector<std::string>& summary,
                        const std::string& host, const std::string& trace_path,
                        const std::string& evidence) {
  JsonWriter json;
  json.BeginObject();
  json.Field("schema", "oom_forensics.oom_report");
  json.Field("version", kReportVersion);
  json.Field("origin", session.origin);
  json.Field("time", IsoTime(story.time_ns));
  json.Field("host", host);
  json.Field("process_id", static_cast<uint64_t>(getpid()));
  json.Field("collector_version", kCollectorVersion);
  json.Field("tensorflow_version", session.tensorflow_version);
  json.Field("attribution", session.attribution);
  if (!trace_path.empty()) json.Field("trace", trace_path);
  if (!evidence.empty()) json.Field("python_evidence", evidence);
  json.Name("summary");
  json.BeginArray();
  for (const std::string& line : summary) json.Value(line);
  json.EndArray();
  if (story.oom.has_value()) {
    json.Field("oom_number", number);
    json.Name("request");
    WriteRequest(story, &json);
    json.Name("reason");
    WriteReason(story, &json);
  }
  json.Name("allocators");
  json.BeginArray();
  for (const AllocatorState& state : story.allocators) {
    WriteAllocatorState(state, &json);
  }
  json.EndArray();
  json.Name("live_by_site");
  WriteHolders(story, &json);
  json.Field("live_sites", static_cast<uint64_t>(story.holders.size()));
  if (session.unnamed_allocations != 0) {
    json.Field("unnamed_allocations", session.unnamed_allocations);
  }
  if (session.unknown_allocator_requests != 0) {
    json.Field("unknown_allocator_requests",
               session.unknown_allocator_requests);
  }
  json.Name("recent_allocations");
  WriteRecent(story, settings, &json);
  json.Name("settings");
  WriteSettings(settings, &json);
  json.Name("environment");
  WriteEnvironment(session.environment, &json);
  json.EndObject();
  return json.Take();
}

}  // namespace oom_forensics::collector
