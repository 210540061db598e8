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
  contexts_.emplace_back();
}

void AllocatorTraceWriter::Reserve(uint64_t rows) {
  rows = std::min<uint64_t>(rows + row_count(), kMaxRows);
  time_ps_.reserve(rows);
  address_.reserve(rows);
  site_.reserve(rows);
  context_.reserve(rows);
  kind_of_.reserve(rows);
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
  const auto row = static_cast<Row>(row_count());
  if (row == kMaxRows) {
    trace_.quality.Add(QualityCounter::kDroppedEvents);
    return false;
  }
  const int64_t time_ps = std::clamp(stamp.time_ps, -kMaxTimePs, kMaxTimePs);
  if (time_ps != stamp.time_ps) {
    trace_.quality.Add(QualityCounter::kTimeOutOfRange);
  }
  if (row > trace_.baseline_rows && time_ps < time_ps_.back()) {
    sorted_ = false;
    trace_.quality.Add(QualityCounter::kUnsortedEvents);
  }
  const EventContext& last = contexts_.back();
  if (last.step_id != stamp.context.step_id ||
      last.thread != stamp.context.thread) {
    contexts_.push_back(stamp.context);
  }
  const bool weighted =
      std::isfinite(stamp.weight) && stamp.weight > 0 && stamp.weight != 1.0;
  if (weighted && weights_.empty()) weights_.assign(row, 1.0F);
  if (weighted || !weights_.empty()) {
    weights_.push_back(weighted ? static_cast<float>(stamp.weight) : 1.0F);
  }
  kind_of_.push_back(kind);
  time_ps_.push_back(time_ps);
  address_.push_back(address);
  site_.push_back(site);
  context_.push_back(static_cast<uint32_t>(contexts_.size() - 1));
  return true;
}

void AllocatorTraceWriter::AddBaselineChunk(const RowStamp& stamp,
                                            uint64_t address, SiteId site,
                                            uint64_t age_ns) {
  if (!IsPossible(address, sites_->Get(site).allocated_bytes)) return;
  if (!Append(RowKind::kAlloc, stamp, address, site)) return;
  trace_.baseline_rows = static_cast<Position>(row_count());
  baseline_age_ns_.push_back(age_ns);
}

void AllocatorTraceWriter::AddBaselineRegion(const RowStamp& stamp,
                                             uint64_t address,
                                             uint64_t size_bytes) {
  if (!IsPossible(address, size_bytes)) return;
  const auto row = static_cast<Row>(row_count());
  const auto index = static_cast<SiteId>(trace_.regions.size());
  if (!Append(RowKind::kRegionAdd, stamp, address, index)) return;
  trace_.regions.push_back({row, address, size_bytes, true});
  trace_.baseline_rows = static_cast<Position>(row_count());
  baseline_age_ns_.push_back(0);
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
  failure.row = static_cast<Row>(row_count());
  if (!Append(RowKind::kFailed, stamp, 0, site)) return;
  trace_.failures.push_back(std::move(failure));
}

void AllocatorTraceWriter::AddRegion(const RowStamp& stamp, uint64_t address,
                                     uint64_t size_bytes, bool added) {
  if (!IsPossible(address, size_bytes)) return;
  const auto row = static_cast<Row>(row_count());
  const auto index = static_cast<SiteId>(trace_.regions.size());
  const RowKind kind = added ? RowKind::kRegionAdd : RowKind::kRegionRemove;
  if (!Append(kind, stamp, address, index)) return;
  trace_.regions.push_back({row, address, size_bytes, added});
}

void AllocatorTraceWriter::SortEvents() {
  const Row first = trace_.baseline_rows;
  std::vector<Row> order(row_count() - first);
  std::iota(order.begin(), order.end(), first);
  std::stable_sort(order.begin(), order.end(),
                   [this](Row a, Row b) { return time_ps_[a] < time_ps_[b]; });
  Permute(order, first, &time_ps_);
  Permute(order, first, &address_);
  Permute(order, first, &site_);
  Permute(order, first, &context_);
  Permute(order, first, &kind_of_);
  Permute(order, first, &weights_);
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
    site_[trace_.regions[i].row] = static_cast<SiteId>(i);
  }
}

AllocatorTrace AllocatorTraceWriter::Finish() {
  if (!sorted_) SortEvents();
  trace_.time_ps = std::move(time_ps_);
  trace_.address = std::move(address_);
  trace_.site = std::move(site_);
  trace_.context = std::move(context_);
  trace_.kind_of = std::move(kind_of_);
  trace_.baseline_age_ns = std::move(baseline_age_ns_);
  trace_.contexts = std::move(contexts_);
  trace_.weights = std::move(weights_);
  return std::move(trace_);
}

}  // namespace oom_forensics
