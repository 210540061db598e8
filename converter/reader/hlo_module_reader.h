// The instructions of a module and their order, from its HloModuleProto.
#ifndef OOM_FORENSICS_CONVERTER_READER_HLO_MODULE_READER_H_
#define OOM_FORENSICS_CONVERTER_READER_HLO_MODULE_READER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/hlo/hlo_graph.h"
#include "converter/quality/quality_log.h"
#include "converter/reader/wire.h"

namespace oom_forensics {

class HloModuleReader {
 public:
  // Both must outlive it.
  HloModuleReader(HloGraph* graph, QualityLog* quality)
      : graph_(*graph), quality_(*quality) {}

  // Fills in all of the graph that is not of the buffer assignment. `module`
  // must outlive the reader.
  void Read(std::string_view module);

  // By the number, or the name, that the file gives it; kNoHloIndex: there is
  // none.
  HloIndex InstructionOf(int64_t id) const;
  HloIndex InstructionNamed(std::string_view name) const;
  // Its serialised ShapeProto.
  std::string_view ShapeOf(HloIndex instruction) const {
    return links_[instruction].shape;
  }

  // A text of the file, or a cleaned copy that the graph owns.
  std::string_view Text(std::string_view text);

 private:
  // What an instruction says in numbers of the file.
  struct Links {
    std::string_view shape;
    std::vector<int64_t> operands;
    std::vector<int64_t> called;
  };

  // ForEachField, with the damage counted.
  template <typename OnField>
  void Each(std::string_view message, OnField on_field) {
    if (!ForEachField(message, on_field)) {
      quality_.Add(QualityCounter::kMalformedMessages);
    }
  }

  void ReadComputation(std::string_view message);
  HloIndex ReadInstruction(std::string_view message, HloIndex computation);
  void ReadSchedule(std::string_view schedule);
  void ReadAliases(std::string_view message);
  // Numbers of the file into indices of the graph.
  void Connect();
  HloIndex ComputationOf(int64_t id) const;

  HloGraph& graph_;
  QualityLog& quality_;
  std::vector<Links> links_;
  std::vector<int64_t> root_ids_;
  absl::flat_hash_map<int64_t, HloIndex> instruction_index_;
  absl::flat_hash_map<std::string_view, HloIndex> instruction_by_name_;
  absl::flat_hash_map<int64_t, HloIndex> computation_index_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_HLO_MODULE_READER_H_
