#include "converter/datasets/driver_columns.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace oom_forensics {
namespace {

uint64_t Minus(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// The live blocks of each group while one walks over the changes.
class Levels {
 public:
  explicit Levels(const DeviceReplay& replay)
      : replay_(replay), groups_(replay.groups.size()) {}

  struct Group {
    uint64_t live_count = 0;
    uint64_t live_bytes = 0;
  };

  // Blocks of unknown address are not live: their end would not be seen.
  void Apply(const DeviceChange& change) {
    if (change.anonymous) return;
    Group& group = groups_[change.group];
    const bool on_device = replay_.groups[change.group].on_device;
    if (change.allocated) {
      ++group.live_count;
      group.live_bytes += change.bytes;
      if (on_device) on_device_bytes_ += change.bytes;
    } else {
      group.live_count -= std::min<uint64_t>(group.live_count, 1);
      group.live_bytes = Minus(group.live_bytes, change.bytes);
      if (on_device) on_device_bytes_ = Minus(on_device_bytes_, change.bytes);
    }
  }

  const std::vector<Group>& groups() const { return groups_; }
  uint64_t on_device_bytes() const { return on_device_bytes_; }

 private:
  const DeviceReplay& replay_;
  std::vector<Group> groups_;
  uint64_t on_device_bytes_ = 0;
};

class SeriesBuilder {
 public:
  SeriesBuilder(const SelectedDevice& device, const NsRange& range,
                DriverSeries* series)
      : device_(device),
        host_(device.host->trace()),
        from_ps_(host_.ToPs(range.from_ns)),
        to_ps_(host_.ToPs(range.to_ns)),
        range_(range),
        series_(series) {}

  void AddSamples() {
    for (const DeviceEvent& event : device_.trace->events) {
      if (event.kind != DeviceEventKind::kSample) continue;
      if (event.time_ps < from_ps_ || event.time_ps >= to_ps_) continue;
      const uint64_t used = Minus(event.total_bytes, event.free_bytes);
      DriverSample* sample = series_->add_samples();
      sample->set_time_ns(host_.ToNs(event.time_ps));
      sample->set_device_total_bytes(event.total_bytes);
      sample->set_device_free_bytes(event.free_bytes);
      sample->set_process_bytes(event.process_bytes);
      sample->set_pool_bytes(PoolBytes(event.time_ps));
      sample->set_gap_bytes(Minus(used, sample->pool_bytes()));
      if (event.process_bytes > 0) {
        sample->set_others_bytes(Minus(used, event.process_bytes));
      }
      sample->set_reason(host_.strings.Get(event.reason));
      series_->set_peak_gap_bytes(
          std::max(series_->peak_gap_bytes(), sample->gap_bytes()));
    }
  }

  void AddPools() {
    std::map<uint64_t, DriverPool> pools;
    for (const DeviceEvent& event : device_.trace->events) {
      if (event.time_ps >= to_ps_) break;
      if (event.kind == DeviceEventKind::kSample || event.pool == 0) continue;
      DriverPool& pool = pools[event.pool];
      pool.set_address(event.pool);
      if (event.kind == DeviceEventKind::kPool) {
        pool.set_last_operation(host_.strings.Get(event.operation));
      }
      if (event.pool_bytes == 0) continue;
      pool.set_size_bytes(event.pool_bytes);
      pool.set_utilized_bytes(event.utilized_bytes);
      pool.set_release_threshold_bytes(event.release_threshold_bytes);
      pool.set_peak_size_bytes(
          std::max(pool.peak_size_bytes(), event.pool_bytes));
    }
    for (auto& [address, pool] : pools) *series_->add_pools() = pool;
  }

  // One row per group that is live or changes in the range, largest peak first.
  void AddRows() {
    const DeviceReplay& replay = device_.replay;
    std::vector<DriverRow> rows(replay.groups.size());
    Levels levels(replay);
    for (const DeviceChange& change : replay.changes) {
      if (change.time_ps >= to_ps_) break;
      levels.Apply(change);
      const uint64_t live = levels.groups()[change.group].live_bytes;
      DriverRow& row = rows[change.group];
      if (change.time_ps < from_ps_) {
        // What is live when the range begins is a peak of it, too.
        row.set_peak_bytes(live);
        continue;
      }
      row.set_peak_bytes(std::max(row.peak_bytes(), live));
      if (change.allocated) {
        row.set_alloc_count(row.alloc_count() + 1);
        row.set_allocated_bytes(row.allocated_bytes() + change.bytes);
      } else {
        row.set_free_count(row.free_count() + 1);
      }
    }
    order_.resize(rows.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return std::pair(rows[a].peak_bytes(), rows[a].allocated_bytes()) >
             std::pair(rows[b].peak_bytes(), rows[b].allocated_bytes());
    });
    for (const size_t i : order_) {
      const DeviceGroup& group = replay.groups[i];
      DriverRow& row = rows[i];
      row.set_memory_kind(host_.strings.Get(group.memory_kind));
      row.set_pool(group.pool);
      row.set_source(host_.strings.Get(group.source));
      row.set_on_device(group.on_device);
      row.set_live_count(levels.groups()[i].live_count);
      row.set_live_bytes(levels.groups()[i].live_bytes);
      if (group.allocator >= 0) {
        row.set_allocator(
            host_.allocators[static_cast<size_t>(group.allocator)].name);
      }
      *series_->add_rows() = row;
    }
  }

  // After AddRows, whose order they follow.
  void AddColumns(uint32_t column_count) {
    const auto width = static_cast<__int128>(range_.to_ns) - range_.from_ns;
    const auto count = static_cast<uint32_t>(
        std::min<__int128>(column_count, std::max<__int128>(width, 0)));
    const std::vector<DeviceChange>& changes = device_.replay.changes;
    const std::vector<DeviceEvent>& events = device_.trace->events;
    Levels levels(device_.replay);
    size_t next_change = 0;
    size_t next_event = 0;
    DriverColumn sampled;  // what the last sample says
    for (uint32_t i = 0; i < count; ++i) {
      const auto from_ns =
          static_cast<int64_t>(range_.from_ns + width * i / count);
      const int64_t from_ps = host_.ToPs(from_ns);
      const int64_t to_ps = host_.ToPs(
          static_cast<int64_t>(range_.from_ns + width * (i + 1) / count));
      while (next_change < changes.size() &&
             changes[next_change].time_ps < from_ps) {
        levels.Apply(changes[next_change++]);
      }
      for (; next_event < events.size() && events[next_event].time_ps < from_ps;
           ++next_event) {
        TakeSample(events[next_event], /*fullest=*/false, &sampled);
      }
      DriverColumn* column = series_->add_columns();
      *column = sampled;
      column->set_time_ns(from_ns);
      column->set_pool_bytes(PoolPeak(from_ps, to_ps));
      SetDriverBytes(levels, column);
      while (next_change < changes.size() &&
             changes[next_change].time_ps < to_ps) {
        levels.Apply(changes[next_change++]);
        if (levels.on_device_bytes() > column->driver_bytes()) {
          SetDriverBytes(levels, column);
        }
      }
      for (; next_event < events.size() && events[next_event].time_ps < to_ps;
           ++next_event) {
        TakeSample(events[next_event], /*fullest=*/true, column);
        TakeSample(events[next_event], /*fullest=*/false, &sampled);
      }
    }
  }

 private:
  // `fullest`: only where the device is fuller than the column says.
  void TakeSample(const DeviceEvent& event, bool fullest,
                  DriverColumn* column) const {
    if (event.kind != DeviceEventKind::kSample) return;
    if (event.process_bytes > 0) {
      column->set_process_bytes(
          fullest ? std::max(column->process_bytes(), event.process_bytes)
                  : event.process_bytes);
    }
    if (fullest && column->device_total_bytes() > 0 &&
        event.free_bytes >= column->device_free_min_bytes()) {
      return;
    }
    column->set_device_total_bytes(event.total_bytes);
    column->set_device_free_min_bytes(event.free_bytes);
    column->set_gap_bytes(Minus(Minus(event.total_bytes, event.free_bytes),
                                PoolBytes(event.time_ps)));
  }

  void SetDriverBytes(const Levels& levels, DriverColumn* column) const {
    column->set_driver_bytes(levels.on_device_bytes());
    column->clear_row_bytes();
    for (const size_t i : order_) {
      column->add_row_bytes(levels.groups()[i].live_bytes);
    }
  }

  uint64_t PoolBytes(int64_t time_ps) const {
    return PoolBytesAt(device_.replay, device_.host->allocators(), time_ps);
  }

  uint64_t PoolPeak(int64_t from_ps, int64_t to_ps) const {
    uint64_t bytes = 0;
    for (const size_t pool : device_.replay.pools) {
      const AllocatorReplay& replay = *device_.host->allocators()[pool];
      bytes += replay.usage()
                   .Over(replay.trace().PositionAt(from_ps),
                         replay.trace().PositionAt(to_ps))
                   .reserved_max_bytes;
    }
    return bytes;
  }

  const SelectedDevice& device_;
  const HostTrace& host_;
  const int64_t from_ps_;
  const int64_t to_ps_;
  const NsRange range_;
  DriverSeries* const series_;
  // Groups in the order of the series' rows.
  std::vector<size_t> order_;
};

}  // namespace

void FillDriverSeries(const SelectedDevice& device, const NsRange& range,
                      uint32_t column_count, DriverSeries* series) {
  SeriesBuilder builder(device, range, series);
  builder.AddSamples();
  builder.AddPools();
  builder.AddRows();
  builder.AddColumns(column_count);
}

}  // namespace oom_forensics
