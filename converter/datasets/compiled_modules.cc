#include "converter/datasets/compiled_modules.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/cancellation/cancellation.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/module_detail.h"
#include "converter/datasets/selection.h"
#include "core/data_types.h"

namespace oom_forensics {
namespace {

constexpr size_t kParameterShapes = 4;

// How often a module ran, and was refused memory.
struct Use {
  uint64_t runs = 0;
  uint64_t refused = 0;
};

// By index of the module. A run asks once for each of its allocations.
std::map<int32_t, Use> CountUses(const HostAnalysis& host) {
  std::map<std::pair<int32_t, int64_t>, Use> by_allocation;
  const HostTrace& trace = host.trace();
  for (const AllocatorTrace& allocator : trace.allocators) {
    for (Row row = allocator.baseline_rows; row < allocator.row_count();
         ++row) {
      StopIfCancelled(row);
      const RowKind kind = allocator.kind_of[row];
      if (kind != RowKind::kAlloc && kind != RowKind::kFailed) continue;
      const CompiledRequest* request =
          trace.CompiledOf(trace.sites.Get(allocator.site[row]));
      if (request == nullptr || request->module < 0) continue;
      Use& use = by_allocation[{request->module, request->allocation}];
      ++use.runs;
      if (kind == RowKind::kFailed) ++use.refused;
    }
  }
  std::map<int32_t, Use> uses;
  for (const auto& [key, use] : by_allocation) {
    Use& sum = uses[key.first];
    sum.runs = std::max(sum.runs, use.runs);
    sum.refused += use.refused;
  }
  return uses;
}

CompiledModuleInfo InfoOf(const HostTrace& host, const CompiledModule& module,
                          const Use& use) {
  CompiledModuleInfo info;
  info.set_host(host.host);
  info.set_name(module.name);
  info.set_program_id(module.program_id);
  info.set_function(module.function);
  info.set_temp_bytes(module.BytesOf(BufferKind::kTemp));
  info.set_output_bytes(module.BytesOf(BufferKind::kOutput));
  info.set_parameter_bytes(module.BytesOf(BufferKind::kParameter));
  info.set_constant_bytes(module.BytesOf(BufferKind::kConstant));
  info.set_run_count(use.runs);
  info.set_refused_count(use.refused);
  info.set_instruction_count(module.program.size());
  info.set_has_schedule(module.has_schedule);
  info.set_compile_ns(module.compile_ns);
  std::vector<const CompiledAllocation*> parameters;
  uint64_t buffers = 0;
  for (const CompiledAllocation& allocation : module.allocations) {
    buffers += allocation.buffers.size();
    if (allocation.kind == BufferKind::kParameter) {
      parameters.push_back(&allocation);
    }
  }
  info.set_buffer_count(buffers);
  std::stable_sort(
      parameters.begin(), parameters.end(),
      [](const CompiledAllocation* a, const CompiledAllocation* b) {
        return a->size_bytes > b->size_bytes;
      });
  for (size_t i = 0; i < std::min(kParameterShapes, parameters.size()); ++i) {
    if (parameters[i]->buffers.empty()) continue;
    const CompiledBuffer& buffer = parameters[i]->buffers.front();
    info.add_parameter_shapes(
        absl::StrCat(DtypeName(buffer.dtype), buffer.shape));
  }
  return info;
}

// A module of the run, and where it stands.
struct Listed {
  CompiledModuleInfo info;
  size_t host = 0;
  size_t module = 0;
};

std::vector<Listed> ListModules(const Run& run, const Filter& filter) {
  std::vector<Listed> listed;
  for (size_t i = 0; i < run.hosts().size(); ++i) {
    if (!filter.host().empty() && run.hosts()[i].host != filter.host()) {
      continue;
    }
    const SharedHost host = run.Load(i);
    const HostTrace& trace = host->trace();
    const std::map<int32_t, Use> uses = CountUses(*host);
    absl::flat_hash_map<std::string, uint32_t> of_function;
    for (const CompiledModule& module : trace.modules) {
      ++of_function[module.function];
    }
    for (size_t j = 0; j < trace.modules.size(); ++j) {
      const auto use = uses.find(static_cast<int32_t>(j));
      Listed& each = listed.emplace_back();
      each.info = InfoOf(trace, trace.modules[j],
                         use == uses.end() ? Use() : use->second);
      each.info.set_modules_of_function(of_function[trace.modules[j].function]);
      each.host = i;
      each.module = j;
    }
  }
  // The one whose request was refused, then by the temporary block.
  std::stable_sort(
      listed.begin(), listed.end(), [](const Listed& a, const Listed& b) {
        return std::pair(a.info.refused_count() > 0, a.info.temp_bytes()) >
               std::pair(b.info.refused_count() > 0, b.info.temp_bytes());
      });
  return listed;
}

absl::StatusOr<const Listed*> Chosen(const std::vector<Listed>& listed,
                                     const std::string& name) {
  if (name.empty()) return listed.empty() ? nullptr : &listed.front();
  for (const Listed& each : listed) {
    if (each.info.name() == name) return &each;
  }
  return absl::NotFoundError(
      absl::StrCat("There is no compiled module ", name, " in this run."));
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerCompiledModules(
    const DatasetInput& input) {
  const auto selected = SelectAllocators(input.run, input.query.filter());
  if (!selected.ok()) return selected.status();
  const std::vector<Listed> listed =
      ListModules(input.run, input.query.filter());
  const auto chosen = Chosen(listed, input.query.module());
  if (!chosen.ok()) return chosen.status();
  auto answer = std::make_unique<CompiledModules>();
  for (const Listed& each : listed) *answer->add_modules() = each.info;
  if (*chosen != nullptr) {
    const SharedHost host = input.run.Load((*chosen)->host);
    *answer->mutable_detail() =
        MakeModuleDetail(host->trace().modules[(*chosen)->module], input.query);
    *answer->mutable_detail()->mutable_module() = (*chosen)->info;
  }
  AddQuality(input, *selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
