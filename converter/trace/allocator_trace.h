// The events of one allocator, by columns.
//
// A row is an event. Rows are in sequence order; the baseline (what was live
// when the recording began) comes first. A *position* is a place between rows:
// position p is the state after the first p rows, so 0 is before everything
// and row_count() is the end. The failure in row r met the state of position r.
//
//     rows       | baseline ... | event 0 | event 1 | ...
//     positions  0              ^ baseline_rows
//
// The contract's event index (Moment.event, Allocation.id) counts from the end
// of the baseline: event = row - baseline_rows, negative in the baseline.
//
// Columns take 29 bytes a row. What is rare (failures, regions, weights, ages)
// lies in tables beside them, sorted by row.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_ALLOCATOR_TRACE_H_
#define OOM_FORENSICS_CONVERTER_TRACE_ALLOCATOR_TRACE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "converter/quality/quality_log.h"
#include "converter/trace/column.h"
#include "converter/trace/site_table.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

using Row = uint32_t;
using Position = uint32_t;
inline constexpr Row kNoRow = std::numeric_limits<Row>::max();
inline constexpr Row kMaxRows = kNoRow - 1;

enum class RowKind : uint8_t {
  kAlloc,
  kFree,
  kFailed,
  kRegionAdd,
  kRegionRemove,
};

// The allocator as it stood when a request failed (stats of a `failed` event).
struct FailedRequest {
  Row row = kNoRow;
  // False: the caller had asked for a probe and handles the failure.
  bool is_oom = true;
  uint64_t waited_ns = 0;
  // As the allocator itself states them; 0: not recorded.
  uint64_t in_use_bytes = 0;
  uint64_t peak_in_use_bytes = 0;
  uint64_t reserved_bytes = 0;
  uint64_t limit_bytes = 0;
  uint64_t largest_free_bytes = 0;
  uint64_t alloc_count = 0;
  // A serialized tensorflow.MemoryDump, which several failures may share; null:
  // not recorded.
  std::shared_ptr<const std::string> memory_dump;

  // Empty: not recorded.
  std::string_view Dump() const {
    return memory_dump == nullptr ? std::string_view() : *memory_dump;
  }
};

// A region taken from the device, or given back.
struct RegionChange {
  Row row = kNoRow;
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  bool added = true;
};

// Who asked: the executor step and the thread.
struct EventContext {
  int64_t step_id = 0;
  uint64_t thread = 0;
};

struct AllocatorTrace {
  // "bfc_cpu_allocator_for_gpu#0"
  std::string name;
  // "bfc", ... as in event_schema.h; empty: not recorded.
  std::string kind;
  std::string device;
  // As CUDA numbers it; several logical devices can lie on one. -1: not known.
  int cuda_device = -1;
  Source source = Source::COLLECTOR;
  // It divides regions into chunks. Else each block comes from the device's
  // driver: addresses tell blocks apart, and nothing more.
  bool has_layout = true;
  // The most that it may ever use, reserved yet or not; 0: unknown.
  uint64_t limit_bytes = 0;
  // Bytes in use before row 0 that no row accounts for (stock traces).
  uint64_t unnamed_in_use_bytes = 0;
  // Exact totals as the collector counted them, whatever was dropped.
  std::optional<uint64_t> total_allocs;
  std::optional<uint64_t> total_frees;

  Position baseline_rows = 0;
  // Picoseconds since HostTrace::origin_ns, never falling.
  Column<int64_t> time_ps;
  Column<uint64_t> address;
  // The site of kAlloc and kFailed, an index into regions for kRegion..., 0 for
  // kFree.
  Column<SiteId> site;
  // Index into contexts.
  Column<uint32_t> context;
  Column<RowKind> kind_of;

  // For the baseline's rows: how long before the recording each was made.
  Column<uint64_t> baseline_age_ns;
  Column<EventContext> contexts;
  std::vector<FailedRequest> failures;
  std::vector<RegionChange> regions;
  // How many each row stands for; empty: 1 each.
  Column<float> weights;

  QualityLog quality;

  Row row_count() const { return static_cast<Row>(kind_of.size()); }
  // The contract's number of a row's event.
  int64_t EventOf(Row row) const {
    return static_cast<int64_t>(row) - static_cast<int64_t>(baseline_rows);
  }
  // The row of the contract's number; kNoRow where there is none.
  Row RowOf(int64_t event) const;
  const EventContext& ContextOf(Row row) const {
    return contexts[context[row]];
  }
  double WeightOf(Row row) const {
    return weights.empty() ? 1.0 : weights[row];
  }
  // The failure of a kFailed row; null for any other.
  const FailedRequest* FailureOf(Row row) const;
  // What the pool could grow to when the request of a kFailed row failed; 0:
  // unknown. Any other row: what is known of the allocator.
  uint64_t LimitAt(Row failure) const;
  // First position at or after which rows lie at or after the time.
  Position PositionAt(int64_t time_ps_bound) const;
  // Memory held by the columns and tables.
  uint64_t ResidentBytes() const;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_ALLOCATOR_TRACE_H_
