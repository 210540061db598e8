#include "collector/trace/modules_plane.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "core/plane_builder.h"
#include "core/text_field.h"
#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

using protozero::pbf_writer;

// How much a module is missed, of which `std::tuple` compares as it should.
struct Need {
  uint64_t refused = 0;
  uint64_t live_bytes = 0;
};

std::string Fields(const ModuleProto& module, PlaneBuilder* plane) {
  std::string fields;
  pbf_writer writer(fields);
  AddText(&writer, schema::xevent_metadata::kName,
          module.name + "(" + std::to_string(module.program_id) + ")");
  plane->AddBytes(&writer, schema::xevent_metadata::kStats, schema::kHloProto,
                  module.bytes);
  if (module.compile_ns != 0) {
    plane->AddUint(&writer, schema::xevent_metadata::kStats, schema::kCompileNs,
                   module.compile_ns);
  }
  return fields;
}

}  // namespace

std::vector<int64_t> ProgramsByNeed(const Recording& recording,
                                    const std::vector<const Site*>& sites) {
  std::unordered_map<int64_t, Need> needs;
  const auto need_of = [&](SiteId site) -> Need* {
    if (site == 0 || site > sites.size()) return nullptr;
    const int64_t program = sites[site - 1]->key.compiled.program_id;
    return program == kNoProgram ? nullptr : &needs[program];
  };
  const auto bytes_of = [&](SiteId site) {
    return sites[site - 1]->key.allocated_bytes;
  };
  std::map<std::pair<AllocatorId, uint64_t>, SiteId> live;
  for (const LiveAllocation& allocation : recording.baseline.allocations) {
    if (need_of(allocation.site) == nullptr) continue;
    live[{allocation.allocator, allocation.address}] = allocation.site;
  }
  recording.ForEachEvent([&](const Event& event) {
    if (event.kind == RecordedKind::kFree) {
      live.erase({event.allocator, event.address});
      need_of(event.site);
      return;
    }
    if (event.kind != RecordedKind::kAlloc &&
        event.kind != RecordedKind::kFailed) {
      return;
    }
    Need* const need = need_of(event.site);
    if (need == nullptr) return;
    if (event.kind == RecordedKind::kFailed) {
      ++need->refused;
    } else {
      live[{event.allocator, event.address}] = event.site;
    }
  });
  for (const auto& [place, site] : live) {
    need_of(site)->live_bytes += bytes_of(site);
  }
  std::vector<int64_t> programs;
  for (const auto& [program, need] : needs) programs.push_back(program);
  std::sort(programs.begin(), programs.end(), [&](int64_t a, int64_t b) {
    const Need& need_a = needs[a];
    const Need& need_b = needs[b];
    return std::tuple(need_b.refused, need_b.live_bytes, a) <
           std::tuple(need_a.refused, need_a.live_bytes, b);
  });
  return programs;
}

std::string WriteModulesPlane(const std::vector<int64_t>& programs,
                              const std::vector<ModuleProto>& modules,
                              uint64_t max_bytes, const std::string& why_not) {
  if (programs.empty() && modules.empty()) return "";
  std::unordered_map<int64_t, const ModuleProto*> by_program;
  for (const ModuleProto& module : modules) {
    by_program[module.program_id] = &module;
  }
  uint64_t left_out = 0;
  uint64_t left_out_bytes = 0;
  std::string why = why_not;
  std::vector<const ModuleProto*> wanted;
  for (const int64_t program : programs) {
    const auto found = by_program.find(program);
    if (found != by_program.end()) {
      wanted.push_back(found->second);
      by_program.erase(found);
      continue;
    }
    // XLA has deleted it since, or none could be read.
    ++left_out;
    if (why.empty()) why = "some were deleted before the run was written";
  }
  std::vector<const ModuleProto*> others;
  for (const auto& [program, module] : by_program) others.push_back(module);
  std::sort(others.begin(), others.end(),
            [](const ModuleProto* a, const ModuleProto* b) {
              return std::tuple(a->bytes.size(), a->program_id) <
                     std::tuple(b->bytes.size(), b->program_id);
            });
  wanted.insert(wanted.end(), others.begin(), others.end());

  std::string space;
  PlaneBuilder plane(&space, schema::kModulesPlane);
  uint64_t written_bytes = 0;
  for (const ModuleProto* module : wanted) {
    if (written_bytes + module->bytes.size() > max_bytes) {
      ++left_out;
      left_out_bytes += module->bytes.size();
      why = "together they are larger than max_module_bytes, " +
            std::to_string(max_bytes);
      continue;
    }
    written_bytes += module->bytes.size();
    plane.AddEventMetadataWithId(module->program_id, Fields(*module, &plane));
  }
  plane.AddUint(plane.plane(), schema::xplane::kStats, schema::kModulesLeftOut,
                left_out);
  plane.AddUint(plane.plane(), schema::xplane::kStats,
                schema::kModulesLeftOutBytes, left_out_bytes);
  if (left_out != 0) {
    plane.AddString(plane.plane(), schema::xplane::kStats,
                    schema::kModulesWhyLeftOut, why);
  }
  plane.Finish();
  return space;
}

}  // namespace oom_forensics::collector
