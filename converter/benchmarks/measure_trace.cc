// Times of one trace, for tools/bench. Each way is a process of its own, so
// that its peak of memory is its own too.
//
//   measure_trace make EVENTS FILE   writes a synthetic trace
//   measure_trace scan FILE          walks every field, and no more
//   measure_trace load FILE          reads and replays it
//   measure_trace keep FILE          and keeps its columns for the next opening
//   measure_trace open FILE          opens it, by its columns if they are kept,
//   and draws its timeline
//   measure_trace datasets FILE      and answers every view, cold and warm
//   measure_trace what_if FILE       and replays the requests in other
//   limits
//
// Cold is the first question of a view; warm the slowest of five more, each
// about another moment, range or page.
//
// Prints one JSON object.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/benchmarks/synthetic_trace.h"
#include "converter/cache/column_cache.h"
#include "converter/datasets/dataset.h"
#include "converter/datasets/selection.h"
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
  ReadOptions options;
  options.threads = std::thread::hardware_concurrency();  // As Run::Open does.
  auto trace = ReadTrace(path, options);
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

int Keep(const std::string& path) {
  const ColumnCache cache = ColumnCache::OfUser();
  const auto entry = cache.EntryOf(path, false);
  if (!entry.has_value()) {
    std::cerr << "its columns are not kept\n";
    return 1;
  }
  auto trace = ReadTrace(path, ReadOptions());
  if (!trace.ok()) return Fail(trace.status());
  const HostAnalysis host(*std::move(trace));
  const auto start = Clock::now();
  const bool kept = cache.Keep(*entry, host.replayed());
  std::cout << "{\"seconds\": " << SecondsSince(start)
            << ", \"peak_mib\": " << PeakMib() << "}\n";
  return kept ? 0 : 1;
}

int OpenAndDraw(const std::string& path) {
  const auto start = Clock::now();
  const auto run = Open(path);
  if (!run.ok()) return Fail(run.status());
  const double opened_seconds = SecondsSince(start);
  for (const DatasetKind kind : {INFO, MEMORY_TIMELINE}) {
    Query query;
    query.set_dataset(kind);
    query.set_columns(2000);
    const auto answer = AnswerQuery({**run, nullptr, query});
    if (!answer.ok()) return Fail(answer.status());
    const auto rendered = RenderProtobuf(**answer);
    if (!rendered.ok()) return Fail(rendered.status());
  }
  std::cout << "{\"seconds\": " << SecondsSince(start)
            << ", \"opened_seconds\": " << opened_seconds
            << ", \"peak_mib\": " << PeakMib() << "}\n";
  return 0;
}

// How often each view is asked again, always about something else.
constexpr int kWarmQuestions = 5;

// A view of the tab, and its i-th question: each has another moment, range,
// allocation or page than those before.
struct View {
  std::string name;
  DatasetKind dataset;
  std::function<void(int i, Query* query)> ask;
};

// What questions about a trace can differ by.
struct Subject {
  NsRange range;
  int64_t events = 0;

  // A part of the range that is about a quarter of it.
  void Zoom(int i, Query* query) const {
    const int64_t length_ns = range.to_ns - range.from_ns;
    const int64_t from_ns = range.from_ns + length_ns * (i % 7) / 10;
    query->mutable_filter()->set_from_ns(from_ns);
    query->mutable_filter()->set_to_ns(from_ns + length_ns / (4 + i % 3));
  }
  int64_t EventAt(int i) const { return events * (2 * i + 1) / 16; }
};

std::vector<View> Views(const Subject& subject) {
  const auto unchanged = [](int, Query*) {};
  const auto zoomed = [subject](uint32_t top, const char* search) {
    return [subject, top, search](int i, Query* query) {
      query->set_columns(2000);
      query->set_top(top);
      query->mutable_filter()->set_search(search);
      if (i > 0) subject.Zoom(i, query);
    };
  };
  const auto moment = [subject](int i, Query* query) {
    if (i > 0) query->mutable_at()->set_event(subject.EventAt(i));
  };
  return {
      {"info", INFO, unchanged},
      {"oom_window", OOM_WINDOW,
       [](int i, Query* query) {
         query->set_pin_cost(static_cast<PinCost>(i % 3));
         query->mutable_filter()->set_min_bytes(static_cast<uint64_t>(i) << 8);
       }},
      {"memory_timeline", MEMORY_TIMELINE, zoomed(0, "")},
      {"memory_timeline stacked", MEMORY_TIMELINE, zoomed(10, "")},
      {"memory_timeline by role", MEMORY_TIMELINE,
       [subject](int i, Query* query) {
         query->set_columns(2000);
         query->set_top(10);
         query->set_group_by(GROUP_ROLE);
         if (i > 0) subject.Zoom(i, query);
       }},
      {"memory_timeline filtered", MEMORY_TIMELINE, zoomed(0, "layer_1")},
      {"memory_timeline, a new filter", MEMORY_TIMELINE,
       [](int i, Query* query) {
         query->set_columns(2000);
         query->mutable_filter()->set_search(absl::StrCat("layer_", i + 2));
       }},
      {"allocations", ALLOCATIONS, moment},
      {"allocations by scope", ALLOCATIONS,
       [moment](int i, Query* query) {
         moment(i, query);
         query->set_group_by(GROUP_SCOPE);
       }},
      {"allocations by role", ALLOCATIONS,
       [moment](int i, Query* query) {
         moment(i, query);
         query->set_group_by(GROUP_ROLE);
       }},
      {"fragmentation and map", FRAGMENTATION,
       [moment, subject](int i, Query* query) {
         query->set_columns(1000);
         moment(i, query);
         if (i > 0) subject.Zoom(i, query);
       }},
      {"leaks", LEAKS, unchanged},
      {"compare", COMPARE,
       [subject](int i, Query* query) {
         query->mutable_at()->set_event(subject.EventAt(i));
         query->mutable_other()->set_event(subject.EventAt(i + 1));
       }},
      {"steps", STEPS,
       [](int i, Query* query) {
         query->set_offset(static_cast<uint32_t>(i) * 100);
       }},
      {"address_history", ADDRESS_HISTORY,
       [subject](int i, Query* query) {
         query->set_columns(1500);
         if (i > 0) subject.Zoom(i, query);
       }},
      {"allocation_life", ALLOCATION_LIFE,
       [subject](int i, Query* query) {
         query->set_allocation_id(subject.EventAt(i));
       }},
      {"driver_memory", DRIVER_MEMORY, unchanged},
  };
}

// The next allocation at or after an event, for views that need one.
int64_t AllocationFrom(const AllocatorReplay& replay, int64_t event) {
  Row row = replay.trace().RowOf(event);
  while (row < replay.trace().row_count() &&
         replay.trace().kind_of[row] != RowKind::kAlloc) {
    ++row;
  }
  return replay.trace().EventOf(row);
}

int Datasets(const std::string& path) {
  const auto start = Clock::now();
  const auto run = Open(path);
  if (!run.ok()) return Fail(run.status());
  // All questions are about the first allocator, as those of the tab are about
  // the one that is chosen there.
  const Selection selected(**run, {{0, 0}});
  const SelectedAllocator allocator = *selected.begin();
  const AllocatorReplay& replay = *allocator.replay;
  Filter filter;
  filter.set_host(allocator.host->trace().host);
  filter.set_allocator(replay.trace().name);
  const Subject subject{SelectedRange(selected, filter),
                        replay.trace().row_count()};
  std::string rows;
  double cold_seconds = SecondsSince(start);
  for (const View& view : Views(subject)) {
    double cold_ms = 0;
    double warm_ms = 0;
    size_t bytes = 0;
    for (int i = 0; i <= kWarmQuestions; ++i) {
      Query query;
      query.set_dataset(view.dataset);
      *query.mutable_filter() = filter;
      view.ask(i, &query);
      if (view.dataset == ALLOCATION_LIFE) {
        query.set_allocation_id(AllocationFrom(replay, query.allocation_id()));
      }
      const auto asked = Clock::now();
      const auto answer = AnswerQuery({**run, nullptr, query});
      if (!answer.ok()) return Fail(answer.status());
      const auto rendered = RenderProtobuf(**answer);
      if (!rendered.ok()) return Fail(rendered.status());
      const double ms = SecondsSince(asked) * 1000;
      bytes = std::max(bytes, rendered->size());
      if (i == 0) {
        cold_ms = ms;
      } else {
        warm_ms = std::max(warm_ms, ms);
      }
    }
    cold_seconds += cold_ms / 1000;
    absl::StrAppend(&rows, rows.empty() ? "" : ", ", "{\"dataset\": \"",
                    view.name, "\", \"cold_ms\": ", cold_ms,
                    ", \"warm_ms\": ", warm_ms, ", \"bytes\": ", bytes, "}");
  }
  std::cout << "{\"seconds\": " << cold_seconds
            << ", \"peak_mib\": " << PeakMib() << ", \"datasets\": [" << rows
            << "]}\n";
  return 0;
}

// What the tab's slider asks: each time another limit.
int WhatIf(const std::string& path) {
  const auto run = Open(path);
  if (!run.ok()) return Fail(run.status());
  double cold_ms = 0;
  double warm_ms = 0;
  double search_ms = 0;
  WhatIfAnswer last;
  for (int i = 0; i <= kWarmQuestions + 1; ++i) {
    Query query;
    query.set_dataset(WHAT_IF);
    WhatIfSettings* settings = query.mutable_what_if();
    const bool searches = i > kWarmQuestions;
    settings->set_find_smallest_limit(searches);
    settings->set_maps(!searches);
    // Enough for all, so that none is served in part only.
    if (i > 0) {
      settings->set_limit_bytes(last.recorded().peak_reserved_bytes() * 2 +
                                (static_cast<uint64_t>(i) << 20));
    }
    const auto asked = Clock::now();
    const auto answer = AnswerQuery({**run, nullptr, query});
    if (!answer.ok()) return Fail(answer.status());
    const auto rendered = RenderProtobuf(**answer);
    if (!rendered.ok()) return Fail(rendered.status());
    const double ms = SecondsSince(asked) * 1000;
    last = static_cast<const WhatIfAnswer&>(**answer);
    if (searches) {
      search_ms = ms;
    } else if (i == 0) {
      cold_ms = ms;
    } else {
      warm_ms = std::max(warm_ms, ms);
    }
  }
  std::cout << "{\"seconds\": " << warm_ms / 1000
            << ", \"first_ms\": " << cold_ms << ", \"warm_ms\": " << warm_ms
            << ", \"search_ms\": " << search_ms
            << ", \"limits\": " << last.limits_size()
            << ", \"requests\": " << last.requests()
            << ", \"placed_alike\": " << last.placed_alike()
            << ", \"peak_mib\": " << PeakMib() << "}\n";
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
    if (arguments[0] == "keep") return Keep(arguments[1]);
    if (arguments[0] == "open") return OpenAndDraw(arguments[1]);
    if (arguments[0] == "datasets") return Datasets(arguments[1]);
    if (arguments[0] == "what_if") return WhatIf(arguments[1]);
  }
  std::cerr
      << "usage: measure_trace scan|load|keep|open|datasets|what_if FILE, "
         "or make N FILE\n";
  return 2;
}

}  // namespace
}  // namespace oom_forensics

int main(int argc, char** argv) {
  return oom_forensics::Main(std::vector<std::string>(argv + 1, argv + argc));
}
