// TensorFlow's own memory events (BFCAllocator::AddTraceMe), the poorer second
// source. Each states the allocator's totals after it; none states a failed
// request, a region, or what was live before the session. Two things can be
// won back:
//   - a chunk whose free is seen but not its allocation was live when the trace
//     began: it becomes a chunk of the baseline, of unknown age;
//   - what the first event says is in use beyond those is the unnamed rest.
// Where the profiler recorded Python's calls, too, they tell who asked.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "converter/reader/host_line_reader.h"
#include "converter/reader/plane_reader.h"
#include "converter/text/text.h"
#include "converter/trace/allocator_trace_writer.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

struct StockEvent {
  // Since its line's start, until that is known.
  int64_t time_ps = 0;
  uint64_t address = 0;
  // The allocator's own total after the event.
  uint64_t in_use_bytes = 0;
  uint64_t thread = 0;
  int64_t step_id = 0;
  SiteId site = 0;
  bool is_alloc = false;
};

struct StockAllocator {
  std::vector<StockEvent> events;
  // Events before it are of lines that are read.
  size_t line_begin = 0;
  uint64_t limit_bytes = 0;
  QualityLog quality;
};

// Whether the collector recorded this allocator itself.
bool IsRecorded(const HostTrace& trace, std::string_view allocator) {
  return std::any_of(trace.allocators.begin(), trace.allocators.end(),
                     [allocator](const AllocatorTrace& recorded) {
                       return recorded.source == Source::COLLECTOR &&
                              std::string_view(recorded.name)
                                      .substr(0, recorded.name.rfind('#')) ==
                                  allocator;
                     });
}

AllocatorTrace BuildAllocator(const std::string& name, StockAllocator stock,
                              HostTrace* trace) {
  const auto earlier = [](const StockEvent& a, const StockEvent& b) {
    return a.time_ps < b.time_ps;
  };
  // As those of one thread are.
  if (!std::is_sorted(stock.events.begin(), stock.events.end(), earlier)) {
    std::stable_sort(stock.events.begin(), stock.events.end(), earlier);
  }
  AllocatorTraceWriter writer(name, Source::STOCK_TRACE, &trace->sites);
  AllocatorTrace& facts = writer.facts();
  facts.kind = "bfc";
  facts.limit_bytes = stock.limit_bytes;
  facts.quality = stock.quality;
  // None of its events had an address.
  if (stock.events.empty()) return writer.Finish();
  const auto stamp = [](const StockEvent& event) {
    RowStamp row;
    row.time_ps = event.time_ps;
    row.context = {event.step_id, event.thread};
    return row;
  };

  absl::flat_hash_set<uint64_t> live;
  uint64_t baseline_bytes = 0;
  RowStamp beginning;
  beginning.time_ps = stock.events.front().time_ps;
  for (const StockEvent& event : stock.events) {
    if (event.is_alloc) {
      live.insert(event.address);
    } else if (live.erase(event.address) == 0) {
      writer.AddBaselineChunk(beginning, event.address, event.site, 0);
      baseline_bytes += trace->sites.Get(event.site).allocated_bytes;
    }
  }
  const StockEvent& first = stock.events.front();
  const uint64_t first_bytes = trace->sites.Get(first.site).allocated_bytes;
  const uint64_t before =
      first.is_alloc
          ? first.in_use_bytes - std::min(first.in_use_bytes, first_bytes)
          : first.in_use_bytes + first_bytes;
  facts.unnamed_in_use_bytes = before - std::min(before, baseline_bytes);
  if (facts.unnamed_in_use_bytes > 0) {
    facts.quality.Add(QualityCounter::kUnnamedBaseline,
                      facts.unnamed_in_use_bytes);
  }

  uint64_t in_use = facts.unnamed_in_use_bytes + baseline_bytes;
  writer.Reserve(stock.events.size());
  for (const StockEvent& event : stock.events) {
    const uint64_t bytes = trace->sites.Get(event.site).allocated_bytes;
    if (event.is_alloc) {
      writer.AddAlloc(stamp(event), event.address, event.site);
      in_use += bytes;
    } else {
      writer.AddFree(stamp(event), event.address);
      in_use -= bytes;
    }
    if (in_use != event.in_use_bytes) {
      facts.quality.Add(QualityCounter::kInUseDrift);
      in_use = event.in_use_bytes;
    }
  }
  facts.quality.Add(QualityCounter::kNoEventOfOom);
  return writer.Finish();
}

class HostPlaneReader {
 public:
  HostPlaneReader(const HostLineReader& reader, ReadContext* context)
      : reader_(reader),
        context_(context),
        calls_(reader.python_functions(), context) {}

  void ReadLine(std::string_view line) {
    LineHeader header;
    reader_.Read(line, context_->threads(), [&](const HostLinePart& part) {
      header.Include(part.header);
      // Events of a line are in the order of their times.
      auto call = part.calls.begin();
      for (const StockMemoryEvent& event : part.events) {
        while (call != part.calls.end() && call->offset_ps <= event.offset_ps) {
          calls_.Enter(*call++);
        }
        Add(event);
      }
      while (call != part.calls.end()) calls_.Enter(*call++);
      steps_.insert(steps_.end(), part.steps.begin(), part.steps.end());
      for (const StockCompilation& compilation : part.compilations) {
        Add(compilation);
      }
      context_->trace().quality.Add(
          QualityCounter::kMalformedMessages,
          part.quality.count(QualityCounter::kMalformedMessages));
      context_->Consumed(part.end);
    });
    EndLine(header);
  }

  absl::Status Finish() {
    for (auto& [name, stock] : allocators_) {
      const absl::Status fits = context_->ReserveRows(stock.events.size());
      if (!fits.ok()) return fits;
      HostTrace& trace = context_->trace();
      trace.allocators.push_back(
          BuildAllocator(context_->Text(name), std::move(stock), &trace));
    }
    return absl::OkStatus();
  }

 private:
  void Add(const StockMemoryEvent& event) {
    StockAllocator* allocator = AllocatorOf(event.allocator);
    if (allocator == nullptr) return;
    if (event.address == 0) {
      allocator->quality.Add(QualityCounter::kNoAddresses);
      return;
    }
    StockEvent stock;
    stock.time_ps = event.offset_ps;
    stock.address = event.address;
    stock.in_use_bytes = event.in_use_bytes;
    stock.step_id = event.step_id;
    stock.site = SiteOf(event);
    stock.is_alloc = event.is_alloc;
    allocator->events.push_back(stock);
    if (allocator->limit_bytes == 0) {
      // BFCAllocator: available = limit - reserved - in use.
      allocator->limit_bytes =
          event.in_use_bytes + event.reserved_bytes + event.available_bytes;
    }
  }

  void Add(const StockCompilation& compilation) {
    for (CompiledModule& module : context_->trace().modules) {
      if (module.name != compilation.module || compilation.duration_ps < 0) {
        continue;
      }
      module.compile_ns +=
          static_cast<uint64_t>(compilation.duration_ps) / 1000;
    }
  }

  SiteId SiteOf(const StockMemoryEvent& event) {
    AllocationSite site;
    site.op = context_->Intern(event.op);
    site.shape = context_->Intern(event.shape);
    site.region_type = context_->Intern(event.region_type);
    site.dtype = event.dtype;
    site.requested_bytes = event.requested_bytes;
    site.allocated_bytes = event.allocated_bytes != 0
                               ? event.allocated_bytes
                               : RoundedBytes(event.requested_bytes);
    if (event.is_alloc) site.stack = calls_.StackAt(event.offset_ps);
    return context_->trace().sites.Intern(site);
  }

  // Gives the line's events its thread, and the trace's time.
  void EndLine(const LineHeader& header) {
    calls_.EndThread();
    const int64_t start_ps = context_->LineStartPs(header.timestamp_ns);
    for (auto& [name, stock] : allocators_) {
      for (size_t i = stock.line_begin; i < stock.events.size(); ++i) {
        StockEvent& event = stock.events[i];
        event.time_ps = std::clamp(ReadContext::TimePs(start_ps, event.time_ps),
                                   -kMaxTimePs, kMaxTimePs);
        event.thread = static_cast<uint64_t>(header.id);
      }
      stock.line_begin = stock.events.size();
    }
    for (const StockStep& step : steps_) {
      const int64_t begin_ps = ReadContext::TimePs(start_ps, step.offset_ps);
      context_->steps().Add(
          step.number, begin_ps,
          ReadContext::TimePs(begin_ps,
                              std::max<int64_t>(step.duration_ps, 0)));
    }
    steps_.clear();
  }

  // Null where the collector has recorded the allocator.
  StockAllocator* AllocatorOf(std::string_view name) {
    if (name.empty()) name = "unknown";
    if (is_known_ && last_name_ == name) return last_;
    is_known_ = true;
    last_name_ = name;
    last_ = IsRecorded(context_->trace(), name)
                ? nullptr
                : &allocators_[std::string(name)];
    return last_;
  }

  const HostLineReader& reader_;
  ReadContext* context_;
  PythonCalls calls_;
  std::map<std::string, StockAllocator> allocators_;
  // What the event before said.
  bool is_known_ = false;
  StockAllocator* last_ = nullptr;
  std::string_view last_name_;
  std::vector<StockStep> steps_;
};

}  // namespace

absl::Status ReadHostPlane(const PlaneLayout& plane, ReadContext* context) {
  const HostLineReader reader(plane);
  if (!reader.HasAnything()) return absl::OkStatus();
  HostPlaneReader host(reader, context);
  for (const std::string_view line : plane.lines) host.ReadLine(line);
  return host.Finish();
}

}  // namespace oom_forensics
