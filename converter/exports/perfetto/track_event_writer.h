// Writes Perfetto's native trace: packets of track descriptors and track
// events, with names and texts interned.
//
//   TrackEventWriter writer(start_ns);
//   const TrackId host = writer.AddTrack(kNoTrack, "host-0", "");
//   const TrackId use = writer.AddCounterTrack(host, "in use", "");
//   writer.AddCounter(use, time_ns, 4096);
//   writer.AddSlice(host, begin_ns, end_ns, "step 1", {});
//   std::string bytes = writer.Finish();
//
// The format: message perfetto.protos.Trace of google/perfetto,
// protos/perfetto/trace. All times are in nanoseconds since the epoch; a clock
// snapshot tells the reader that its own clock and that of the day are one.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_TRACK_EVENT_WRITER_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_TRACK_EVENT_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace oom_forensics {

using TrackId = uint64_t;
inline constexpr TrackId kNoTrack = 0;

// What a slice or an instant says when it is selected.
struct TrackEventArg {
  // An address, shown in hexadecimal.
  struct Pointer {
    uint64_t address = 0;
  };

  std::string_view name;
  std::variant<std::string_view, int64_t, uint64_t, double, bool, Pointer>
      value;
};
using TrackEventArgs = std::vector<TrackEventArg>;

class TrackEventWriter {
 public:
  // `start_ns`: the first time of the trace.
  explicit TrackEventWriter(int64_t start_ns);

  // A track below `parent`, or at the top (kNoTrack). Tracks are shown in the
  // order in which they were added; those of one parent and name become one.
  TrackId AddTrack(TrackId parent, std::string_view name,
                   std::string_view description);
  // A track of byte values.
  TrackId AddCounterTrack(TrackId parent, std::string_view name,
                          std::string_view description);

  void AddCounter(TrackId track, int64_t time_ns, uint64_t bytes);
  // Slices of one track must be nested or follow one another; of two that touch
  // the earlier one comes first.
  void AddSlice(TrackId track, int64_t begin_ns, int64_t end_ns,
                std::string_view name, const TrackEventArgs& args);
  void AddInstant(TrackId track, int64_t time_ns, std::string_view name,
                  const TrackEventArgs& args);

  // The serialized trace. The writer is used up.
  std::string Finish() { return std::move(trace_); }

 private:
  // Texts of one kind that packets name by number.
  struct Interned {
    absl::flat_hash_map<std::string, uint64_t> ids;
    // Added since the last packet.
    std::vector<std::pair<uint64_t, std::string_view>> fresh;

    uint64_t IdOf(std::string_view text);
  };

  TrackId DescribeTrack(TrackId parent, std::string_view name,
                        std::string_view description, bool counts_bytes);
  void AddNamedEvent(TrackId track, int64_t time_ns, int32_t type,
                     std::string_view name, const TrackEventArgs& args);

  std::string trace_;
  TrackId last_track_ = kNoTrack;
  Interned event_names_;
  Interned arg_names_;
  Interned arg_texts_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_TRACK_EVENT_WRITER_H_
