#include "converter/trace/allocator_trace_writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace oom_forensics {
namespace {

// Reorders `column` from row `first` on: the new row first + i is the old row
// order[i].
template <typename Value>
void Permute(const std::vector<Row>& order, Row first,
             std::vector<Value>* column) {
  if (column->empty()) return;
  std::vector<Value> sorted;
  sorted.reserve(order.size());
  for (const Row old_row : order) sorted.push_back((*column)[old_row]);
  std::copy(sorted.begin(), sorted.end(),
            column->begin() + static_cast<ptrdiff_t>(first));
}

template <typename Entry>
void RenumberRows(const std::vector<Row>& new_row_of, Row first,
                  std::vector<Entry>* entries) {
  for (Entry& entry : *entries) {
    if (entry.row >= first) entry.row = new_row_of[entry.row - first];
  }
}

}  // namespace

AllocatorTraceWriter::AllocatorTraceWriter(std::string name, Source source,
                                           const SiteTable* sites)
    : sites_(sites) {
  trace_.name = std::move(name);
  trace_.source = source;
  trace_.contexts.emplace_back();
}

void AllocatorTraceWriter::Reserve(uint64_t rows) {
  rows = std::min<uint64_t>(rows + trace_.row_count(), kMaxRows);
  trace_.time_ps.reserve(rows);
  trace_.address.reserve(rows);
  trace_.site.reserve(rows);
  trace_.context.reserve(rows);
  trace_.kind_of.reserve(rows);
}

bool AllocatorTraceWriter::IsPossible(uint64_t address, uint64_t size_bytes) {
  const bool possible =
      address != 0 && size_bytes != 0 && size_bytes <= kMaxChunkBytes &&
      address <= std::numeric_limits<uint64_t>::max() - (size_bytes - 1);
  if (!possible) trace_.quality.Add(QualityCounter::kInvalidSize);
  return possible;
}

bool AllocatorTraceWriter::Append(RowKind kind, const RowStamp& stamp,
                                  uint64_t address, SiteId site) {
  const Row row = trace_.row_count();
  if (row == kMaxRows) {
    trace_.quality.Add(QualityCounter::kDroppedEvents);
    return false;
  }
  const int64_t time_ps = std::clamp(stamp.time_ps, -kMaxTimePs, kMaxTimePs);
  if (time_ps != stamp.time_ps) {
    trace_.quality.Add(QualityCounter::kTimeOutOfRange);
  }
  if (row > trace_.baseline_rows && time_ps < trace_.time_ps.back()) {
    sorted_ = false;
    trace_.quality.Add(QualityCounter::kUnsortedEvents);
  }
  const EventContext& last = trace_.contexts.back();
  if (last.step_id != stamp.context.step_id ||
      last.thread != stamp.context.thread) {
    trace_.contexts.push_back(stamp.context);
  }
  const bool weighted =
      std::isfinite(stamp.weight) && stamp.weight > 0 && stamp.weight != 1.0;
  if (weighted && trace_.weights.empty()) trace_.weights.assign(row, 1.0F);
  if (weighted || !trace_.weights.empty()) {
    trace_.weights.push_back(weighted ? static_cast<float>(stamp.weight)
                                      : 1.0F);
  }
  trace_.kind_of.push_back(kind);
  trace_.time_ps.push_back(time_ps);
  trace_.address.push_back(address);
  trace_.site.push_back(site);
  trace_.context.push_back(static_cast<uint32_t>(trace_.contexts.size() - 1));
  return true;
}

void AllocatorTraceWriter::AddBaselineChunk(const RowStamp& stamp,
                                            uint64_t address, SiteId site,
                                            uint64_t age_ns) {
  if (!IsPossible(address, sites_->Get(site).allocated_bytes)) return;
  if (!Append(RowKind::kAlloc, stamp, address, site)) return;
  trace_.baseline_rows = trace_.row_count();
  trace_.baseline_age_ns.push_back(age_ns);
}

void AllocatorTraceWriter::AddBaselineRegion(const RowStamp& stamp,
                                             uint64_t address,
                                             uint64_t size_bytes) {
  if (!IsPossible(address, size_bytes)) return;
  const Row row = trace_.row_count();
  const auto index = static_cast<SiteId>(trace_.regions.size());
  if (!Append(RowKind::kRegionAdd, stamp, address, index)) return;
  trace_.regions.push_back({row, address, size_bytes, true});
  trace_.baseline_rows = trace_.row_count();
  trace_.baseline_age_ns.push_back(0);
}

void AllocatorTraceWriter::AddAlloc(const RowStamp& stamp, uint64_t address,
                                    SiteId site) {
  if (!IsPossible(address, sites_->Get(site).allocated_bytes)) return;
  Append(RowKind::kAlloc, stamp, address, site);
}

void AllocatorTraceWriter::AddFree(const RowStamp& stamp, uint64_t address) {
  Append(RowKind::kFree, stamp, address, 0);
}

void AllocatorTraceWriter::AddFailure(const RowStamp& stamp, SiteId site,
                                      FailedRequest failure) {
  failure.row = trace_.row_count();
  if (!Append(RowKind::kFailed, stamp, 0, site)) return;
  trace_.failures.push_back(std::move(failure));
}

void AllocatorTraceWriter::AddRegion(const RowStamp& stamp, uint64_t address,
                                     uint64_t size_bytes, bool added) {
  if (!IsPossible(address, size_bytes)) return;
  const Row row = trace_.row_count();
  const auto index = static_cast<SiteId>(trace_.regions.size());
  const RowKind kind = added ? RowKind::kRegionAdd : RowKind::kRegionRemove;
  if (!Append(kind, stamp, address, index)) return;
  trace_.regions.push_back({row, address, size_bytes, added});
}

void AllocatorTraceWriter::SortEvents() {
  const Row first = trace_.baseline_rows;
  std::vector<Row> order(trace_.row_count() - first);
  std::iota(order.begin(), order.end(), first);
  std::stable_sort(order.begin(), order.end(), [this](Row a, Row b) {
    return trace_.time_ps[a] < trace_.time_ps[b];
  });
  Permute(order, first, &trace_.time_ps);
  Permute(order, first, &trace_.address);
  Permute(order, first, &trace_.site);
  Permute(order, first, &trace_.context);
  Permute(order, first, &trace_.kind_of);
  Permute(order, first, &trace_.weights);
  std::vector<Row> new_row_of(order.size());
  for (Row i = 0; i < order.size(); ++i)
    new_row_of[order[i] - first] = first + i;
  RenumberRows(new_row_of, first, &trace_.failures);
  RenumberRows(new_row_of, first, &trace_.regions);
  std::sort(trace_.failures.begin(), trace_.failures.end(),
            [](const FailedRequest& a, const FailedRequest& b) {
              return a.row < b.row;
            });
  std::sort(trace_.regions.begin(), trace_.regions.end(),
            [](const RegionChange& a, const RegionChange& b) {
              return a.row < b.row;
            });
  for (size_t i = 0; i < trace_.regions.size(); ++i) {
    trace_.site[trace_.regions[i].row] = static_cast<SiteId>(i);
  }
}

AllocatorTrace AllocatorTraceWriter::Finish() {
  if (!sorted_) SortEvents();
  trace_.time_ps.shrink_to_fit();
  trace_.address.shrink_to_fit();
  trace_.site.shrink_to_fit();
  trace_.context.shrink_to_fit();
  trace_.kind_of.shrink_to_fit();
  trace_.contexts.shrink_to_fit();
  return std::move(trace_);
}

}  // namespace oom_forensics
