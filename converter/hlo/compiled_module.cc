#include "converter/hlo/compiled_module.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/cancellation/cancellation.h"
#include "converter/hlo/element_type.h"
#include "converter/hlo/op_names.h"
#include "converter/hlo/results.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kKindNames[] = {"temp", "output", "parameter",
                                           "constant", "thread_local"};

BufferKind KindOf(const HloAllocation& allocation) {
  if (allocation.is_thread_local) return BufferKind::kThreadLocal;
  if (allocation.is_parameter) return BufferKind::kParameter;
  if (allocation.is_constant) return BufferKind::kConstant;
  return allocation.maybe_live_out ? BufferKind::kOutput : BufferKind::kTemp;
}

bool IsMadeByTheProgram(BufferKind kind) {
  return kind == BufferKind::kTemp || kind == BufferKind::kOutput;
}

// How often a name is repeated in a real module, by far, and how much room each
// buffer has for its names.
constexpr uint64_t kTextRepeats = 8;
constexpr uint64_t kTextBytesPerBuffer = 256;

// The point at which most of the allocation is live. Where an op writes its
// result over its operand both are live, and their places may differ: so the
// most promising points are looked at exactly.
ProgramPoint PeakOf(const CompiledAllocation& allocation) {
  constexpr size_t kExactly = 64;
  std::vector<LiveBytes> points = allocation.LiveOver();
  std::stable_sort(
      points.begin(), points.end(),
      [](const LiveBytes& a, const LiveBytes& b) { return a.bytes > b.bytes; });
  ProgramPoint peak = 0;
  uint64_t highest = 0;
  for (size_t i = 0; i < std::min(kExactly, points.size()); ++i) {
    if (points[i].bytes <= highest) break;
    const uint64_t bytes = allocation.LiveBytesAt(points[i].point);
    if (bytes <= highest) continue;
    highest = bytes;
    peak = points[i].point;
  }
  return peak;
}

class ModuleMaker {
 public:
  explicit ModuleMaker(const HloGraph& graph)
      : graph_(graph),
        order_(OrderOf(graph)),
        ranges_(graph, order_),
        op_names_(OpNamesOf(graph, ranges_)) {
    uint64_t count = graph.buffers.size();
    for (const HloAllocation& allocation : graph.allocations) {
      count += allocation.assigned.size();
    }
    text_bytes_left_ = count * kTextBytesPerBuffer;
    for (const HloInstruction& instruction : graph.instructions) {
      text_bytes_left_ +=
          kTextRepeats * (instruction.name.size() + instruction.opcode.size() +
                          instruction.op_name.size());
      if (!IsGradientName(instruction.op_name)) continue;
      const std::string_view path = LayerPath(instruction.op_name);
      const size_t slash = path.rfind('/');
      if (slash != std::string_view::npos) {
        ops_with_gradient_.insert(path.substr(0, slash));
      }
    }
  }

  CompiledModule Make(uint64_t program_id) {
    CompiledModule module;
    module.name = graph_.name;
    module.function = FunctionOfModule(graph_.name);
    module.program_id = program_id;
    module.has_schedule = !order_.program.empty();
    for (const HloIndex instruction : order_.program) {
      StopIfCancelled(module.program.size());
      module.program.push_back({Text(graph_.instructions[instruction].name),
                                Text(op_names_[instruction])});
    }
    for (const HloAllocation& allocation : graph_.allocations) {
      module.allocations.push_back(MakeAllocation(allocation));
    }
    module.fresh_results = MakeFreshResults();
    module.ranges_cut = ranges_.gave_up();
    module.texts_left_out = texts_left_out_;
    return module;
  }

 private:
  // A copy of its own, as far as there is room for copies.
  std::string Text(std::string_view text) {
    if (text.size() > text_bytes_left_) {
      texts_left_out_ = true;
      return {};
    }
    text_bytes_left_ -= text.size();
    return std::string(text);
  }

  CompiledAllocation MakeAllocation(const HloAllocation& from) {
    CompiledAllocation allocation;
    allocation.index = from.index;
    allocation.kind = KindOf(from);
    allocation.size_bytes = from.size_bytes;
    allocation.parameter_number = from.parameter_number;
    for (const HloAssignment& assigned : from.assigned) {
      StopIfCancelled(allocation.buffers.size());
      // A place outside its allocation is damage.
      if (assigned.size_bytes == 0 || assigned.size_bytes > from.size_bytes ||
          assigned.offset_bytes > from.size_bytes - assigned.size_bytes) {
        continue;
      }
      allocation.buffers.push_back(MakeBuffer(assigned, allocation.kind));
    }
    allocation.peak = PeakOf(allocation);
    return allocation;
  }

  // In the order of CpuExecutable::CreateResultShapedBuffer and
  // GpuExecutable::ExecuteAsyncOnStreamImpl: by the place in the result.
  std::vector<CompiledAllocation> MakeFreshResults() {
    std::vector<HloAlias> aliases = graph_.aliases;
    std::stable_sort(aliases.begin(), aliases.end(),
                     [](const HloAlias& a, const HloAlias& b) {
                       return a.output_index < b.output_index;
                     });
    absl::flat_hash_map<int64_t, const HloAllocation*> arguments;
    for (const HloAllocation& allocation : graph_.allocations) {
      if (allocation.is_parameter) {
        arguments.try_emplace(allocation.parameter_number, &allocation);
      }
    }
    std::vector<CompiledAllocation> results;
    for (const HloAlias& alias : aliases) {
      const auto argument = arguments.find(alias.parameter_number);
      if (argument == arguments.end() || argument->second->size_bytes == 0) {
        continue;
      }
      CompiledAllocation& result = results.emplace_back();
      result.index = argument->second->index;
      result.kind = BufferKind::kOutput;
      result.size_bytes = argument->second->size_bytes;
      // Each argument is written over once.
      arguments.erase(argument);
      const uint32_t buffer =
          BufferOfResult(graph_, ranges_, alias.output_index);
      if (buffer == kNoHloIndex) continue;
      result.buffers.push_back(
          MakeBuffer({buffer, 0, result.size_bytes}, result.kind));
      result.peak = PeakOf(result);
    }
    return results;
  }

  CompiledBuffer MakeBuffer(const HloAssignment& assigned, BufferKind kind) {
    const HloBuffer& from = graph_.buffers[assigned.buffer];
    CompiledBuffer buffer;
    buffer.offset_bytes = assigned.offset_bytes;
    buffer.size_bytes = assigned.size_bytes;
    buffer.shape = absl::StrCat("[", absl::StrJoin(from.dims, ","), "]");
    buffer.dtype = TensorFlowDtype(from.element_type);
    if (from.instruction == kNoHloIndex) return buffer;
    const HloInstruction& instruction = graph_.instructions[from.instruction];
    buffer.op_name = Text(op_names_[from.instruction]);
    buffer.instruction = Text(instruction.name);
    buffer.opcode = Text(instruction.opcode);
    buffer.has_gradient =
        !IsGradientName(buffer.op_name) &&
        ops_with_gradient_.contains(LayerPath(buffer.op_name));
    if (!IsMadeByTheProgram(kind)) {
      if (!order_.program.empty()) {
        buffer.live.last = static_cast<ProgramPoint>(order_.program.size() - 1);
      }
      return buffer;
    }
    const BufferUse use = ranges_.UseOf(assigned.buffer);
    buffer.live = use.range;
    if (use.last_user != kNoHloIndex) {
      buffer.last_user = Text(graph_.instructions[use.last_user].name);
      buffer.held_for_backward = !buffer.op_name.empty() &&
                                 !IsGradientName(buffer.op_name) &&
                                 IsGradientName(op_names_[use.last_user]);
    }
    return buffer;
  }

  const HloGraph& graph_;
  const ProgramOrder order_;
  LiveRanges ranges_;
  const std::vector<std::string_view> op_names_;
  // Names stand once in the file, and many may refer to one.
  uint64_t text_bytes_left_ = 0;
  bool texts_left_out_ = false;
  // Paths of the ops of the forward pass.
  absl::flat_hash_set<std::string_view> ops_with_gradient_;
};

}  // namespace

std::string_view BufferKindName(BufferKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

BufferKind BufferKindOf(std::string_view name) {
  for (size_t i = 0; i < std::size(kKindNames); ++i) {
    if (kKindNames[i] == name) return static_cast<BufferKind>(i);
  }
  return BufferKind::kTemp;
}

CompiledModule MakeCompiledModule(const HloGraph& graph, uint64_t program_id) {
  return ModuleMaker(graph).Make(program_id);
}

std::vector<LiveBytes> CompiledAllocation::LiveOver() const {
  struct Change {
    ProgramPoint point;
    bool begins;
    uint32_t buffer;
  };
  std::vector<Change> changes;
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    changes.push_back({buffers[i].live.first, true, i});
    changes.push_back({buffers[i].live.last + 1, false, i});
  }
  std::sort(
      changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        return a.point != b.point ? a.point < b.point : a.begins < b.begins;
      });
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> places;
  std::vector<LiveBytes> live;
  uint64_t bytes = 0;
  for (const Change& change : changes) {
    const CompiledBuffer& buffer = buffers[change.buffer];
    uint32_t& count = places[{buffer.offset_bytes, buffer.size_bytes}];
    if (change.begins) {
      if (count++ == 0) bytes += buffer.size_bytes;
    } else if (--count == 0) {
      bytes -= buffer.size_bytes;
    }
    if (live.empty() || live.back().point != change.point) {
      live.push_back({change.point, bytes});
    }
    live.back().bytes = bytes;
  }
  return live;
}

std::vector<BlockPart> CompiledAllocation::PartsAt(ProgramPoint point) const {
  // Cuts at which something begins or ends; between two of them lies the
  // youngest of the buffers that cover both.
  struct Edge {
    uint64_t offset;
    bool begins;
    uint32_t buffer;
  };
  std::vector<Edge> edges;
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    const CompiledBuffer& buffer = buffers[i];
    if (point < buffer.live.first || point > buffer.live.last) continue;
    edges.push_back({buffer.offset_bytes, true, i});
    edges.push_back({buffer.offset_bytes + buffer.size_bytes, false, i});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.begins < b.begins;
  });
  const auto is_younger = [this](uint32_t a, uint32_t b) {
    const ProgramPoint first_a = buffers[a].live.first;
    const ProgramPoint first_b = buffers[b].live.first;
    return first_a != first_b ? first_a > first_b : a < b;
  };
  std::set<uint32_t, decltype(is_younger)> covering(is_younger);
  std::vector<BlockPart> parts;
  uint64_t at = 0;
  const auto fill_to = [&](uint64_t offset) {
    if (offset <= at) return;
    const uint32_t buffer =
        covering.empty() ? BlockPart::kUnused : *covering.begin();
    if (!parts.empty() && parts.back().buffer == buffer) {
      parts.back().size_bytes += offset - at;
    } else {
      parts.push_back({buffer, at, offset - at});
    }
    at = offset;
  };
  for (const Edge& edge : edges) {
    fill_to(edge.offset);
    if (edge.begins) {
      covering.insert(edge.buffer);
    } else {
      covering.erase(edge.buffer);
    }
  }
  fill_to(size_bytes);
  return parts;
}

uint64_t CompiledAllocation::LiveBytesAt(ProgramPoint point) const {
  uint64_t bytes = 0;
  for (const BlockPart& part : PartsAt(point)) {
    if (part.buffer != BlockPart::kUnused) bytes += part.size_bytes;
  }
  return bytes;
}

uint64_t CompiledModule::BytesOf(BufferKind kind) const {
  uint64_t bytes = 0;
  for (const CompiledAllocation& allocation : allocations) {
    if (allocation.kind == kind) bytes += allocation.size_bytes;
  }
  return bytes;
}

const CompiledAllocation* CompiledModule::AllocationOf(int64_t index) const {
  // They are numbered by their order, in every file that XLA wrote.
  if (index >= 0 && static_cast<uint64_t>(index) < allocations.size() &&
      allocations[static_cast<size_t>(index)].index == index) {
    return &allocations[static_cast<size_t>(index)];
  }
  for (const CompiledAllocation& allocation : allocations) {
    if (allocation.index == index) return &allocation;
  }
  return nullptr;
}

uint64_t CompiledModule::ResidentBytes() const {
  uint64_t bytes = sizeof(*this) + name.size() + function.size();
  for (const ProgramStep& step : program) {
    bytes += sizeof(step) + step.instruction.size() + step.op_name.size();
  }
  for (const auto* list : {&allocations, &fresh_results}) {
    for (const CompiledAllocation& allocation : *list) {
      bytes += sizeof(allocation);
      for (const CompiledBuffer& buffer : allocation.buffers) {
        bytes += sizeof(buffer) + buffer.op_name.size() +
                 buffer.instruction.size() + buffer.last_user.size();
      }
    }
  }
  return bytes;
}

}  // namespace oom_forensics
