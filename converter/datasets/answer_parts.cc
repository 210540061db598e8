#include "converter/datasets/answer_parts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "converter/datasets/group_key.h"
#include "converter/forensics/block_content.h"
#include "converter/forensics/source_frames.h"
#include "converter/trace/op_name.h"
#include "core/data_types.h"

namespace oom_forensics {
namespace {

EventKind KindOf(RowKind kind) {
  switch (kind) {
    case RowKind::kAlloc:
      return EVENT_ALLOC;
    case RowKind::kFree:
      return EVENT_FREE;
    case RowKind::kFailed:
      return EVENT_FAILED;
    case RowKind::kRegionAdd:
      return EVENT_REGION_ADD;
    case RowKind::kRegionRemove:
      return EVENT_REGION_REMOVE;
  }
  return EVENT_UNSPECIFIED;
}

uint64_t Difference(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

// What a site tells of its tensor, in an Allocation or a Request: op, scope,
// shape, dtype, source.
template <typename Message>
void FillTensor(const HostTrace& host, const AllocationSite& site,
                Frames frames, Message* message) {
  const std::string& op = host.OpOf(site);
  message->set_op_name(op);
  message->set_scope(std::string(ScopeOf(op)));
  message->set_op_type(std::string(OpTypeOf(op)));
  std::vector<int64_t> dims;
  message->set_has_shape(ParseShape(host.ShapeOf(site), &dims));
  message->mutable_shape()->Assign(dims.begin(), dims.end());
  message->set_dtype(DtypeName(site.dtype));
  SourceLocation source;
  if (FillSourceLocation(host, site, frames, &source)) {
    *message->mutable_source() = std::move(source);
  }
}

}  // namespace

Allocation MakeAllocation(const SelectedAllocator& allocator, Row alloc) {
  const AllocatorReplay& replay = *allocator.replay;
  const AllocatorTrace& trace = replay.trace();
  const HostTrace& host = allocator.host->trace();
  const AllocationSite& site = replay.SiteOf(alloc);
  Allocation message;
  message.set_id(trace.EventOf(alloc));
  message.set_address(trace.address[alloc]);
  message.set_requested_bytes(site.requested_bytes);
  message.set_allocated_bytes(site.allocated_bytes);
  FillTensor(host, site, Frames::kNone, &message);
  message.set_step_id(trace.ContextOf(alloc).step_id);
  message.set_thread(trace.ContextOf(alloc).thread);
  const int64_t born_ps = replay.BornPs(alloc);
  const int64_t died_ps = replay.DiedPs(alloc);
  message.set_step(host.StepAt(born_ps));
  message.set_born_ns(host.ToNs(born_ps));
  if (replay.EndOf(alloc) != kNoRow) message.set_died_ns(host.ToNs(died_ps));
  message.set_lifetime_ns(
      died_ps > born_ps ? static_cast<uint64_t>(died_ps - born_ps) / 1000 : 0);
  message.set_role(allocator.host->Roles(replay).RoleOf(alloc));
  message.set_mode(ModeOf(host, site));
  message.set_region_type(host.strings.Get(site.region_type));
  message.set_baseline(alloc < trace.baseline_rows);
  message.set_host(host.host);
  message.set_allocator(trace.name);
  message.set_weight(trace.WeightOf(alloc));
  if (site.compiled != 0) {
    *message.mutable_compiled() = MakeCompiledBlock(host, site);
  }
  return message;
}

Allocation MakePart(const SelectedAllocator& allocator,
                    const AllocationPart& part) {
  Allocation message = MakeAllocation(allocator, part.row);
  if (part.is_whole()) return message;
  const HostTrace& host = allocator.host->trace();
  const AllocationSite& block = allocator.replay->SiteOf(part.row);
  const AllocationSite& site = host.sites.Get(part.site);
  CompiledBlock* compiled = message.mutable_compiled();
  compiled->set_block_address(message.address());
  compiled->set_block_bytes(message.allocated_bytes());
  compiled->set_is_part(true);
  compiled->set_part(part.index);
  const CompiledAllocation* allocation =
      host.AllocationOf(*host.CompiledOf(block));
  const uint32_t buffer =
      (*PartsOfSite(host, allocator.replay->trace()
                              .site[part.row]))[static_cast<size_t>(part.index)]
          .buffer;
  if (buffer == BlockPart::kUnused) {
    compiled->set_is_unused(true);
  } else {
    const CompiledBuffer& of = allocation->buffers[buffer];
    compiled->set_instruction(of.instruction);
    compiled->set_held_for_backward(of.held_for_backward);
  }
  message.set_address(message.address() + part.offset_bytes);
  message.set_requested_bytes(site.requested_bytes);
  message.set_allocated_bytes(site.allocated_bytes);
  message.clear_source();
  FillTensor(host, site, Frames::kNone, &message);
  message.set_role(RoleOf(allocator, part));
  return message;
}

Request MakeRequest(const SelectedAllocator& allocator, Row row,
                    uint64_t requested_bytes) {
  const AllocatorReplay& replay = *allocator.replay;
  const HostTrace& host = allocator.host->trace();
  const AllocationSite& site = replay.SiteOf(row);
  Request request;
  FillTensor(host, site, Frames::kAll, &request);
  request.set_requested_bytes(requested_bytes);
  request.set_rounded_bytes(replay.BytesToPlace(requested_bytes));
  request.set_step_id(replay.trace().ContextOf(row).step_id);
  request.set_thread(replay.trace().ContextOf(row).thread);
  request.set_step(host.StepAt(replay.trace().time_ps[row]));
  request.set_role(
      allocator.host->Roles(replay).RoleOfFailed(replay.trace().site[row]));
  request.set_mode(ModeOf(host, site));
  if (site.compiled != 0) {
    *request.mutable_compiled() = MakeCompiledBlock(host, site);
    request.set_who(WhoAsked(host, site));
  }
  return request;
}

Allocation MakePartAtPoint(const SelectedAllocator& allocator, Row row,
                           const CompiledAllocation& block,
                           const ChunkPart& part, int32_t number) {
  Allocation message = MakeAllocation(allocator, row);
  CompiledBlock* compiled = message.mutable_compiled();
  compiled->set_block_address(message.address());
  compiled->set_block_bytes(message.allocated_bytes());
  compiled->set_is_part(true);
  compiled->set_part(number);
  message.set_address(message.address() + part.offset_bytes);
  message.set_requested_bytes(part.requested_bytes);
  message.set_allocated_bytes(part.allocated_bytes);
  message.clear_source();
  message.set_op_name(part.op_name);
  message.set_scope(std::string(ScopeOf(part.op_name)));
  if (part.buffer == BlockPart::kUnused) {
    compiled->set_is_unused(true);
    message.clear_op_type();
    return message;
  }
  const CompiledBuffer& buffer = block.buffers[part.buffer];
  compiled->set_instruction(buffer.instruction);
  compiled->set_held_for_backward(buffer.held_for_backward);
  message.set_op_type(std::string(OpTypeOf(part.op_name)));
  std::vector<int64_t> dims;
  message.set_has_shape(ParseShape(buffer.shape, &dims));
  message.mutable_shape()->Assign(dims.begin(), dims.end());
  message.set_dtype(DtypeName(buffer.dtype));
  message.set_role(RoleOfBuffer(buffer));
  return message;
}

CompiledBlock MakeCompiledBlock(const HostTrace& host,
                                const AllocationSite& site) {
  CompiledBlock message;
  const CompiledRequest* request = host.CompiledOf(site);
  if (request == nullptr) return message;
  message.set_function(host.strings.Get(request->function));
  message.set_module(host.strings.Get(request->module_name));
  message.set_program_id(request->program_id);
  message.set_launch_op(host.strings.Get(request->launch_op));
  message.set_allocation_index(request->allocation);
  if (request->has_kind) {
    message.set_kind(std::string(BufferKindName(request->kind)));
  }
  switch (request->match) {
    case RequestMatch::kNone:
      message.set_match(MATCH_NONE);
      break;
    case RequestMatch::kRecorded:
      message.set_match(MATCH_RECORDED);
      break;
    case RequestMatch::kBySize:
      message.set_match(MATCH_BY_SIZE);
      break;
    case RequestMatch::kByOrder:
      message.set_match(MATCH_BY_ORDER);
      break;
  }
  message.set_others_fit(request->others_fit);
  return message;
}

TimelineEvent MakeTimelineEvent(const SelectedAllocator& allocator, Row row) {
  const AllocatorReplay& replay = *allocator.replay;
  const AllocatorTrace& trace = replay.trace();
  const HostTrace& host = allocator.host->trace();
  TimelineEvent message;
  message.set_index(trace.EventOf(row));
  message.set_time_ns(host.ToNs(trace.time_ps[row]));
  message.set_time_ps(
      static_cast<uint64_t>(std::max<int64_t>(0, trace.time_ps[row])));
  message.set_kind(KindOf(trace.kind_of[row]));
  message.set_address(trace.address[row]);
  message.set_in_use_bytes(replay.usage().At(row + 1).in_use_bytes);
  switch (trace.kind_of[row]) {
    case RowKind::kAlloc: {
      const AllocationSite& site = replay.SiteOf(row);
      message.set_bytes(site.allocated_bytes);
      message.set_op_name(host.OpOf(site));
      message.set_allocation_id(trace.EventOf(row));
      break;
    }
    case RowKind::kFree: {
      const Row alloc = replay.PartnerOf(row);
      if (alloc == kNoRow) break;
      const AllocationSite& site = replay.SiteOf(alloc);
      message.set_bytes(site.allocated_bytes);
      message.set_op_name(host.OpOf(site));
      message.set_allocation_id(trace.EventOf(alloc));
      break;
    }
    case RowKind::kFailed: {
      const AllocationSite& site = replay.SiteOf(row);
      message.set_bytes(site.requested_bytes);
      message.set_op_name(host.OpOf(site));
      break;
    }
    case RowKind::kRegionAdd:
    case RowKind::kRegionRemove:
      message.set_bytes(trace.regions[trace.site[row]].size_bytes);
      break;
  }
  return message;
}

PeakMoment MakePeakMoment(const SelectedAllocator& allocator,
                          const UsageTimeline& usage, Position position) {
  const HostTrace& host = allocator.host->trace();
  const int64_t time_ps = allocator.replay->TimePsOf(position);
  const Usage at = usage.At(position);
  PeakMoment message;
  message.set_time_ns(host.ToNs(time_ps));
  message.set_event(EventBefore(allocator.replay->trace(), position));
  message.set_in_use_bytes(at.in_use_bytes);
  message.set_requested_bytes(at.requested_bytes);
  message.set_reserved_bytes(at.reserved_bytes);
  message.set_step(host.StepAt(time_ps));
  message.set_live_count(at.live_count);
  return message;
}

int64_t EventBefore(const AllocatorTrace& trace, Position position) {
  return static_cast<int64_t>(position) -
         static_cast<int64_t>(trace.baseline_rows) - 1;
}

HoleState HolesOf(const ChunkMap& map, uint64_t request_bytes) {
  HoleState holes;
  holes.free_bytes = map.free_bytes;
  holes.largest_free_bytes = map.largest_free_bytes;
  holes.free_chunk_count = map.free_chunk_count;
  const uint64_t rounded = RoundedBytes(request_bytes);
  for (const MappedChunk& chunk : map.chunks) {
    if (chunk.is_free() && chunk.size_bytes < rounded) {
      holes.unusable_bytes += chunk.size_bytes;
    }
  }
  return holes;
}

FragmentationMeasures MakeMeasures(const AllocatorReplay& replay,
                                   Position position, const HoleState& holes,
                                   uint64_t request_bytes) {
  const Usage usage = replay.usage().At(position);
  FragmentationMeasures measures;
  measures.set_in_use_bytes(usage.in_use_bytes);
  measures.set_requested_bytes(usage.requested_bytes);
  measures.set_reserved_bytes(usage.reserved_bytes);
  measures.set_limit_bytes(replay.trace().limit_bytes);
  measures.set_free_bytes(holes.free_bytes);
  measures.set_largest_free_bytes(holes.largest_free_bytes);
  measures.set_free_chunk_count(holes.free_chunk_count);
  measures.set_bfc_fragmentation(
      Share(Difference(holes.free_bytes, holes.largest_free_bytes),
            holes.free_bytes));
  measures.set_unusable_free(Share(holes.unusable_bytes, holes.free_bytes));
  measures.set_unusable_free_request_bytes(request_bytes);
  measures.set_reserve_waste(
      Share(Difference(usage.reserved_bytes, usage.in_use_bytes),
            usage.reserved_bytes));
  measures.set_internal_bytes(
      Difference(usage.in_use_bytes, usage.requested_bytes));
  measures.set_growable_bytes(
      Difference(replay.trace().limit_bytes, usage.reserved_bytes));
  return measures;
}

uint64_t RequestForMeasures(const AllocatorReplay& replay, Position position,
                            uint64_t asked_bytes) {
  if (asked_bytes > 0) return asked_bytes;
  const AllocatorTrace& trace = replay.trace();
  const FailedRequest* nearest = nullptr;
  const auto distance = [position](const FailedRequest& failure) {
    return failure.row > position ? failure.row - position
                                  : position - failure.row;
  };
  for (const FailedRequest& failure : trace.failures) {
    if (!failure.is_oom) continue;
    if (nearest == nullptr || distance(failure) < distance(*nearest)) {
      nearest = &failure;
    }
  }
  if (nearest != nullptr) return replay.SiteOf(nearest->row).requested_bytes;
  return replay.largest_request_bytes();
}

namespace {

void AddEntries(const std::vector<Quality>& entries,
                google::protobuf::RepeatedPtrField<Quality>* quality) {
  quality->Add(entries.begin(), entries.end());
}

}  // namespace

void AddQuality(const Selection& selected,
                google::protobuf::RepeatedPtrField<Quality>* quality) {
  const HostSummary* last_host = nullptr;
  for (const AllocatorRef& ref : selected.refs()) {
    const HostSummary& host = selected.HostOf(ref);
    if (std::exchange(last_host, &host) != &host) {
      AddEntries(host.quality, quality);
    }
    AddEntries(selected.SummaryOf(ref).quality, quality);
  }
}

void AddQuality(const DatasetInput& input, const Selection& selected,
                google::protobuf::RepeatedPtrField<Quality>* quality) {
  AddQuality(selected, quality);
  const std::string& asked = input.query.filter().host();
  for (size_t i = 0; i < input.run.hosts().size(); ++i) {
    const HostSummary& host = input.run.hosts()[i];
    const bool listed =
        std::any_of(selected.refs().begin(), selected.refs().end(),
                    [i](const AllocatorRef& ref) { return ref.host == i; });
    if (!listed && (asked.empty() || host.host == asked)) {
      AddEntries(host.quality, quality);
    }
  }
}

namespace {

void AddFailureMarks(const Run& run, const SelectedAllocator& allocator,
                     const NsRange& range, size_t limit,
                     TimelineSeries* series) {
  const std::vector<OomRef> ooms = ListOoms(run);
  const HostTrace& host = allocator.host->trace();
  const AllocatorReplay& replay = *allocator.replay;
  const auto in_range = [&range](int64_t time_ns) {
    return time_ns >= range.from_ns && time_ns < range.to_ns;
  };
  const auto add = [&](const FailedRequest& failure, MarkKind kind, int oom) {
    const AllocationSite& site = replay.SiteOf(failure.row);
    Mark* mark = series->add_marks();
    mark->set_kind(kind);
    mark->set_time_ns(host.ToNs(replay.trace().time_ps[failure.row]));
    mark->set_bytes(site.requested_bytes);
    mark->set_oom(oom);
    mark->set_op_name(host.OpOf(site));
  };
  for (size_t i = 0; i < ooms.size(); ++i) {
    if (!(ooms[i].allocator == allocator.ref) || !in_range(ooms[i].time_ns)) {
      continue;
    }
    if (series->marks_size() >= static_cast<int>(limit)) return;
    add(*replay.trace().FailureOf(ooms[i].row), MARK_OOM, static_cast<int>(i));
  }
  for (const FailedRequest& failure : replay.trace().failures) {
    if (series->marks_size() >= static_cast<int>(limit)) return;
    const int64_t time_ns = host.ToNs(replay.trace().time_ps[failure.row]);
    if (!failure.is_oom && in_range(time_ns)) {
      add(failure, MARK_FAILED_PROBE, 0);
    }
  }
}

}  // namespace

void AddMarks(const Run& run, const SelectedAllocator& allocator,
              const NsRange& range, size_t limit, TimelineSeries* series) {
  AddFailureMarks(run, allocator, range, limit, series);
  const HostTrace& host = allocator.host->trace();
  const AllocatorTrace& trace = allocator.replay->trace();
  for (const RegionChange& region : trace.regions) {
    const int64_t time_ns = host.ToNs(trace.time_ps[region.row]);
    if (time_ns < range.from_ns || time_ns >= range.to_ns) continue;
    if (series->marks_size() >= static_cast<int>(limit)) break;
    Mark* mark = series->add_marks();
    mark->set_kind(region.added ? MARK_REGION_ADD : MARK_REGION_REMOVE);
    mark->set_time_ns(time_ns);
    mark->set_bytes(region.size_bytes);
  }
  std::vector<const TrainingStep*> steps;
  for (const TrainingStep& step : host.steps) {
    if (host.ToNs(step.end_ps) >= range.from_ns &&
        host.ToNs(step.begin_ps) < range.to_ns) {
      steps.push_back(&step);
    }
  }
  // Too many to tell apart at this width: every n-th.
  const size_t stride = std::max<size_t>(1, (steps.size() + limit - 1) / limit);
  for (size_t i = 0; i < steps.size(); i += stride) {
    StepMark* mark = series->add_steps();
    mark->set_step(steps[i]->number);
    mark->set_begin_ns(host.ToNs(steps[i]->begin_ps));
    mark->set_end_ns(host.ToNs(steps[i]->end_ps));
  }
}

}  // namespace oom_forensics
