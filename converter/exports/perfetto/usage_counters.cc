#include "converter/exports/perfetto/usage_counters.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/cached_timelines.h"

namespace oom_forensics {
namespace {

using ValueAt = std::function<uint64_t(Position)>;

struct CounterTrack {
  std::string_view name;
  std::string_view meaning;
  ValueAt value;
};

// A counter's values at some positions, in order, without repetitions.
class CounterLine {
 public:
  CounterLine(const SelectedAllocator& allocator, const ValueAt& value,
              TrackId track, TrackEventWriter* writer)
      : allocator_(allocator), value_(value), track_(track), writer_(writer) {}

  void Add(Position position) {
    const uint64_t value = value_(position);
    if (!empty_ && value == last_) return;
    empty_ = false;
    last_ = value;
    const HostTrace& host = allocator_.host->trace();
    writer_->AddCounter(
        track_, host.ToNs(allocator_.replay->TimePsOf(position)), value);
  }

  // The first, lowest and highest value of positions begin to end, both
  // included, in their order.
  void AddStretch(Position begin, Position end) {
    Position lowest = begin;
    Position highest = begin;
    uint64_t low = value_(begin);
    uint64_t high = low;
    for (Position p = begin + 1; p <= end; ++p) {
      const uint64_t value = value_(p);
      if (value < low) {
        low = value;
        lowest = p;
      }
      if (value > high) {
        high = value;
        highest = p;
      }
    }
    Add(begin);
    Add(std::min(lowest, highest));
    Add(std::max(lowest, highest));
  }

 private:
  const SelectedAllocator& allocator_;
  const ValueAt& value_;
  TrackId track_;
  TrackEventWriter* writer_;
  bool empty_ = true;
  uint64_t last_ = 0;
};

void AddTrack(const SelectedAllocator& allocator, const CounterTrack& counter,
              PositionRange range, uint32_t stretches, TrackId parent,
              TrackEventWriter* writer) {
  const uint64_t count = uint64_t{range.end} - range.begin + 1;
  const uint64_t length = (count + stretches - 1) / stretches;
  std::string description(counter.meaning);
  if (length > 1) {
    absl::StrAppend(&description, " Of every ", length,
                    " events the first, lowest and highest value.");
  }
  const TrackId track =
      writer->AddCounterTrack(parent, counter.name, description);
  CounterLine line(allocator, counter.value, track, writer);
  for (uint64_t begin = range.begin; begin <= range.end; begin += length) {
    const uint64_t end = std::min<uint64_t>(begin + length - 1, range.end);
    line.AddStretch(static_cast<Position>(begin), static_cast<Position>(end));
  }
  line.Add(range.end);
}

}  // namespace

void AddUsageCounters(const SelectedAllocator& allocator, PositionRange range,
                      uint32_t stretches, TrackId parent,
                      TrackEventWriter* writer) {
  const AllocatorReplay& replay = *allocator.replay;
  const UsageTimeline& usage = replay.usage();
  const uint64_t limit_bytes = replay.trace().limit_bytes;
  const std::shared_ptr<const HoleTimeline> holes = HolesOverTime(
      allocator, RequestForMeasures(replay, range.end, /*asked_bytes=*/0));
  std::vector<CounterTrack> counters = {
      {"In use", "Bytes of live allocations, as allocated.",
       [&](Position p) { return usage.At(p).in_use_bytes; }},
      {"Requested", "Bytes of live allocations, as asked for.",
       [&](Position p) { return usage.At(p).requested_bytes; }},
      {"Reserved", "Bytes that the allocator holds in regions.",
       [&](Position p) { return usage.At(p).reserved_bytes; }},
      {"Largest hole", "Bytes of the largest free piece of the regions.",
       [&](Position p) { return holes->At(p).largest_free_bytes; }},
  };
  if (limit_bytes > 0) {
    counters.push_back({"Limit", "Bytes that the allocator may take.",
                        [&](Position) { return limit_bytes; }});
  }
  for (const CounterTrack& counter : counters) {
    AddTrack(allocator, counter, range, stretches, parent, writer);
  }
}

}  // namespace oom_forensics
