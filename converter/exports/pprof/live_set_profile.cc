#include "converter/exports/pprof/live_set_profile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/group_key.h"
#include "converter/datasets/selection.h"
#include "converter/exports/gzip/gzip.h"
#include "converter/exports/pprof/call_stack.h"
#include "converter/exports/pprof/profile_writer.h"
#include "converter/text/enum_ids.h"

namespace oom_forensics {
namespace {

// What is one sample: allocations of the same site, step and role.
using SampleKey = std::tuple<SiteId, int64_t, Role>;

struct Group {
  AllocationPart example;
  // By the weight of each under sampling.
  double count = 0;
};

using Groups = absl::btree_map<SampleKey, Group>;

Groups GroupLiveSet(const SelectedAllocator& allocator, Position position,
                    const Filter& filter) {
  const AllocatorReplay& replay = *allocator.replay;
  const RowPredicate keeps(allocator, filter, BirthRule::kFiltered);
  Groups groups;
  for (const Row row : replay.LiveAt(position)) {
    keeps.ForEachPart(row, [&](const AllocationPart& part) {
      const SampleKey key{part.site, replay.host().StepAt(replay.BornPs(row)),
                          RoleOf(allocator, part)};
      Group& group = groups[key];
      if (group.example.row == kNoRow) group.example = part;
      group.count += replay.trace().WeightOf(row);
    });
  }
  return groups;
}

void AddGroup(const SelectedAllocator& allocator, Role group_role,
              const Group& group, ProfileWriter* profile) {
  const Allocation example = MakePart(allocator, group.example);
  const HostTrace& host = allocator.host->trace();
  const std::string& shape = host.ShapeOf(host.sites.Get(group.example.site));
  const std::string role = RoleId(group_role);
  const std::string mode = ModeId(example.mode());
  const std::string step = absl::StrCat(example.step());
  const auto bytes = [&group](uint64_t each) {
    return std::llround(group.count * static_cast<double>(each));
  };
  ProfileWriter::Sample sample;
  sample.stack = CallStack(host, host.sites.Get(group.example.site));
  sample.values = {std::llround(group.count), bytes(example.requested_bytes()),
                   bytes(example.allocated_bytes())};
  const auto label = [&sample](std::string_view key, std::string_view text) {
    if (!text.empty()) sample.labels.push_back({key, text, 0, {}});
  };
  label("dtype", example.dtype());
  label("shape", shape);
  if (example.step() != kUnknownStep) label("step", step);
  if (group_role != ROLE_UNKNOWN) label("role", role);
  if (example.mode() != MODE_UNKNOWN) label("mode", mode);
  label("allocator", example.allocator());
  label("host", example.host());
  sample.labels.push_back(
      {"bytes", {}, static_cast<int64_t>(example.allocated_bytes()), "bytes"});
  profile->Add(sample);
}

std::vector<std::string> Comments(const Run& run, const Selection& selected) {
  std::vector<std::string> comments;
  comments.push_back(absl::StrCat("OOM Forensics: live set of ", run.name()));
  google::protobuf::RepeatedPtrField<Quality> quality;
  AddQuality(selected, &quality);
  for (const Quality& entry : quality) comments.push_back(entry.sentence());
  return comments;
}

}  // namespace

absl::StatusOr<std::string> ExportLiveSetProfile(const Run& run,
                                                 const Query& query) {
  const auto selected = SelectAllocators(run, query.filter());
  if (!selected.ok()) return selected.status();
  ProfileWriter profile({{"allocations", "count"},
                         {"requested", "bytes"},
                         {"allocated", "bytes"}});
  ProfileWriter::Facts facts;
  for (const SelectedAllocator& allocator : *selected) {
    const auto position = ResolveMoment(run, allocator, query);
    if (!position.ok()) return position.status();
    for (const auto& [key, group] :
         GroupLiveSet(allocator, *position, query.filter())) {
      AddGroup(allocator, std::get<Role>(key), group, &profile);
    }
    facts.time_ns = std::max(
        facts.time_ns,
        allocator.host->trace().ToNs(allocator.replay->TimePsOf(*position)));
  }
  facts.default_type = "allocated";
  facts.comments = Comments(run, *selected);
  return Gzip(profile.Finish(facts));
}

}  // namespace oom_forensics
