// The fields of a host's trace and of its replays, for an archive.
//
// Each structure is taken apart into all of its fields, so that one that gets a
// field more does not compile until it is named here.
#ifndef OOM_FORENSICS_CONVERTER_CACHE_HOST_FIELDS_H_
#define OOM_FORENSICS_CONVERTER_CACHE_HOST_FIELDS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "converter/cache/archive.h"
#include "converter/replay/allocator_replay.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

// Tables that number what they intern: what has the numbers 0, 1, ... .
template <typename Table, typename At>
void WriteTable(ArchiveWriter& archive, const Table& table, At at) {
  archive(uint64_t{table.size()});
  for (uint32_t i = 0; i < table.size(); ++i) archive(at(i));
}
template <typename Entry, typename Table>
void ReadTable(ArchiveReader& archive, Table& table) {
  std::vector<Entry> entries;
  archive(entries);
  for (const Entry& entry : entries) table.Intern(entry);
}

inline void Fields(ArchiveWriter& archive, StringTable& table) {
  WriteTable(archive, table, [&](StringId id) { return table.Get(id); });
}
inline void Fields(ArchiveReader& archive, StringTable& table) {
  ReadTable<std::string>(archive, table);
}
inline void Fields(ArchiveWriter& archive, SiteTable& table) {
  WriteTable(archive, table, [&](SiteId id) { return table.Get(id); });
}
inline void Fields(ArchiveReader& archive, SiteTable& table) {
  ReadTable<AllocationSite>(archive, table);
}
inline void Fields(ArchiveWriter& archive, CompiledRequestTable& table) {
  // Their numbers begin with 1.
  WriteTable(archive, table,
             [&](CompiledRequestId id) { return table.Get(id + 1); });
}
inline void Fields(ArchiveReader& archive, CompiledRequestTable& table) {
  ReadTable<CompiledRequest>(archive, table);
}

template <typename Archive>
void Fields(Archive& archive, SourceTable& table) {
  table.VisitState(archive);
}
template <typename Archive>
void Fields(Archive& archive, UsageTimeline& usage) {
  usage.VisitState(archive);
}
template <typename Archive>
void Fields(Archive& archive, AllocatorReplay& replay) {
  replay.VisitState(archive);
}

template <typename Archive>
void Fields(Archive& archive, AllocatorReplay::Keyframe& keyframe) {
  auto& [position, live_by_address] = keyframe;
  archive(position, live_by_address);
}

template <typename Archive>
void Fields(Archive& archive, RecordedStack& stack) {
  auto& [frames, user_line] = stack;
  archive(frames, user_line);
}

template <typename Archive>
void Fields(Archive& archive, RecordedKeeper& keeper) {
  auto& [addresses, bytes, chain, stack] = keeper;
  archive(addresses, bytes, chain, stack);
}

template <typename Archive>
void Fields(Archive& archive, DeviceProcess& process) {
  auto& [process_id, bytes, name] = process;
  archive(process_id, bytes, name);
}

template <typename Archive>
void Fields(Archive& archive, DeviceNumbers& numbers) {
  auto& [total_bytes, free_bytes, process_bytes, sibling_bytes, others] =
      numbers;
  archive(total_bytes, free_bytes, process_bytes, sibling_bytes, others);
}

template <typename Archive>
void Fields(Archive& archive, OutsidePool& pool) {
  auto& [device, pools_bytes, pools_in_use_bytes] = pool;
  archive(device, pools_bytes, pools_in_use_bytes);
}

template <typename Archive>
void Fields(Archive& archive, FailedLibrary& failed) {
  auto& [error, device] = failed;
  archive(error, device);
}

template <typename Archive>
void Fields(Archive& archive, RecordingFacts& facts) {
  auto& [schema_version, collector_version, tensorflow_version, origin, hooks,
         attribution, cupti_mode, cupti_reason, environment, process_id,
         start_ns, stop_ns, sampling_rate, min_bytes, anonymized,
         failed_library] = facts;
  archive(schema_version, collector_version, tensorflow_version, origin, hooks,
          attribution, cupti_mode, cupti_reason, environment, process_id,
          start_ns, stop_ns, sampling_rate, min_bytes, anonymized,
          failed_library);
}

template <typename Archive>
void Fields(Archive& archive, FailedRequest& failed) {
  auto& [row, is_oom, waited_ns, in_use, peak_in_use, reserved, limit,
         largest_free, alloc_count, memory_dump] = failed;
  archive(row, is_oom, waited_ns, in_use, peak_in_use, reserved, limit,
          largest_free, alloc_count, memory_dump);
}

template <typename Archive>
void Fields(Archive& archive, AllocatorTrace& trace) {
  auto& [name, kind, device, cuda_device, source, has_layout, limit_bytes,
         unnamed_in_use_bytes, total_allocs, total_frees, baseline_rows,
         time_ps, address, site, context, kind_of, baseline_age_ns, contexts,
         failures, regions, weights, quality] = trace;
  archive(name, kind, device, cuda_device, source, has_layout, limit_bytes,
          unnamed_in_use_bytes, total_allocs, total_frees, baseline_rows,
          time_ps, address, site, context, kind_of, baseline_age_ns, contexts,
          failures, regions, weights, quality);
}

template <typename Archive>
void Fields(Archive& archive, DeviceTrace& trace) {
  auto& [name, device_name, pci_bus_id, mode, reason, clock_error_ns,
         dropped_events, dropped_by_cupti, unreadable_records, source, events] =
      trace;
  archive(name, device_name, pci_bus_id, mode, reason, clock_error_ns,
          dropped_events, dropped_by_cupti, unreadable_records, source, events);
}

template <typename Archive>
void Fields(Archive& archive, ForecastOrderTrace& order) {
  auto& [name, events] = order;
  archive(name, events);
}

template <typename Archive>
void Fields(Archive& archive, ForecastTrace& trace) {
  auto& [origin, function, allocator, step_id, planned, batch, held_bytes,
         op_count, unknown_count, unknown_ops, assumed, reason, sites, orders] =
      trace;
  archive(origin, function, allocator, step_id, planned, batch, held_bytes,
          op_count, unknown_count, unknown_ops, assumed, reason, sites, orders);
}

template <typename Archive>
void Fields(Archive& archive, HostQuantity& quantity) {
  auto& [time_ns, bytes] = quantity;
  archive(time_ns, bytes);
}

template <typename Archive>
void Fields(Archive& archive, HostActivity& activity) {
  auto& [kind, name, what, stack, first_ns, last_ns, times, under_way, live,
         element_bytes, grown_bytes, begin_bytes] = activity;
  archive(kind, name, what, stack, first_ns, last_ns, times, under_way, live,
          element_bytes, grown_bytes, begin_bytes);
}

template <typename Archive>
void Fields(Archive& archive, HostMemoryTrace& trace) {
  auto& [quantities, texts, numbers, activities] = trace;
  archive(quantities, texts, numbers, activities);
}

template <typename Archive>
void Fields(Archive& archive, CompiledBuffer& buffer) {
  auto& [op_name, instruction, opcode, last_user, shape, dtype, offset_bytes,
         size_bytes, live, held_for_backward, has_gradient, of_optimizer] =
      buffer;
  archive(op_name, instruction, opcode, last_user, shape, dtype, offset_bytes,
          size_bytes, live, held_for_backward, has_gradient, of_optimizer);
}

template <typename Archive>
void Fields(Archive& archive, CompiledAllocation& allocation) {
  auto& [index, kind, size_bytes, parameter_number, buffers, peak] = allocation;
  archive(index, kind, size_bytes, parameter_number, buffers, peak);
}

template <typename Archive>
void Fields(Archive& archive, ProgramStep& step) {
  auto& [instruction, op_name] = step;
  archive(instruction, op_name);
}

template <typename Archive>
void Fields(Archive& archive, CompiledModule& module) {
  auto& [name, function, program_id, compile_ns, program, allocations,
         fresh_results, has_schedule, ranges_cut, texts_left_out] = module;
  archive(name, function, program_id, compile_ns, program, allocations,
          fresh_results, has_schedule, ranges_cut, texts_left_out);
}

template <typename Archive>
void Fields(Archive& archive, HostTrace& trace) {
  auto& [host, file_name, file_bytes, origin_ns, facts, strings, sites, source,
         allocators, devices, forecasts, host_memory, modules,
         compiled_requests, block_parts, steps, quality] = trace;
  archive(host, file_name, file_bytes, origin_ns, facts, strings, sites, source,
          allocators, devices, forecasts, host_memory, modules,
          compiled_requests, block_parts, steps, quality);
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_CACHE_HOST_FIELDS_H_
