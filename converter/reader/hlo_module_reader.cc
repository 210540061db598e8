#include "converter/reader/hlo_module_reader.h"

#include <utility>

namespace oom_forensics {
namespace {

// Field numbers of xla/service/hlo.proto and xla/xla_data.proto.
namespace module_proto {
enum Field : uint32_t {
  kName = 1,
  kComputations = 3,
  kEntryComputationId = 6,
  kSchedule = 7,
  kInputOutputAlias = 8,
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
namespace alias_proto {
enum Field : uint32_t { kEntries = 1 };
}
namespace alias_entry {
enum Field : uint32_t { kOutputShapeIndex = 1, kParameterNumber = 2 };
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

}  // namespace

void HloModuleReader::Read(std::string_view module) {
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
      case module_proto::kInputOutputAlias:
        ReadAliases(View(reader.get_view()));
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

void HloModuleReader::ReadComputation(std::string_view message) {
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

HloIndex HloModuleReader::ReadInstruction(std::string_view message,
                                          HloIndex computation) {
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

void HloModuleReader::Connect() {
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

void HloModuleReader::ReadSchedule(std::string_view schedule) {
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

void HloModuleReader::ReadAliases(std::string_view message) {
  Each(message, [&](FieldReader& reader) {
    if (reader.tag() != alias_proto::kEntries) {
      reader.skip();
      return;
    }
    HloAlias alias;
    Each(View(reader.get_view()), [&](FieldReader& entry) {
      if (entry.tag() == alias_entry::kOutputShapeIndex) {
        entry.AppendInt64s(&alias.output_index);
      } else if (entry.tag() == alias_entry::kParameterNumber) {
        alias.parameter_number = entry.get_int64();
      } else {
        entry.skip();
      }
    });
    graph_.aliases.push_back(std::move(alias));
  });
}

std::string_view HloModuleReader::Text(std::string_view text) {
  if (IsCleanText(text)) return text;
  bool shortened = false;
  graph_.cleaned_texts.push_back(SanitizedText(text, &shortened));
  if (shortened) quality_.Add(QualityCounter::kShortenedText);
  return graph_.cleaned_texts.back();
}

HloIndex HloModuleReader::InstructionOf(int64_t id) const {
  const auto found = instruction_index_.find(id);
  return found == instruction_index_.end() ? kNoHloIndex : found->second;
}

HloIndex HloModuleReader::InstructionNamed(std::string_view name) const {
  const auto found = instruction_by_name_.find(name);
  return found == instruction_by_name_.end() ? kNoHloIndex : found->second;
}

HloIndex HloModuleReader::ComputationOf(int64_t id) const {
  const auto found = computation_index_.find(id);
  return found == computation_index_.end() ? kNoHloIndex : found->second;
}

}  // namespace oom_forensics
