#include "converter/counterfactual/serving_order.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "converter/cancellation/cancellation.h"
#include "converter/counterfactual/pool_settings.h"

namespace oom_forensics {
namespace {

// Rows that may be put into another order: so many before and behind the one
// that does not fit. Threads that take part are rarely more.
constexpr size_t kRowsBefore = 64;
constexpr size_t kRowsBehind = 48;
// For changes of two rows at once.
constexpr size_t kNearRows = 10;
constexpr size_t kNearRowsBehind = 6;
// The last rows can be moved until so many are there.
constexpr size_t kRowsKept = 4096;
// How often the model may be asked for one row, and for all.
constexpr uint64_t kTriesForOne = 20'000;
constexpr uint64_t kTriesForAll = 5'000'000;
// So many rows that no order explains, and so many for each thousand that were
// served, and the search is given up: it is not for its threads that such a
// pool is not followed (it may be no BFC pool at all).
constexpr uint64_t kMostUnexplained = 16;
constexpr uint64_t kRowsForOneMore = 1000;

class OrderFinder {
 public:
  OrderFinder(const AllocatorReplay& replay, Row from, Row to)
      : replay_(replay),
        trace_(replay.trace()),
        from_(from),
        to_(to),
        chunk_of_(trace_.row_count(), kNoChunk),
        is_taken_(trace_.row_count(), false) {
    order_.rows.reserve(to - from);
    const PoolState pool = PoolAt(replay, from);
    for (size_t i = 0; i < pool.holders.size(); ++i) {
      if (pool.holders[i] == kNoRow) continue;
      chunk_of_[pool.holders[i]] = static_cast<ChunkId>(i);
    }
    // Without a limit to grow to: regions come and go as recorded.
    model_ = std::make_unique<BfcModel>(BfcSettings{}, nullptr, pool.regions,
                                        pool.chunks, 0);
    model_->KeepJournal();
  }

  ServingOrder Find() {
    for (Row row = from_; row < to_; ++row) {
      StopIfCancelled(row);
      if (is_taken_[row]) continue;
      Serve(row);
      ForgetOld();
    }
    Row last = 0;
    for (const Row row : order_.rows) {
      if (KindOf(row) == RowKind::kAlloc) ++order_.requests;
      if (row < last) ++order_.reordered;
      last = std::max(last, row);
    }
    order_.alike = order_.requests - forced_;
    return std::move(order_);
  }

 private:
  using Moment = BfcModel::Moment;

  RowKind KindOf(Row row) const { return trace_.kind_of[row]; }
  uint64_t ThreadOf(Row row) const { return trace_.ContextOf(row).thread; }

  void Serve(Row row) {
    if (Apply(row)) return;
    if (!has_given_up_ && tries_ < kTriesForAll) {
      if (FindOtherOrder(row)) return;
      if (++unexplained_ >=
          kMostUnexplained + order_.rows.size() / kRowsForOneMore) {
        GiveUp();
      }
    }
    Force(row);
    ++forced_;
  }

  // From here on many rows may be forced, each to where it is quickly found.
  void GiveUp() {
    has_given_up_ = true;
    for (const ChunkId id : model_->ChunksInOrder()) {
      const PoolChunk& chunk = model_->chunk(id);
      if (chunk.state == PoolChunk::State::kInUse) {
        live_chunks_[chunk.address] = id;
      }
    }
  }
  ChunkId LiveChunkBelow(uint64_t address) const {
    const auto above = live_chunks_.upper_bound(address);
    return above == live_chunks_.begin() ? kNoChunk : std::prev(above)->second;
  }

  // Does in the model what the row says. False: an allocation that the model
  // places elsewhere; the row then was not applied.
  bool Apply(Row row) {
    const Moment before = model_->Now();
    if (KindOf(row) == RowKind::kAlloc) {
      const AllocationSite& site = replay_.SiteOf(row);
      const ChunkId chunk = model_->Allocate(site.requested_bytes);
      if (chunk == kNoChunk ||
          model_->chunk(chunk).address != trace_.address[row] ||
          model_->chunk(chunk).size_bytes != site.allocated_bytes) {
        model_->GoBack(before);
        return false;
      }
      chunk_of_[row] = chunk;
      if (has_given_up_) live_chunks_[trace_.address[row]] = chunk;
    } else {
      ApplyOther(row);
    }
    Append(row, before);
    return true;
  }

  void ApplyOther(Row row) {
    switch (KindOf(row)) {
      case RowKind::kFree: {
        const Row alloc = replay_.PartnerOf(row);
        if (alloc == kNoRow || chunk_of_[alloc] == kNoChunk) break;
        if (has_given_up_) live_chunks_.erase(trace_.address[alloc]);
        model_->Free(chunk_of_[alloc]);
        break;
      }
      case RowKind::kRegionAdd:
      case RowKind::kRegionRemove: {
        const RegionChange& change = trace_.regions[trace_.site[row]];
        if (change.added) {
          model_->AddRegion({change.address, change.size_bytes});
        } else {
          model_->RemoveRegion(change.address);
        }
        break;
      }
      case RowKind::kAlloc:
      case RowKind::kFailed:
        break;
    }
  }

  void Append(Row row, const Moment& before) {
    order_.rows.push_back(row);
    moments_.push_back(before);
    is_taken_[row] = true;
  }

  // What the model cannot explain is placed where it was recorded, so that what
  // follows is not judged by it.
  void Force(Row row) {
    const Moment before = model_->Now();
    const uint64_t address = trace_.address[row];
    const ChunkId chunk = model_->AllocateAt(
        address, replay_.SiteOf(row).allocated_bytes, LiveChunkBelow(address));
    chunk_of_[row] = chunk;
    if (has_given_up_ && chunk != kNoChunk) live_chunks_[address] = chunk;
    Append(row, before);
    // Not to be explained again.
    first_movable_ = order_.rows.size();
  }

  // The last rows served, then `row`.
  std::vector<Row> Tail(Row row, size_t rows_before) const {
    const size_t count = std::min(
        {rows_before, moments_.size(),
         order_.rows.size() - std::min(order_.rows.size(), first_movable_)});
    std::vector<Row> tail(order_.rows.end() - static_cast<ptrdiff_t>(count),
                          order_.rows.end());
    tail.push_back(row);
    return tail;
  }

  void GoBackBy(size_t count) {
    if (count == 0) return;
    model_->GoBack(moments_[moments_.size() - count]);
    for (size_t i = 0; i < count; ++i) {
      is_taken_[order_.rows.back()] = false;
      order_.rows.pop_back();
      moments_.pop_back();
    }
  }

  // Whether the rows can be served in this order, all where they were recorded.
  // `common` of them are served so already. Else as many are as fit.
  bool ServeAll(const std::vector<Row>& rows, size_t* served) {
    size_t common = 0;
    const size_t begin = order_.rows.size() - *served;
    while (common < std::min(*served, rows.size()) &&
           order_.rows[begin + common] == rows[common]) {
      ++common;
    }
    GoBackBy(*served - common);
    *served = common;
    for (size_t i = common; i < rows.size(); ++i) {
      ++tries_;
      if (!Apply(rows[i])) return false;
      ++*served;
    }
    return true;
  }

  // A row may be served before the rows between.
  bool MayMoveBefore(const std::vector<Row>& rows, size_t from,
                     size_t to) const {
    const Row row = rows[from];
    if (KindOf(row) != RowKind::kAlloc) return false;
    for (size_t i = to; i < from; ++i) {
      if (ThreadOf(rows[i]) == ThreadOf(row)) return false;
    }
    return true;
  }
  bool MayMoveBehind(const std::vector<Row>& rows, size_t from,
                     size_t to) const {
    const Row row = rows[from];
    if (KindOf(row) != RowKind::kFree) return false;
    for (size_t i = from + 1; i <= to; ++i) {
      if (ThreadOf(rows[i]) == ThreadOf(row)) return false;
      // Its address was given again: it was free by then.
      if (KindOf(rows[i]) == RowKind::kAlloc &&
          trace_.address[rows[i]] == trace_.address[row]) {
        return false;
      }
    }
    return true;
  }

  static std::vector<Row> Moved(const std::vector<Row>& rows, size_t from,
                                size_t to) {
    std::vector<Row> moved = rows;
    const auto begin = moved.begin();
    if (from > to) {
      std::rotate(begin + static_cast<ptrdiff_t>(to),
                  begin + static_cast<ptrdiff_t>(from),
                  begin + static_cast<ptrdiff_t>(from) + 1);
    } else {
      std::rotate(begin + static_cast<ptrdiff_t>(from),
                  begin + static_cast<ptrdiff_t>(from) + 1,
                  begin + static_cast<ptrdiff_t>(to) + 1);
    }
    return moved;
  }

  // Allocations behind `row` that may have been served before it: each is the
  // first that is left of its thread.
  std::vector<Row> Later(Row row, size_t count) const {
    std::vector<Row> later;
    std::vector<uint64_t> threads = {ThreadOf(row)};
    for (Row behind = row + 1;
         behind < trace_.row_count() && behind - row <= count; ++behind) {
      if (is_taken_[behind]) continue;
      const RowKind kind = KindOf(behind);
      if (kind != RowKind::kAlloc && kind != RowKind::kFree) continue;
      const uint64_t thread = ThreadOf(behind);
      if (std::find(threads.begin(), threads.end(), thread) != threads.end()) {
        continue;
      }
      threads.push_back(thread);
      if (kind == RowKind::kAlloc) later.push_back(behind);
    }
    return later;
  }

  using Try = std::function<bool(const std::vector<Row>&)>;

  // Every order that is one move away, the nearest first; true once `attempt`
  // is content with one.
  bool EachMove(const std::vector<Row>& rows, size_t near, Row row,
                size_t behind, const Try& attempt) const {
    const size_t last = rows.size() - 1;
    // The row itself earlier.
    for (size_t to = last; to-- > 0;) {
      if (!MayMoveBefore(rows, last, to)) break;
      if (attempt(Moved(rows, last, to))) return true;
    }
    // A release behind it.
    for (size_t from = last; from-- > 0;) {
      if (MayMoveBehind(rows, from, last) && attempt(Moved(rows, from, last))) {
        return true;
      }
    }
    // An allocation that was recorded later before it, or before some of those
    // before it.
    for (const Row later : Later(row, behind)) {
      std::vector<Row> with = rows;
      with.insert(with.end() - 1, later);
      for (size_t at = with.size() - 2;; --at) {
        if (attempt(Moved(with, with.size() - 2, at))) return true;
        if (at == 0 || with.size() - 2 - at >= near ||
            !MayMoveBefore(with, with.size() - 2, at - 1)) {
          break;
        }
      }
    }
    // Two of the rows before it.
    const size_t first = last > near ? last - near : 0;
    for (size_t from = last; from-- > first;) {
      for (size_t to = from; to-- > first;) {
        if (!MayMoveBefore(rows, from, to)) break;
        if (attempt(Moved(rows, from, to))) return true;
      }
      for (size_t to = from + 1; to < last; ++to) {
        if (MayMoveBehind(rows, from, to) && attempt(Moved(rows, from, to))) {
          return true;
        }
      }
    }
    return false;
  }

  bool FindOtherOrder(Row row) {
    const uint64_t tries_before = tries_;
    size_t served = 0;
    std::vector<Row> all = Tail(row, kRowsBefore);
    const std::vector<Row> as_recorded(all.begin(), all.end() - 1);
    served = as_recorded.size();
    bool found = false;
    const auto attempt = [&](const std::vector<Row>& rows) {
      if (tries_ - tries_before > kTriesForOne) return true;
      StopIfCancelled();
      found = ServeAll(rows, &served);
      return found;
    };
    EachMove(all, kRowsBefore / 2, row, kRowsBehind, attempt);
    if (!found && tries_ - tries_before <= kTriesForOne) {
      // Two moves, near the row.
      const size_t far = all.size() - std::min(all.size(), kNearRows + 1);
      const std::vector<Row> near(all.begin() + static_cast<ptrdiff_t>(far),
                                  all.end());
      const std::vector<Row> prefix(all.begin(),
                                    all.begin() + static_cast<ptrdiff_t>(far));
      const auto whole = [&](const std::vector<Row>& rows) {
        std::vector<Row> both = prefix;
        both.insert(both.end(), rows.begin(), rows.end());
        return attempt(both);
      };
      EachMove(near, kNearRows, row, kNearRowsBehind,
               [&](const std::vector<Row>& once) {
                 return EachMove(once, kNearRows, row, kNearRowsBehind, whole);
               });
    }
    if (!found) ServeAll(as_recorded, &served);
    return found;
  }

  // Rows further back are not moved any more.
  void ForgetOld() {
    if (moments_.size() < kRowsKept) return;
    model_->ForgetPast();
    moments_.clear();
  }

  const AllocatorReplay& replay_;
  const AllocatorTrace& trace_;
  const Row from_;
  const Row to_;
  std::unique_ptr<BfcModel> model_;
  std::vector<ChunkId> chunk_of_;
  std::vector<bool> is_taken_;
  ServingOrder order_;
  // Before each of the last rows of the order.
  std::vector<Moment> moments_;
  size_t first_movable_ = 0;
  uint64_t forced_ = 0;
  uint64_t tries_ = 0;
  uint64_t unexplained_ = 0;
  bool has_given_up_ = false;
  // By address, once the search is given up.
  std::map<uint64_t, ChunkId> live_chunks_;
};

}  // namespace

ServingOrder FindServingOrder(const AllocatorReplay& replay, Row from, Row to) {
  return OrderFinder(replay, from, to).Find();
}

}  // namespace oom_forensics
