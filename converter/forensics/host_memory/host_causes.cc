#include "converter/forensics/host_memory/host_causes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/forensics/host_memory/host_parts.h"
#include "converter/forensics/host_memory/host_predicates.h"
#include "core/size_text.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

// What malloc holds back is the cause if it is this part of the limit.
constexpr double kMuchHeldByMalloc = 0.25;
// So is what a save took at its peak, and what other processes have.
constexpr double kMuchInSave = 0.1;
constexpr double kMuchElsewhere = 0.25;

// Other processes use up what they share with this one.
std::optional<HostCause> FindOtherProcesses(const HostCase& host_case) {
  if (host_case.is_own) return std::nullopt;
  const HostMemoryTrace& memory = host_case.host.host_memory;
  const uint64_t used = memory.Last(schema::kHostUsed);
  const uint64_t own = memory.Last(schema::kRssAnon) +
                       memory.Last(schema::kRssShmem) +
                       memory.Last(schema::kHostCache);
  const uint64_t others = used - std::min(used, own);
  if (ShareOf(others, host_case) < kMuchElsewhere) return std::nullopt;
  const bool is_cgroup = memory.NumberOf(schema::kHostLimit) != 0;
  HostCause cause = MakeHostCause(host_case, "OTHER_PROCESSES", others);
  cause.sentence = absl::StrCat(
      FormatBytes(others),
      " of the memory in use did not belong to this process, ",
      "but to other processes of the ", is_cgroup ? "cgroup" : "machine",
      ", such as its own workers.");
  cause.evidence =
      MakeEvidence("other_bytes", static_cast<double>(others), "bytes");
  cause.remedy = MakeRemedy(
      "fewer_workers", "Have fewer worker processes, or smaller ones",
      "Each forked worker has its own memory for everything that it loads or "
      "writes to. Start the workers before the program loads its data, let "
      "them return their results piece by piece, or use threads (tf.data).",
      others);
  return cause;
}

// The process died while it saved, and by what that took.
std::optional<HostCause> FindCheckpoint(const HostCase& host_case) {
  const uint64_t own = host_case.host.host_memory.Last(schema::kRssAnon);
  const auto took = [&](const HostActivity& save) {
    return save.under_way ? own - std::min(own, save.begin_bytes) : 0;
  };
  const HostActivity* const save =
      LargestActivity(host_case, schema::kSaveActivity, took);
  if (save == nullptr || ShareOf(took(*save), host_case) < kMuchInSave) {
    return std::nullopt;
  }
  const auto line = LineOf(host_case, *save);
  HostCause cause = MakeHostCause(host_case, "CHECKPOINT", took(*save));
  cause.sentence = absl::StrFormat(
      "The process died inside %s()%s, %.1f s after the call began: it used %s "
      "before and %s more by then.",
      save->name, AtLine(line),
      static_cast<double>(host_case.growth.to_ns - save->last_ns) / 1e9,
      FormatBytes(save->begin_bytes), FormatBytes(took(*save)));
  cause.evidence =
      MakeEvidence("save_bytes", static_cast<double>(took(*save)), "bytes");
  cause.remedy =
      MakeRemedy("save_in_place", "Save without a second copy in memory",
                 "tf.train.Checkpoint writes the variables directly from their "
                 "memory. Keras first builds a model's file in memory.",
                 took(*save));
  cause.remedy->set_code("tf.train.Checkpoint(model=model).write(path)");
  PointTo(line, &*cause.remedy);
  return cause;
}

std::optional<HostCause> FindHeldByMalloc(const HostCase& host_case) {
  // Without what it has given back already, in the midst of its own.
  const uint64_t held = PartAtLast(host_case.host.host_memory, "malloc_free");
  if (ShareOf(held, host_case) < kMuchHeldByMalloc) return std::nullopt;
  HostCause cause = MakeHostCause(host_case, "HELD_BY_MALLOC", held);
  cause.sentence =
      absl::StrCat(FormatBytes(held),
                   " were freed by the program and are still held by malloc.");
  cause.evidence =
      MakeEvidence("malloc_free_bytes", static_cast<double>(held), "bytes");
  cause.remedy = MakeRemedy(
      "trim_malloc", "Make malloc give back freed memory",
      "Call malloc_trim(0) of the C library after the work that frees the "
      "memory. Or start the program with MALLOC_MMAP_THRESHOLD_=65536, so that "
      "larger blocks are given back at once; if many threads allocate, with "
      "MALLOC_ARENA_MAX=2.",
      held);
  cause.remedy->set_code("import ctypes; ctypes.CDLL(None).malloc_trim(0)");
  cause.remedy->mutable_values()->set_setting("MALLOC_MMAP_THRESHOLD_=65536");
  return cause;
}

struct Finder {
  std::optional<HostCause> (*find)(const HostCase&);
  // It says by itself why the process grew.
  bool explains_growth;
};
constexpr Finder kFinders[] = {
    {FindCompileCache, true},    {FindRetracing, true},
    {FindPipelineBuffer, true},  {FindCheckpoint, true},
    {FindOtherProcesses, false}, {FindDataSet, false},
    {FindHeldByMalloc, false},   {FindGrowth, false},
};

}  // namespace

std::vector<HostCause> FindHostCauses(const HostCase& host_case) {
  std::vector<HostCause> causes;
  bool is_explained = false;
  for (const Finder& finder : kFinders) {
    std::optional<HostCause> cause = finder.find(host_case);
    if (!cause.has_value()) continue;
    // To keep less of it is no advice where it is known what it is kept for.
    if (finder.find == FindGrowth && is_explained) cause->remedy.reset();
    is_explained |= finder.explains_growth;
    causes.push_back(*std::move(cause));
  }
  if (causes.empty()) {
    std::optional<HostCause> cause = FindMuchLive(host_case);
    if (cause.has_value()) causes.push_back(*std::move(cause));
  }
  return causes;
}

}  // namespace oom_forensics
