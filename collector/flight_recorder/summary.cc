#include "collector/flight_recorder/summary.h"

#include "core/data_types.h"
#include "core/size_text.h"

namespace oom_forensics::collector {
namespace {

constexpr size_t kHolders = 3;

// For XLA's requests, the function says more than the op that launched it.
std::string OpName(const SiteKey& site) {
  if (!site.compiled.function.empty()) {
    std::string name =
        std::string(site.compiled.function) + " (compiled by XLA";
    if (!site.compiled.buffer_kind.empty()) {
      name += ", " + std::string(site.compiled.buffer_kind);
    }
    return name + ")";
  }
  return site.op.empty() ? "an unnamed op" : std::string(site.op);
}

// " (float32 [8,16])", as much of it as is known.
std::string TypeAndShape(const SiteKey& site) {
  std::string text = DtypeName(site.dtype);
  if (!site.shape.empty()) {
    if (!text.empty()) text += ' ';
    text += site.shape;
  }
  return text.empty() ? text : " (" + text + ")";
}

std::string AtStep(int64_t training_step) {
  return training_step == kNoStep ? ""
                                  : " in step " + std::to_string(training_step);
}

}  // namespace

std::string RequestLine(const SiteKey& site) {
  return OpName(site) + " asked for " + FormatBytes(site.requested_bytes) +
         TypeAndShape(site) + " and did not get it.";
}

std::vector<std::string> SummaryLines(const MemoryStory& story) {
  const OutOfMemory& oom = *story.oom;
  const AllocatorState* state = story.Find(oom.event.allocator);
  const std::string where =
      state == nullptr ? std::string("an allocator") : FullName(state->info);
  std::vector<std::string> lines;
  lines.push_back(OpName(oom.site) + " asked " + where + " for " +
                  FormatBytes(oom.site.requested_bytes) +
                  TypeAndShape(oom.site) + AtStep(oom.training_step) +
                  " and did not get it.");
  std::string why;
  if (oom.failure.statistics.has_value()) {
    const AllocatorStatistics& statistics = *oom.failure.statistics;
    why = FormatBytes(statistics.bytes_in_use);
    if (statistics.limit_bytes != 0) {
      why += " of " + FormatBytes(statistics.limit_bytes);
    }
    why += " in use. ";
  }
  lines.push_back(why + oom.placement.sentence);
  std::string holders;
  size_t count = 0;
  for (const Holder& holder : story.holders) {
    if (holder.allocator != oom.event.allocator) continue;
    if (++count > kHolders) break;
    holders += (count == 1 ? "" : "; ") + FormatBytes(holder.allocated_bytes) +
               " in " + std::to_string(holder.count) + " of " +
               OpName(holder.site) + TypeAndShape(holder.site);
  }
  if (!holders.empty()) {
    lines.push_back("Largest holders: " + holders + "." +
                    (oom.unlisted_allocations == 0
                         ? ""
                         : " The list of what is live was full: " +
                               FormatCount(oom.unlisted_allocations) +
                               " allocations were never in it."));
  }
  return lines;
}

}  // namespace oom_forensics::collector
