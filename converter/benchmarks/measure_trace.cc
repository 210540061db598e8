// Times of one trace, for tools/bench. Each way is a process of its own, so
// that its peak of memory is its own too.
//
//   measure_trace make EVENTS FILE   writes a synthetic trace
//   measure_trace scan FILE          walks every field of the file, nothing
//   else measure_trace load FILE          reads and replays it measure_trace
//   datasets FILE      and answers every dataset, cold and warm
//
// Prints one JSON object.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/benchmarks/synthetic_trace.h"
#include "converter/datasets/dataset.h"
#include "converter/input/mapped_file.h"
#include "converter/input/trace_files.h"
#include "converter/reader/trace_reader.h"
#include "converter/render/render.h"
#include "converter/run/run.h"
#include "proto/event_schema.h"
#include "protozero/exception.hpp"
#include "protozero/pbf_reader.hpp"

namespace oom_forensics {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double PeakMib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int Fail(const absl::Status& status) {
  std::cerr << std::string(status.message()) << "\n";
  return 1;
}

// The fields of a message at each level of an XSpace; what a field number means
// there is all that the scan knows.
enum class Level { kSpace, kPlane, kLine, kEvent, kStat, kOther };

Level Below(Level level, uint32_t field) {
  switch (level) {
    case Level::kSpace:
      return field == schema::xspace::kPlanes ? Level::kPlane : Level::kOther;
    case Level::kPlane:
      return field == schema::xplane::kLines ? Level::kLine : Level::kOther;
    case Level::kLine:
      return field == schema::xline::kEvents ? Level::kEvent : Level::kOther;
    case Level::kEvent:
      return field == schema::xevent::kStats ? Level::kStat : Level::kOther;
    case Level::kStat:
    case Level::kOther:
      break;
  }
  return Level::kOther;
}

// Decodes every field of the message; returns a sum, so that nothing of it can
// be left out.
uint64_t Scan(protozero::pbf_reader reader, Level level) {
  uint64_t sum = 0;
  while (reader.next()) {
    switch (reader.wire_type()) {
      case protozero::pbf_wire_type::varint:
        sum += reader.get_uint64();
        break;
      case protozero::pbf_wire_type::fixed64:
        sum += reader.get_fixed64();
        break;
      case protozero::pbf_wire_type::length_delimited: {
        const Level below = Below(level, reader.tag());
        const protozero::data_view view = reader.get_view();
        sum += below == Level::kOther
                   ? view.size()
                   : Scan(protozero::pbf_reader(view), below);
        break;
      }
      default:
        reader.skip();
    }
  }
  return sum;
}

int ScanFile(const std::string& path) {
  const auto start = Clock::now();
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return Fail(file.status());
  const std::string_view bytes = (*file)->bytes();
  uint64_t sum = 0;
  try {
    sum =
        Scan(protozero::pbf_reader(bytes.data(), bytes.size()), Level::kSpace);
  } catch (const protozero::exception& damage) {
    std::cerr << damage.what() << "\n";
    return 1;
  }
  std::cout << "{\"seconds\": " << SecondsSince(start)
            << ", \"peak_mib\": " << PeakMib() << ", \"sum\": " << sum << "}\n";
  return 0;
}

absl::StatusOr<std::unique_ptr<Run>> Open(const std::string& path) {
  const auto files = FindTraceFiles(path, "");
  if (!files.ok()) return files.status();
  return Run::Open(*files, RunOptions());
}

int Load(const std::string& path) {
  const auto start = Clock::now();
  auto trace = ReadTrace(path, ReadOptions());
  if (!trace.ok()) return Fail(trace.status());
  const double read_seconds = SecondsSince(start);
  const HostAnalysis host(*std::move(trace));
  const double seconds = SecondsSince(start);
  const uint64_t resident = host.ResidentBytes();
  uint64_t rows = 0;
  for (const auto& allocator : host.allocators()) {
    rows += allocator->trace().row_count();
  }
  std::cout << "{\"seconds\": " << seconds
            << ", \"read_seconds\": " << read_seconds
            << ", \"peak_mib\": " << PeakMib() << ", \"events\": " << rows
            << ", \"bytes_per_event\": "
            << (rows == 0
                    ? 0.0
                    : static_cast<double>(resident) / static_cast<double>(rows))
            << "}\n";
  return 0;
}

// What the tab asks for, in its order.
std::vector<Query> Questions() {
  std::vector<Query> questions;
  const auto ask = [&questions](DatasetKind kind) -> Query& {
    questions.emplace_back().set_dataset(kind);
    return questions.back();
  };
  ask(INFO);
  ask(OOM_WINDOW);
  ask(MEMORY_TIMELINE).set_columns(2000);
  Query& stacked = ask(MEMORY_TIMELINE);
  stacked.set_columns(2000);
  stacked.set_top(10);
  Query& filtered = ask(MEMORY_TIMELINE);
  filtered.set_columns(2000);
  filtered.mutable_filter()->set_search("layer_1");
  ask(ALLOCATIONS).set_group_by(GROUP_SCOPE);
  ask(FRAGMENTATION).set_columns(1000);
  ask(STEPS);
  return questions;
}

int Datasets(const std::string& path) {
  const auto start = Clock::now();
  const auto run = Open(path);
  if (!run.ok()) return Fail(run.status());
  std::string rows;
  for (const Query& query : Questions()) {
    double seconds[2] = {0, 0};
    size_t bytes = 0;
    for (double& time : seconds) {
      const auto asked = Clock::now();
      const auto answer = AnswerQuery({**run, nullptr, query});
      if (!answer.ok()) return Fail(answer.status());
      const auto rendered = RenderProtobuf(**answer);
      if (!rendered.ok()) return Fail(rendered.status());
      bytes = rendered->size();
      time = SecondsSince(asked);
    }
    const char* detail = query.top() > 0                    ? " stacked"
                         : !query.filter().search().empty() ? " filtered"
                                                            : "";
    absl::StrAppend(&rows, rows.empty() ? "" : ", ", "{\"dataset\": \"",
                    std::string(FindDataset(query.dataset())->name), detail,
                    "\", \"cold_ms\": ", seconds[0] * 1000,
                    ", \"warm_ms\": ", seconds[1] * 1000,
                    ", \"bytes\": ", bytes, "}");
  }
  std::cout << "{\"seconds\": " << SecondsSince(start)
            << ", \"peak_mib\": " << PeakMib() << ", \"datasets\": [" << rows
            << "]}\n";
  return 0;
}

int Make(const std::string& events, const std::string& path) {
  benchmarks::SyntheticTraceOptions options;
  options.events = std::strtoull(events.c_str(), nullptr, 10);
  const std::string bytes = benchmarks::MakeSyntheticTrace(options);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? 0 : 1;
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "make") {
    return Make(arguments[1], arguments[2]);
  }
  if (arguments.size() == 2) {
    if (arguments[0] == "scan") return ScanFile(arguments[1]);
    if (arguments[0] == "load") return Load(arguments[1]);
    if (arguments[0] == "datasets") return Datasets(arguments[1]);
  }
  std::cerr << "usage: measure_trace scan|load|datasets FILE, or make N FILE\n";
  return 2;
}

}  // namespace
}  // namespace oom_forensics

int main(int argc, char** argv) {
  return oom_forensics::Main(std::vector<std::string>(argv + 1, argv + argc));
}
