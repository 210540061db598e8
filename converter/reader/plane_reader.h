// What the readers of the planes share: the trace that they fill, its clock
// and its texts.
#ifndef OOM_FORENSICS_CONVERTER_READER_PLANE_READER_H_
#define OOM_FORENSICS_CONVERTER_READER_PLANE_READER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "converter/cancellation/cancellation.h"
#include "converter/reader/event_reader.h"
#include "converter/reader/step_collector.h"
#include "converter/reader/trace_reader.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

class ReadContext {
 public:
  ReadContext(HostTrace* trace, const ReadOptions& options,
              std::function<void(const char*)> consumed)
      : trace_(*trace),
        options_(options),
        copy_bytes_left_(kMinCopyBytes + trace->file_bytes),
        consumed_(std::move(consumed)) {}

  HostTrace& trace() { return trace_; }
  StepCollector& steps() { return steps_; }
  // That may read beside the caller's.
  uint32_t threads() const { return options_.threads; }

  // The start of a line in picoseconds of the trace. Lines are relative to the
  // session's start, as TensorFlow leaves them; one that is not yet (a line of
  // the epoch) is made so.
  int64_t LineStartPs(int64_t timestamp_ns);
  // `start_ps + offset_ps`, saturated beyond any possible time.
  static int64_t TimePs(int64_t start_ps, int64_t offset_ps);

  // A text of the file, interned; damage and excess are counted.
  // `text` must stay where it is as long as the context.
  StringId Intern(std::string_view text);
  // A copy; empty, and counted, where the file refers to its texts so often
  // that there is no room for more copies.
  std::string Text(std::string_view text);
  // Whether there is room for so many bytes more of what is copied at each
  // reference; takes them.
  bool MayKeep(uint64_t bytes);

  // Fails where so many rows more would exceed the limit.
  absl::Status ReserveRows(uint64_t rows);

  // Tells how far the file is read; call it now and then.
  void Consumed(const char* end) {
    StopIfCancelled();
    if (consumed_) consumed_(end);
  }

 private:
  // Room for copies that a small file has, too.
  static constexpr uint64_t kMinCopyBytes = uint64_t{16} << 20;

  std::string CleanText(std::string_view text);

  HostTrace& trace_;
  StepCollector steps_;
  const ReadOptions& options_;
  uint64_t reserved_rows_ = 0;
  // For what is copied at each reference to it.
  uint64_t copy_bytes_left_;
  // Ids of long texts, by where they stand in the file.
  absl::flat_hash_map<std::pair<const char*, size_t>, StringId> long_texts_;
  std::function<void(const char*)> consumed_;
};

// The site that stats of a site, or of an event that says it itself, describe.
// What they do not say is taken from `base`.
AllocationSite SiteFromStats(const StatSet& stats,
                             const PlaneVocabulary& vocabulary,
                             AllocationSite base, ReadContext* context);

// Fills trace().facts from "/oom_forensics:session", and the counters that
// follow from them.
void ReadSessionPlane(const PlaneLayout& plane, ReadContext* context);

// Fills trace().source from all planes "/oom_forensics:source".
void ReadSourcePlanes(const SpaceLayout& layout, ReadContext* context);

// Adds the allocator of "/oom_forensics:<name>#<n>" to the trace.
absl::Status ReadAllocatorPlane(const PlaneLayout& plane, ReadContext* context);

// Adds the device of "/oom_forensics:cupti:<n>" to the trace.
absl::Status ReadDevicePlane(const PlaneLayout& plane, ReadContext* context);

// Adds the forecasts of "/oom_forensics:forecast" to the trace.
absl::Status ReadForecastPlane(const PlaneLayout& plane, ReadContext* context);

// Fills trace().host_memory from "/oom_forensics:host_memory".
absl::Status ReadHostMemoryPlane(const PlaneLayout& plane,
                                 ReadContext* context);

// Adds the devices that TensorFlow's own GPU trace tells of, where the trace
// has none from the collector.
absl::Status ReadStockDevices(const SpaceLayout& layout, ReadContext* context);

// Adds the compiled modules of "/host:metadata" to the trace.
void ReadModulePlane(const PlaneLayout& plane, ReadContext* context);

// Reads "/host:CPU": the training steps, and of allocators that the trace does
// not have from the collector, TensorFlow's own memory events.
absl::Status ReadHostPlane(const PlaneLayout& plane, ReadContext* context);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_PLANE_READER_H_
