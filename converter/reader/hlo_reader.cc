#include "converter/reader/hlo_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/reader/wire.h"

namespace oom_forensics {
namespace {

// Field numbers of xla/service/hlo.proto and xla/xla_data.proto.
namespace hlo_proto {
enum Field : uint32_t { kModule = 1, kBufferAssignment = 3 };
}
namespace module_proto {
enum Field : uint32_t {
  kName = 1,
  kComputations = 3,
  kEntryComputationId = 6,
  kSchedule = 7,
};
}
namespace computation_proto {
enum Field : uint32_t { kInstructions = 2, kId = 5, kRootId = 6 };
}
namespace instruction_proto {
enum Field : uint32_t {
  kName = 1,
  kOpcode = 2,
  kShape = 3,
  kMetadata = 7,
  kParameterNumber = 9,
  kTupleIndex = 13,
  kId = 35,
  kOperandIds = 36,
  kCalledComputationIds = 38,
};
}
namespace op_metadata {
enum Field : uint32_t { kOpName = 2 };
}
namespace shape_proto {
enum Field : uint32_t { kElementType = 2, kDimensions = 3, kTupleShapes = 4 };
}
namespace schedule_proto {
enum Field : uint32_t { kSequences = 1 };
}
namespace map_entry {
enum Field : uint32_t { kKey = 1, kValue = 2 };
}
namespace sequence_proto {
enum Field : uint32_t { kInstructionIds = 1 };
}
namespace assignment_proto {
enum Field : uint32_t { kLogicalBuffers = 1, kBufferAllocations = 3 };
}
namespace logical_buffer {
enum Field : uint32_t { kId = 1, kDefinedAt = 3 };
}
namespace location {
enum Field : uint32_t { kInstructionId = 4, kInstructionName = 2, kIndex = 3 };
}
namespace allocation_proto {
enum Field : uint32_t {
  kIndex = 1,
  kSize = 2,
  kIsThreadLocal = 3,
  kIsEntryParameter = 5,
  kParameterNumber = 6,
  kMaybeLiveOut = 7,
  kAssigned = 9,
  kIsConstant = 12,
};
}
namespace assigned_proto {
enum Field : uint32_t { kLogicalBufferId = 1, kOffset = 2, kSize = 3 };
}

// Tuples within tuples; real ones stay below five.
constexpr size_t kMaxShapeDepth = 16;

struct Shape {
  int64_t element_type = 0;
  std::vector<int64_t> dims;
};

class HloReader {
 public:
  explicit HloReader(QualityLog* quality) : quality_(*quality) {}

  HloGraph Read(std::string_view proto) {
    std::string_view module;
    std::string_view assignment;
    Each(proto, [&](FieldReader& reader) {
      switch (reader.tag()) {
        case hlo_proto::kModule:
          module = View(reader.get_view());
          break;
        case hlo_proto::kBufferAssignment:
          assignment = View(reader.get_view());
          break;
        default:
          reader.skip();
      }
    });
    if (assignment.empty()) return {};
    ReadModule(module);
    ReadAssignment(assignment);
    return std::move(graph_);
  }

 private:
  // ForEachField, with the damage counted.
  template <typename OnField>
  void Each(std::string_view message, OnField on_field) {
    if (!ForEachField(message, on_field)) {
      quality_.Add(QualityCounter::kMalformedMessages);
    }
  }

  std::string_view Text(std::string_view text) {
    if (IsCleanText(text)) return text;
    bool shortened = false;
    graph_.cleaned_texts.push_back(SanitizedText(text, &shortened));
    if (shortened) quality_.Add(QualityCounter::kShortenedText);
    return graph_.cleaned_texts.back();
  }

  void ReadModule(std::string_view module) {
    int64_t entry_id = 0;
    std::vector<std::string_view> schedules;
    Each(module, [&](FieldReader& reader) {
      switch (reader.tag()) {
        case module_proto::kName:
          graph_.name = Text(View(reader.get_view()));
          break;
        case module_proto::kComputations:
          ReadComputation(View(reader.get_view()));
          break;
        case module_proto::kEntryComputationId:
          entry_id = reader.get_int64();
          break;
        case module_proto::kSchedule:
          schedules.push_back(View(reader.get_view()));
          break;
        default:
          reader.skip();
      }
    });
    graph_.entry = ComputationOf(entry_id);
    Connect();
    for (const std::string_view schedule : schedules) ReadSchedule(schedule);
  }

  void ReadComputation(std::string_view message) {
    const auto index = static_cast<HloIndex>(graph_.computations.size());
    HloComputation computation;
    int64_t id = 0;
    int64_t root_id = 0;
    Each(message, [&](FieldReader& reader) {
      switch (reader.tag()) {
        case computation_proto::kInstructions:
          computation.instructions.push_back(
              ReadInstruction(View(reader.get_view()), index));
          break;
        case computation_proto::kId:
          id = reader.get_int64();
          break;
        case computation_proto::kRootId:
          root_id = reader.get_int64();
          break;
        default:
          reader.skip();
      }
    });
    computation_index_.try_emplace(id, index);
    root_ids_.push_back(root_id);
    graph_.computations.push_back(std::move(computation));
  }

  HloIndex ReadInstruction(std::string_view message, HloIndex computation) {
    const auto index = static_cast<HloIndex>(graph_.instructions.size());
    HloInstruction instruction;
    instruction.computation = computation;
    Links links;
    int64_t id = 0;
    Each(message, [&](FieldReader& reader) {
      switch (reader.tag()) {
        case instruction_proto::kName:
          instruction.name = Text(View(reader.get_view()));
          break;
        case instruction_proto::kOpcode:
          instruction.opcode = Text(View(reader.get_view()));
          break;
        case instruction_proto::kShape:
          links.shape = View(reader.get_view());
          break;
        case instruction_proto::kMetadata:
          instruction.op_name =
              Text(TextField(View(reader.get_view()), op_metadata::kOpName));
          break;
        case instruction_proto::kParameterNumber:
          instruction.parameter_number = reader.get_int64();
          break;
        case instruction_proto::kTupleIndex:
          instruction.tuple_index = reader.get_int64();
          break;
        case instruction_proto::kId:
          id = reader.get_int64();
          break;
        case instruction_proto::kOperandIds:
          reader.AppendInt64s(&links.operands);
          break;
        case instruction_proto::kCalledComputationIds:
          reader.AppendInt64s(&links.called);
          break;
        default:
          reader.skip();
      }
    });
    instruction_index_.try_emplace(id, index);
    instruction_by_name_.try_emplace(instruction.name, index);
    links_.push_back(std::move(links));
    graph_.instructions.push_back(std::move(instruction));
    return index;
  }

  // Numbers of the file into indices of the graph.
  void Connect() {
    for (size_t i = 0; i < graph_.instructions.size(); ++i) {
      for (const int64_t id : links_[i].operands) {
        const HloIndex operand = InstructionOf(id);
        if (operand == kNoHloIndex) continue;
        graph_.instructions[i].operands.push_back(operand);
      }
      for (const int64_t id : links_[i].called) {
        const HloIndex called = ComputationOf(id);
        if (called == kNoHloIndex) continue;
        graph_.instructions[i].called.push_back(called);
      }
    }
    for (size_t i = 0; i < graph_.computations.size(); ++i) {
      graph_.computations[i].root = InstructionOf(root_ids_[i]);
    }
  }

  void ReadSchedule(std::string_view schedule) {
    Each(schedule, [&](FieldReader& reader) {
      if (reader.tag() != schedule_proto::kSequences) {
        reader.skip();
        return;
      }
      int64_t computation_id = 0;
      std::vector<int64_t> ids;
      Each(View(reader.get_view()), [&](FieldReader& entry) {
        if (entry.tag() == map_entry::kKey) {
          computation_id = entry.get_int64();
        } else if (entry.tag() == map_entry::kValue) {
          Each(View(entry.get_view()), [&](FieldReader& sequence) {
            if (sequence.tag() == sequence_proto::kInstructionIds) {
              sequence.AppendInt64s(&ids);
            } else {
              sequence.skip();
            }
          });
        } else {
          entry.skip();
        }
      });
      const HloIndex computation = ComputationOf(computation_id);
      if (computation == kNoHloIndex) return;
      for (const int64_t id : ids) {
        const HloIndex instruction = InstructionOf(id);
        if (instruction == kNoHloIndex) continue;
        graph_.computations[computation].sequence.push_back(instruction);
      }
    });
  }

  void ReadAssignment(std::string_view assignment) {
    std::vector<std::string_view> allocations;
    Each(assignment, [&](FieldReader& reader) {
      switch (reader.tag()) {
        case assignment_proto::kLogicalBuffers:
          ReadBuffer(View(reader.get_view()));
          break;
        case assignment_proto::kBufferAllocations:
          allocations.push_back(View(reader.get_view()));
          break;
        default:
          reader.skip();
      }
    });
    for (const std::string_view allocation : allocations) {
      ReadAllocation(allocation);
    }
  }

  void ReadBuffer(std::string_view message) {
    HloBuffer buffer;
    Each(message, [&](FieldReader& reader) {
      if (reader.tag() == logical_buffer::kId) {
        buffer.id = reader.get_int64();
      } else if (reader.tag() == logical_buffer::kDefinedAt) {
        ReadLocation(View(reader.get_view()), &buffer);
      } else {
        reader.skip();
      }
    });
    if (buffer.instruction != kNoHloIndex) {
      Shape shape =
          ShapeAt(links_[buffer.instruction].shape, buffer.shape_index);
      buffer.element_type = shape.element_type;
      buffer.dims = std::move(shape.dims);
    }
    buffer_index_.try_emplace(buffer.id,
                              static_cast<uint32_t>(graph_.buffers.size()));
    graph_.buffers.push_back(std::move(buffer));
  }

  void ReadLocation(std::string_view message, HloBuffer* buffer) {
    int64_t id = 0;
    std::string_view name;
    Each(message, [&](FieldReader& reader) {
      switch (reader.tag()) {
        case location::kInstructionId:
          id = reader.get_int64();
          break;
        case location::kInstructionName:
          name = Text(View(reader.get_view()));
          break;
        case location::kIndex:
          reader.AppendInt64s(&buffer->shape_index);
          break;
        default:
          reader.skip();
      }
    });
    buffer->instruction = InstructionOf(id);
    // Older versions name it.
    if (!name.empty()) {
      const auto found = instruction_by_name_.find(name);
      if (found != instruction_by_name_.end()) {
        buffer->instruction = found->second;
      }
    }
  }

  Shape ShapeAt(std::string_view message, const std::vector<int64_t>& index) {
    if (index.size() > kMaxShapeDepth) return {};
    for (const int64_t element : index) {
      int64_t at = 0;
      std::string_view inner;
      Each(message, [&](FieldReader& reader) {
        if (reader.tag() != shape_proto::kTupleShapes) {
          reader.skip();
          return;
        }
        const std::string_view shape = View(reader.get_view());
        if (at++ == element) inner = shape;
      });
      message = inner;
    }
    Shape shape;
    Each(message, [&](FieldReader& reader) {
      if (reader.tag() == shape_proto::kElementType) {
        shape.element_type = reader.get_int64();
      } else if (reader.tag() == shape_proto::kDimensions) {
        reader.AppendInt64s(&shape.dims);
      } else {
        reader.skip();
      }
    });
    return shape;
  }

  void ReadAllocation(std::string_view message) {
    HloAllocation allocation;
    Each(message, [&](FieldReader& reader) {
      switch (reader.tag()) {
        case allocation_proto::kIndex:
          allocation.index = reader.get_int64();
          break;
        case allocation_proto::kSize:
          allocation.size_bytes = reader.get_uint64();
          break;
        case allocation_proto::kIsThreadLocal:
          allocation.is_thread_local = reader.get_bool();
          break;
        case allocation_proto::kIsEntryParameter:
          allocation.is_parameter = reader.get_bool();
          break;
        case allocation_proto::kParameterNumber:
          allocation.parameter_number = reader.get_int64();
          break;
        case allocation_proto::kMaybeLiveOut:
          allocation.maybe_live_out = reader.get_bool();
          break;
        case allocation_proto::kIsConstant:
          allocation.is_constant = reader.get_bool();
          break;
        case allocation_proto::kAssigned:
          ReadAssigned(View(reader.get_view()), &allocation);
          break;
        default:
          reader.skip();
      }
    });
    graph_.allocations.push_back(std::move(allocation));
  }

  void ReadAssigned(std::string_view message, HloAllocation* allocation) {
    int64_t id = 0;
    HloAssignment assigned;
    Each(message, [&](FieldReader& reader) {
      switch (reader.tag()) {
        case assigned_proto::kLogicalBufferId:
          id = reader.get_int64();
          break;
        case assigned_proto::kOffset:
          assigned.offset_bytes = reader.get_uint64();
          break;
        case assigned_proto::kSize:
          assigned.size_bytes = reader.get_uint64();
          break;
        default:
          reader.skip();
      }
    });
    const auto found = buffer_index_.find(id);
    if (found == buffer_index_.end()) {
      quality_.Add(QualityCounter::kMalformedMessages);
      return;
    }
    assigned.buffer = found->second;
    allocation->assigned.push_back(assigned);
  }

  HloIndex InstructionOf(int64_t id) const {
    const auto found = instruction_index_.find(id);
    return found == instruction_index_.end() ? kNoHloIndex : found->second;
  }
  HloIndex ComputationOf(int64_t id) const {
    const auto found = computation_index_.find(id);
    return found == computation_index_.end() ? kNoHloIndex : found->second;
  }

  // What an instruction says in numbers of the file.
  struct Links {
    std::string_view shape;
    std::vector<int64_t> operands;
    std::vector<int64_t> called;
  };

  QualityLog& quality_;
  HloGraph graph_;
  std::vector<Links> links_;
  std::vector<int64_t> root_ids_;
  absl::flat_hash_map<int64_t, HloIndex> instruction_index_;
  absl::flat_hash_map<std::string_view, HloIndex> instruction_by_name_;
  absl::flat_hash_map<int64_t, HloIndex> computation_index_;
  absl::flat_hash_map<int64_t, uint32_t> buffer_index_;
};

}  // namespace

HloGraph ReadHloModule(std::string_view proto, QualityLog* quality) {
  return HloReader(quality).Read(proto);
}

}  // namespace oom_forensics
