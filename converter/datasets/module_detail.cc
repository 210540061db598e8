#include "converter/datasets/module_detail.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "converter/forensics/block_content.h"
#include "converter/trace/op_name.h"
#include "converter/trace/site_table.h"
#include "core/data_types.h"

namespace oom_forensics {
namespace {

constexpr size_t kMaxBuffers = 5000;
constexpr uint32_t kDefaultColumns = 1000;
constexpr uint32_t kMaxColumns = 8192;

CompiledAllocationInfo InfoOf(const CompiledAllocation& allocation) {
  CompiledAllocationInfo info;
  info.set_index(allocation.index);
  info.set_kind(std::string(BufferKindName(allocation.kind)));
  info.set_size_bytes(allocation.size_bytes);
  info.set_buffer_count(allocation.buffers.size());
  info.set_peak_live_bytes(allocation.LiveBytesAt(allocation.peak));
  return info;
}

void FillBuffers(const CompiledAllocation& allocation, ProgramPoint point,
                 CompiledModuleDetail* detail) {
  std::vector<const CompiledBuffer*> buffers;
  for (const CompiledBuffer& buffer : allocation.buffers) {
    buffers.push_back(&buffer);
  }
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const CompiledBuffer* a, const CompiledBuffer* b) {
                     return a->size_bytes > b->size_bytes;
                   });
  if (buffers.size() > kMaxBuffers) buffers.resize(kMaxBuffers);
  for (const CompiledBuffer* buffer : buffers) {
    CompiledBufferInfo* info = detail->add_buffers();
    info->set_instruction(buffer->instruction);
    info->set_opcode(buffer->opcode);
    info->set_op_name(buffer->op_name);
    info->set_scope(std::string(ScopeOf(buffer->op_name)));
    info->set_op_type(std::string(OpTypeOf(buffer->op_name)));
    info->set_role(RoleOfBuffer(*buffer));
    std::vector<int64_t> dims;
    info->set_has_shape(ParseShape(buffer->shape, &dims));
    info->mutable_shape()->Assign(dims.begin(), dims.end());
    info->set_dtype(DtypeName(buffer->dtype));
    info->set_offset_bytes(buffer->offset_bytes);
    info->set_size_bytes(buffer->size_bytes);
    info->set_first_point(buffer->live.first);
    info->set_last_point(buffer->live.last);
    info->set_last_user(buffer->last_user);
    info->set_held_for_backward(buffer->held_for_backward);
    info->set_live(buffer->live.first <= point && point <= buffer->live.last);
  }
}

void FillColumns(const CompiledAllocation& allocation, uint32_t columns,
                 CompiledModuleDetail* detail) {
  const uint32_t points = detail->program_points();
  if (points == 0) return;
  if (columns == 0) columns = kDefaultColumns;
  columns = std::min({columns, kMaxColumns, points});
  const std::vector<LiveBytes> live = allocation.LiveOver();
  size_t next = 0;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < columns; ++i) {
    const auto begin =
        static_cast<ProgramPoint>(uint64_t{points} * i / columns);
    const auto end =
        static_cast<ProgramPoint>(uint64_t{points} * (i + 1) / columns);
    while (next < live.size() && live[next].point <= begin) {
      bytes = live[next++].bytes;
    }
    uint64_t highest = bytes;
    while (next < live.size() && live[next].point < end) {
      bytes = live[next++].bytes;
      highest = std::max(highest, bytes);
    }
    ProgramColumn* column = detail->add_columns();
    column->set_point(begin);
    column->set_live_max_bytes(highest);
  }
}

}  // namespace

const CompiledAllocation* MainAllocation(const CompiledModule& module) {
  const CompiledAllocation* main = nullptr;
  const auto rank = [](const CompiledAllocation& allocation) {
    const int kind = allocation.kind == BufferKind::kTemp     ? 2
                     : allocation.kind == BufferKind::kOutput ? 1
                                                              : 0;
    return std::pair(kind, allocation.size_bytes);
  };
  for (const CompiledAllocation& allocation : module.allocations) {
    if (main == nullptr || rank(allocation) > rank(*main)) main = &allocation;
  }
  return main;
}

CompiledModuleDetail MakeModuleDetail(const CompiledModule& module,
                                      const Query& query) {
  CompiledModuleDetail detail;
  std::vector<const CompiledAllocation*> allocations;
  for (const CompiledAllocation& allocation : module.allocations) {
    allocations.push_back(&allocation);
  }
  std::stable_sort(
      allocations.begin(), allocations.end(),
      [](const CompiledAllocation* a, const CompiledAllocation* b) {
        return a->size_bytes > b->size_bytes;
      });
  for (const CompiledAllocation* allocation : allocations) {
    *detail.add_allocations() = InfoOf(*allocation);
  }
  const CompiledAllocation* allocation =
      query.has_module_allocation()
          ? module.AllocationOf(query.module_allocation())
          : MainAllocation(module);
  if (allocation == nullptr) return detail;
  const auto points = static_cast<uint32_t>(module.program.size());
  ProgramPoint point = allocation->peak;
  if (query.has_program_point() && points > 0) {
    point = std::min(query.program_point(), points - 1);
  }
  *detail.mutable_allocation() = InfoOf(*allocation);
  detail.set_program_points(points);
  detail.set_peak_point(allocation->peak);
  detail.set_point(point);
  if (point < points) {
    detail.set_point_instruction(module.program[point].instruction);
    detail.set_point_op_name(module.program[point].op_name);
  }
  FillColumns(*allocation, query.columns(), &detail);
  FillBuffers(*allocation, point, &detail);
  *detail.mutable_content() = ContentOf(*allocation, point);
  return detail;
}

}  // namespace oom_forensics
