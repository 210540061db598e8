#include "converter/reader/hlo_reader.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/reader/hlo_module_reader.h"
#include "converter/reader/wire.h"

namespace oom_forensics {
namespace {

// Field numbers of xla/service/hlo.proto and xla/xla_data.proto.
namespace hlo_proto {
enum Field : uint32_t { kModule = 1, kBufferAssignment = 3 };
}
namespace shape_proto {
enum Field : uint32_t { kElementType = 2, kDimensions = 3, kTupleShapes = 4 };
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

// Dimensions of a tensor; real ones stay below ten.
constexpr size_t kMaxDimensions = 64;

struct Shape {
  int64_t element_type = 0;
  std::vector<int64_t> dims;
  // For a tuple: its elements, serialized.
  std::vector<std::string_view> elements;
};

// Which buffers XLA assigned to which place, from its BufferAssignmentProto.
class AssignmentReader {
 public:
  AssignmentReader(HloModuleReader* module, HloGraph* graph,
                   QualityLog* quality)
      : module_(*module), graph_(*graph), quality_(*quality) {}

  void Read(std::string_view assignment) {
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

 private:
  // ForEachField, with the damage counted.
  template <typename OnField>
  void Each(std::string_view message, OnField on_field) {
    if (!ForEachField(message, on_field)) {
      quality_.Add(QualityCounter::kMalformedMessages);
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
    if (buffer.shape_index.size() > kMaxShapeDepth) {
      quality_.Add(QualityCounter::kMalformedMessages);
      buffer.shape_index.clear();
      buffer.instruction = kNoHloIndex;
    }
    if (buffer.instruction != kNoHloIndex) {
      const Shape* const shape =
          ShapeAt(module_.ShapeOf(buffer.instruction), buffer.shape_index);
      if (shape != nullptr) {
        buffer.element_type = shape->element_type;
        buffer.dims = shape->dims;
      }
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
          name = module_.Text(View(reader.get_view()));
          break;
        case location::kIndex:
          reader.AppendInt64s(&buffer->shape_index);
          break;
        default:
          reader.skip();
      }
    });
    buffer->instruction = module_.InstructionOf(id);
    // Older versions name it.
    const HloIndex named = module_.InstructionNamed(name);
    if (named != kNoHloIndex) buffer->instruction = named;
  }

  // Null where the shape has no such element.
  const Shape* ShapeAt(std::string_view message,
                       const std::vector<int64_t>& index) {
    const Shape* shape = &ShapeOf(message);
    for (const int64_t element : index) {
      if (element < 0 ||
          static_cast<size_t>(element) >= shape->elements.size()) {
        return nullptr;
      }
      shape = &ShapeOf(shape->elements[static_cast<size_t>(element)]);
    }
    return shape;
  }

  // Each is read once, however many buffers lie in it.
  const Shape& ShapeOf(std::string_view message) {
    const auto [known, is_new] =
        shapes_.try_emplace({message.data(), message.size()});
    if (!is_new) return *known->second;
    known->second = std::make_unique<Shape>();
    Shape& shape = *known->second;
    Each(message, [&](FieldReader& reader) {
      switch (reader.tag()) {
        case shape_proto::kElementType:
          shape.element_type = reader.get_int64();
          break;
        case shape_proto::kDimensions:
          reader.AppendInt64s(&shape.dims);
          break;
        case shape_proto::kTupleShapes:
          shape.elements.push_back(View(reader.get_view()));
          break;
        default:
          reader.skip();
      }
    });
    if (shape.dims.size() > kMaxDimensions) {
      quality_.Add(QualityCounter::kMalformedMessages);
      shape.dims.clear();
    }
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

  HloModuleReader& module_;
  HloGraph& graph_;
  QualityLog& quality_;
  absl::flat_hash_map<int64_t, uint32_t> buffer_index_;
  // By where they stand in the file.
  absl::flat_hash_map<std::pair<const char*, size_t>, std::unique_ptr<Shape>>
      shapes_;
};

}  // namespace

HloGraph ReadHloModule(std::string_view proto, QualityLog* quality) {
  std::string_view module;
  std::string_view assignment;
  const bool whole = ForEachField(proto, [&](FieldReader& reader) {
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
  if (!whole) quality->Add(QualityCounter::kMalformedMessages);
  HloGraph graph;
  if (assignment.empty()) return graph;
  HloModuleReader module_reader(&graph, quality);
  module_reader.Read(module);
  AssignmentReader(&module_reader, &graph, quality).Read(assignment);
  return graph;
}

}  // namespace oom_forensics
