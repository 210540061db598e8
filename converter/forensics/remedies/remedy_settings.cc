// Remedies that change how TensorFlow gets its memory, or how much there is.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/counterfactual/pool_simulation.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "core/limit_setting.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// Limits are sought up to so many times the one that was refused.
constexpr uint64_t kMostTimesTheLimit = 64;

Scenario WithLimit(const OomCase& oom, uint64_t limit_bytes) {
  Scenario scenario;
  scenario.limit_bytes = limit_bytes;
  return WithRoomForStep(oom, std::move(scenario));
}

// The smallest that is enough for the step, in whole MiB, as settings have it;
// where that is not known, or contradicted, for the request and as much again
// as the step held; 0: none is.
uint64_t LimitToName(const OomCase& oom) {
  const Counterfactual* const step = oom.step();
  const uint64_t for_step = step == nullptr ? 0 : step->EnoughLimit(0);
  if (step != nullptr && !step->IsContradicted()) return for_step;
  const uint64_t least = oom.limit_bytes() / kMiB + 1;
  const uint64_t for_request =
      kMiB * SmallestEnough(
                 least, kMostTimesTheLimit * least, 0, [&oom](uint64_t mib) {
                   return oom.what_if().Try(WithLimit(oom, mib * kMiB)).placed;
                 });
  return std::max(for_step, for_request);
}

}  // namespace

std::optional<RemedyCandidate> LargerLimit(const OomCase& oom) {
  // A GPU's pool has a limit of its own from the program, which a variable can
  // only lower; the limit of any other is set by its variable alone.
  const std::optional<LimitVariable> variable =
      oom.OnGpu() && !oom.pool().limit_setting.has_value()
          ? std::nullopt
          : LimitVariableOf(oom.replay().trace().name);
  const std::string variable_name(variable.value_or(LimitVariable()).name);
  const uint64_t spare_bytes = oom.pool().SpareBytes();
  if (!oom.has_layout() || oom.limit_bytes() == 0 ||
      oom.short_by_bytes() == 0 || oom.device_is_full() ||
      (!variable.has_value() && spare_bytes == 0)) {
    return std::nullopt;
  }
  const uint64_t limit_bytes = LimitToName(oom);
  if (limit_bytes <= oom.limit_bytes()) return std::nullopt;
  // A device gives no more than it has.
  if (!variable.has_value() && limit_bytes - oom.limit_bytes() > spare_bytes) {
    return std::nullopt;
  }
  RemedyCandidate candidate;
  candidate.remedy.set_kind(kLargerLimit);
  candidate.remedy.set_title(
      absl::StrCat("Let TensorFlow use at least ", FormatBytes(limit_bytes),
                   " instead of ", FormatBytes(oom.limit_bytes()), "."));
  candidate.remedy.set_detail(
      variable.has_value()
          ? absl::StrCat(
                "The limit is set by ", variable_name,
                "; the trace does not say how much memory the machine has.")
          : absl::StrCat("The device could give ", FormatBytes(spare_bytes),
                         " more and still leave libraries what they need."));
  if (variable.has_value()) {
    candidate.remedy.set_code(absl::StrCat(
        variable_name, "=",
        limit_bytes / variable.value_or(LimitVariable()).unit_bytes));
    candidate.remedy.mutable_values()->set_setting(candidate.remedy.code());
  } else {
    candidate.remedy.set_code(
        absl::StrCat("tf.config.LogicalDeviceConfiguration(memory_limit=",
                     limit_bytes / kMiB, ")"));
  }
  candidate.remedy.mutable_values()->set_limit_bytes(limit_bytes);
  candidate.remedy.set_bytes(limit_bytes - oom.limit_bytes());
  candidate.scenario = WithLimit(oom, limit_bytes);
  return candidate;
}

std::optional<RemedyCandidate> FreeDevice(const OomCase& oom) {
  // CUDA's own pool is limited by the device alone.
  const bool full = oom.device_is_full() || !oom.has_layout();
  if (!full || !oom.device().has_value()) return std::nullopt;
  const DevicePressure& device = *oom.device();
  const bool others = device.others_bytes() > 0;
  const bool siblings = device.sibling_bytes > device.others_bytes();
  const uint64_t bytes = siblings ? device.sibling_bytes
                         : others ? device.others_bytes()
                                  : device.gap_bytes();
  if (!IsWorthIt(oom, bytes)) return std::nullopt;
  RemedyCandidate candidate;
  candidate.remedy.set_kind("free_device");
  candidate.remedy.set_title(
      siblings ? "Give the logical devices of this GPU limits for which it has "
                 "room together."
      : others ? "Stop the other processes on this device."
               : "Find what else holds memory on this device.");
  candidate.remedy.set_detail(absl::StrCat(
      siblings ? absl::StrCat("TensorFlow's other pools on it (",
                              absl::StrJoin(device.siblings, ", "), ") hold ")
      : others ? "They hold "
               : "Outside of TensorFlow's pools lie ",
      FormatBytes(bytes), " of its ", FormatBytes(device.total_bytes),
      others && !siblings && !device.others.empty()
          ? absl::StrCat(": ", DescribeProcesses(device.others))
          : "",
      "."));
  candidate.remedy.set_code(
      siblings ? "tf.config.LogicalDeviceConfiguration(memory_limit=...)"
               : "nvidia-smi");
  candidate.remedy.set_bytes(bytes);
  // What the pool may still take is at least the request: the device alone
  // lacks it, in one piece that it makes as soon as it has it.
  const uint64_t had_bytes = device.free_bytes + bytes;
  candidate.remedy.set_sufficiency(
      had_bytes >= oom.rounded_bytes() ? REQUEST_FITS : NOT_ENOUGH);
  candidate.remedy.set_proof(absl::StrCat(
      "The device would then have ", FormatBytes(had_bytes), " free, and ",
      FormatBytes(oom.rounded_bytes()), " were asked for."));
  return candidate;
}

std::optional<RemedyCandidate> MemoryGrowthOff(const OomCase& oom) {
  if (!oom.OnGpu() || oom.layout().size() < 2 ||
      oom.available_bytes() < oom.rounded_bytes()) {
    return std::nullopt;
  }
  RemedyCandidate candidate;
  candidate.remedy.set_kind("memory_growth_off");
  candidate.remedy.set_title(
      "Let TensorFlow allocate the GPU's memory at once, not piece by piece.");
  candidate.remedy.set_detail(absl::StrCat(
      "Memory growth is on: the pool consists of ", oom.layout().size(),
      " pieces, and no tensor can span two of them."));
  candidate.remedy.set_code(
      "tf.config.experimental.set_memory_growth(gpu, False)");
  candidate.remedy.set_bytes(
      oom.available_bytes() -
      std::max(oom.largest_free_bytes(), oom.growable_bytes()));
  Scenario scenario;
  scenario.one_region = true;
  candidate.scenario = WithRestOfStep(oom, std::move(scenario));
  return candidate;
}

std::optional<RemedyCandidate> CudaMallocAsync(const OomCase& oom) {
  if (!oom.OnGpu() || oom.available_bytes() < oom.rounded_bytes()) {
    return std::nullopt;
  }
  RemedyCandidate candidate;
  candidate.remedy.set_kind("cuda_malloc_async");
  candidate.remedy.set_title(
      "Use CUDA's own pool, which fills gaps of memory.");
  candidate.remedy.set_detail(
      "It puts one tensor together from several pieces of physical memory, so "
      "gaps do not add up to waste.");
  candidate.remedy.set_code("TF_GPU_ALLOCATOR=cuda_malloc_async");
  candidate.remedy.mutable_values()->set_setting(candidate.remedy.code());
  candidate.remedy.set_bytes(oom.free_bytes() - oom.largest_free_bytes());
  candidate.remedy.set_sufficiency(UNCERTAIN);
  candidate.remedy.set_proof(
      absl::StrCat("Not tried: that pool is not modeled. ",
                   FormatBytes(oom.available_bytes()), " were left in all, ",
                   FormatBytes(oom.rounded_bytes()), " were asked for."));
  return candidate;
}

}  // namespace oom_forensics
