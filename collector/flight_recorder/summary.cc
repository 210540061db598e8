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

std::vector<std::string> SummaryLines(const Refusal& refusal) {
  std::vector<std::string> lines;
  lines.push_back(
      OpName(refusal.site) + " asked " +
      (refusal.allocator.empty() ? "an allocator" : refusal.allocator) +
      " for " + FormatBytes(refusal.site.requested_bytes) +
      TypeAndShape(refusal.site) + AtStep(refusal.training_step) +
      " and did not get it.");
  std::string why;
  if (refusal.failure.statistics.has_value()) {
    const AllocatorStatistics& statistics = *refusal.failure.statistics;
    why = FormatBytes(statistics.bytes_in_use);
    if (statistics.limit_bytes != 0) {
      why += " of " + FormatBytes(statistics.limit_bytes);
    }
    why += " in use. ";
  }
  lines.push_back(why + refusal.placement.sentence);
  std::string holders;
  for (size_t i = 0; i < refusal.holders.size() && i < kHolders; ++i) {
    const Holder& holder = refusal.holders[i];
    holders += (i == 0 ? "" : "; ") + FormatBytes(holder.allocated_bytes) +
               " in " + std::to_string(holder.count) + " of " +
               OpName(holder.site) + TypeAndShape(holder.site);
  }
  if (!holders.empty()) {
    lines.push_back("Largest holders: " + holders + "." +
                    (refusal.unlisted_allocations == 0
                         ? ""
                         : " The list of what is live was full: " +
                               FormatCount(refusal.unlisted_allocations) +
                               " allocations were never in it."));
  }
  return lines;
}

}  // namespace oom_forensics::collector
