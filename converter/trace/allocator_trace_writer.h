// Builds an AllocatorTrace from events, whatever order they arrive in, and
// keeps out of it what cannot be: sizes of nothing, chunks past the end of the
// address space, times that wrap.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_ALLOCATOR_TRACE_WRITER_H_
#define OOM_FORENSICS_CONVERTER_TRACE_ALLOCATOR_TRACE_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/trace/allocator_trace.h"
#include "converter/trace/site_table.h"

namespace oom_forensics {

// Times lie within this, so that differences of two cannot overflow.
inline constexpr int64_t kMaxTimePs = int64_t{1} << 61;
// No machine has more (256 TiB); larger sizes are damage or malice.
inline constexpr uint64_t kMaxChunkBytes = uint64_t{1} << 48;

// When, and who.
struct RowStamp {
  int64_t time_ps = 0;
  EventContext context;
  double weight = 1.0;
};

class AllocatorTraceWriter {
 public:
  // `sites` must outlive the writer.
  AllocatorTraceWriter(std::string name, Source source, const SiteTable* sites);

  // The facts that are not rows.
  AllocatorTrace& facts() { return trace_; }
  void Reserve(uint64_t rows);

  // The baseline: all of it before the first event.
  void AddBaselineChunk(const RowStamp& stamp, uint64_t address, SiteId site,
                        uint64_t age_ns);
  void AddBaselineRegion(const RowStamp& stamp, uint64_t address,
                         uint64_t size_bytes);

  void AddAlloc(const RowStamp& stamp, uint64_t address, SiteId site);
  void AddFree(const RowStamp& stamp, uint64_t address);
  // `failure.row` is set by the writer.
  void AddFailure(const RowStamp& stamp, SiteId site, FailedRequest failure);
  void AddRegion(const RowStamp& stamp, uint64_t address, uint64_t size_bytes,
                 bool added);

  uint64_t row_count() const { return kind_of_.size(); }
  // Sorts the events by time where they are not (equal times keep their order)
  // and gives the trace away.
  AllocatorTrace Finish();

 private:
  bool IsPossible(uint64_t address, uint64_t size_bytes);
  bool Append(RowKind kind, const RowStamp& stamp, uint64_t address,
              SiteId site);
  void SortEvents();

  const SiteTable* sites_;
  // Its columns are filled at the end.
  AllocatorTrace trace_;
  std::vector<int64_t> time_ps_;
  std::vector<uint64_t> address_;
  std::vector<SiteId> site_;
  std::vector<uint32_t> context_;
  std::vector<RowKind> kind_of_;
  std::vector<uint64_t> baseline_age_ns_;
  std::vector<EventContext> contexts_;
  std::vector<float> weights_;
  bool sorted_ = true;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_ALLOCATOR_TRACE_WRITER_H_
