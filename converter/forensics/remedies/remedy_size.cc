// Remedies that make tensors smaller.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/forensics/causes/block_resize.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/trace/op_name.h"
#include "core/data_types.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// One flag per site, made once and shared by the copies of a scenario.
using SiteFlags = std::shared_ptr<std::vector<bool>>;

bool Has(const SiteFlags& flags, const OomCase& oom, Row row) {
  return AnyPartOf(oom.host(), oom.replay().trace().site[row], *flags);
}

SiteFlags SitesWithBatch(const OomCase& oom) {
  const HostTrace& host = oom.host();
  auto flags = std::make_shared<std::vector<bool>>(host.sites.size());
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    const AllocationSite& site = host.sites.Get(id);
    std::vector<int64_t> dims;
    if (!ParseShape(host.ShapeOf(site), &dims)) continue;
    (*flags)[id] = oom.batch()->PositionIn(host.OpOf(site), dims).has_value();
  }
  if (oom.block_batch().has_value()) {
    const SiteId refused = oom.replay().trace().site[oom.failure()];
    for (const SitePart& part : host.block_parts.at(refused)) {
      (*flags)[part.site] =
          part.buffer != BlockPart::kUnused &&
          oom.block_batch()->Scales(oom.block()->buffers[part.buffer]);
    }
  }
  return flags;
}

Scenario WithBatch(const OomCase& oom, const SiteFlags& scales, int64_t size) {
  Scenario scenario;
  const auto full = static_cast<uint64_t>(oom.batch()->size());
  scenario.resized = [&oom, scales, full, size](Row row, uint64_t bytes) {
    const auto scaled = [full, size](uint64_t all) {
      return std::max<uint64_t>(
          1, all / full * static_cast<uint64_t>(size) +
                 all % full * static_cast<uint64_t>(size) / full);
    };
    return ResizedBytes(oom.host(), oom.replay().trace().site[row], bytes,
                        *scales, scaled);
  };
  return WithRoomForStep(oom, std::move(scenario));
}

// The largest batch below the present one that fits; 0: not even 1 does.
int64_t LargestBatch(const OomCase& oom, const SiteFlags& scales) {
  int64_t fits = 0;
  int64_t too_large = oom.batch()->size();
  while (too_large - fits > 1) {
    const int64_t middle = fits + (too_large - fits) / 2;
    const bool placed =
        oom.what_if().Try(WithBatch(oom, scales, middle)).placed;
    (placed ? fits : too_large) = middle;
  }
  return fits;
}

// Scales the sites by the rule's ratio.
Scenario Halved(const OomCase& oom, const SiteFlags& halved) {
  Scenario scenario;
  scenario.resized = [&oom, halved](Row row, uint64_t bytes) {
    return ResizedBytes(oom.host(), oom.replay().trace().site[row], bytes,
                        *halved, [](uint64_t all) { return (all + 1) / 2; });
  };
  return WithRestOfStep(oom, std::move(scenario));
}

uint64_t LiveBytesOf(const OomCase& oom, const SiteFlags& flags) {
  uint64_t bytes = 0;
  for (const Row row : oom.live()) {
    bytes += ChangingBytes(oom.host(), oom.replay().trace().site[row],
                           oom.replay().BytesOf(row), *flags);
  }
  return bytes;
}

// Sites of float64, and the optimizer's slots for them: those are recorded as
// constants, without a dtype, but have the bytes of their variable.
SiteFlags Float64Sites(const OomCase& oom) {
  const HostTrace& host = oom.host();
  auto flags = std::make_shared<std::vector<bool>>(host.sites.size());
  std::set<uint64_t> variable_bytes;
  for (const Row row : oom.live()) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    if (DtypeName(site.dtype) == "float64" &&
        oom.roles().RoleOf(row) == ROLE_VARIABLE) {
      variable_bytes.insert(site.requested_bytes);
    }
  }
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    (*flags)[id] = DtypeName(host.sites.Get(id).dtype) == "float64";
  }
  for (const Row row : oom.live()) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    if (site.dtype == 0 && oom.roles().RoleOf(row) == ROLE_OPTIMIZER &&
        variable_bytes.count(site.requested_bytes) != 0) {
      (*flags)[oom.replay().trace().site[row]] = true;
    }
  }
  return flags;
}

bool IsOfLayers(Role role) {
  return role == ROLE_ACTIVATION || role == ROLE_GRADIENT;
}

// Whether layers compute in 16 bits already.
bool IsInMixedPrecision(const OomCase& oom) {
  const HostTrace& host = oom.host();
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    const std::string dtype = DtypeName(host.sites.Get(id).dtype);
    if ((dtype == "float16" || dtype == "bfloat16") &&
        IsOfLayers(oom.roles().RoleOfFailed(id))) {
      return true;
    }
  }
  return false;
}

// float32 activations of layers, and the gradients that go through them.
SiteFlags HalvableSites(const OomCase& oom) {
  const HostTrace& host = oom.host();
  auto flags = std::make_shared<std::vector<bool>>(host.sites.size());
  std::set<StringId> variable_shapes;
  for (const Row row : oom.live()) {
    const Role role = oom.roles().RoleOf(row);
    if (role == ROLE_VARIABLE || role == ROLE_OPTIMIZER) {
      variable_shapes.insert(oom.replay().SiteOf(row).shape);
    }
  }
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    const AllocationSite& site = host.sites.Get(id);
    if (DtypeName(site.dtype) != "float32") continue;
    const Role role = oom.roles().RoleOfFailed(id);
    (*flags)[id] =
        role == ROLE_ACTIVATION ||
        (role == ROLE_GRADIENT && variable_shapes.count(site.shape) == 0);
  }
  return flags;
}

// How to train with the smaller batch as with the larger one; empty: it is not
// training.
std::string Accumulation(const OomCase& oom, int64_t full, int64_t size) {
  if (!ComputesGradients(oom) || size >= full) return "";
  return absl::StrCat(
      " gradient_accumulation_steps=", (full + size - 1) / size,
      " of a Keras 3 optimizer keeps the number of examples per update, and "
      "costs one more tensor for each variable.");
}

// The largest batch that is promised to fit; else the largest that may.
int64_t LargestBatchOf(const Counterfactual& step, uint64_t limit_bytes,
                       int64_t most) {
  const int64_t fits = step.LargestBatch(limit_bytes, most);
  return fits != 0 ? fits : step.LargestBatchToHopeFor(limit_bytes, most);
}

// Names a batch and the one that it replaces, both those of one replica, as the
// program does: it says the batch of all replicas together.
void NameBatch(const OomCase& oom, int64_t size, int64_t full, Remedy* remedy) {
  const int64_t replicas = oom.replica_count();
  const std::string each = replicas == 1
                               ? ""
                               : absl::StrCat(", ", size, " for each of the ",
                                              replicas, " replicas");
  remedy->set_title(absl::StrCat("Use a batch of ", size * replicas,
                                 " instead of ", full * replicas, each, "."));
  remedy->set_code(absl::StrCat("batch_size=", size * replicas));
  remedy->mutable_values()->set_batch_size(size * replicas);
  remedy->mutable_values()->set_batch_size_before(full * replicas);
}

// Where too few shapes were live to show the batch, the graph of the step does.
std::optional<RemedyCandidate> SmallerBatchOfGraph(const OomCase& oom) {
  const Counterfactual* const step = oom.step();
  if (step == nullptr || !step->scales() || step->batch() < 2) {
    return std::nullopt;
  }
  const int64_t full = step->batch();
  const int64_t size = LargestBatchOf(*step, oom.limit_bytes(), full - 1);
  if (size == 0) return std::nullopt;
  RemedyCandidate candidate;
  candidate.remedy.set_kind(kSmallerBatch);
  NameBatch(oom, size, full, &candidate.remedy);
  candidate.remedy.set_detail(absl::StrCat("The graph of the step works on ",
                                           full, " examples at a time.",
                                           Accumulation(oom, full, size)));
  candidate.remedy.set_bytes(step->PeakOf(full).high_bytes -
                             step->PeakOf(size).high_bytes);
  // Only the forecast tells the rest; the request shrinks with the batch.
  Scenario scenario;
  scenario.resized = [&oom, full, size](Row row, uint64_t bytes) {
    return row == oom.failure() ? bytes / static_cast<uint64_t>(full) *
                                      static_cast<uint64_t>(size)
                                : bytes;
  };
  candidate.scenario = std::move(scenario);
  return candidate;
}

}  // namespace

std::optional<RemedyCandidate> SmallerBatch(const OomCase& oom) {
  if (!oom.batch().has_value()) return SmallerBatchOfGraph(oom);
  const SiteFlags scales = SitesWithBatch(oom);
  const bool request_scales = Has(scales, oom, oom.failure());
  if (!request_scales && !IsWorthIt(oom, LiveBytesOf(oom, scales))) {
    return std::nullopt;
  }
  const int64_t full = oom.batch()->size();
  const Counterfactual* const step = oom.step();
  int64_t size = step != nullptr && step->scales()
                     ? LargestBatchOf(*step, oom.limit_bytes(), full - 1)
                     : LargestBatch(oom, scales);
  const bool fits = size != 0;
  if (!fits) size = std::max<int64_t>(1, full / 2);
  RemedyCandidate candidate;
  candidate.remedy.set_kind(kSmallerBatch);
  NameBatch(oom, size, full, &candidate.remedy);
  candidate.remedy.set_detail(absl::StrCat(
      oom.batch()->Evidence(), " ", FormatBytes(LiveBytesOf(oom, scales)),
      " of the memory in use",
      request_scales ? ", and the refused request itself," : "",
      " shrink with the batch.",
      fits ? Accumulation(oom, full, size)
           : " Even a batch of 1 would not have been enough by itself."));
  candidate.scenario = WithBatch(oom, scales, size);
  return candidate;
}

std::optional<RemedyCandidate> Float32(const OomCase& oom) {
  const SiteFlags float64 = Float64Sites(oom);
  const uint64_t bytes = LiveBytesOf(oom, float64);
  if (!IsWorthIt(oom, bytes)) return std::nullopt;
  RemedyCandidate candidate;
  candidate.remedy.set_kind("float32");
  candidate.remedy.set_title("Compute in float32 instead of float64.");
  candidate.remedy.set_detail(absl::StrCat(
      FormatBytes(bytes), " of the ", FormatBytes(oom.usage().in_use_bytes),
      " in use are float64, which takes twice the memory. Models rarely need "
      "it: it often comes from NumPy inputs, which are float64 unless told "
      "otherwise."));
  candidate.remedy.set_code(
      "tf.keras.backend.set_floatx(\"float32\")  # and "
      "inputs.astype(\"float32\")");
  candidate.remedy.mutable_values()->set_dtype("float32");
  candidate.scenario = Halved(oom, float64);
  return candidate;
}

std::optional<RemedyCandidate> MixedPrecision(const OomCase& oom) {
  if (IsInMixedPrecision(oom)) return std::nullopt;
  const SiteFlags halved = HalvableSites(oom);
  const uint64_t bytes = LiveBytesOf(oom, halved);
  const bool request_halves = Has(halved, oom, oom.failure());
  if (!IsWorthIt(oom, bytes + (request_halves ? oom.rounded_bytes() : 0))) {
    return std::nullopt;
  }
  RemedyCandidate candidate;
  candidate.remedy.set_kind("mixed_precision");
  candidate.remedy.set_title(IsInference(oom) ? "Compute in mixed precision."
                                              : "Train in mixed precision.");
  std::vector<std::string> smaller;
  if (bytes > 0) {
    smaller.push_back(absl::StrCat(FormatBytes(bytes),
                                   " of outputs of layers and their "
                                   "gradients"));
  }
  if (request_halves) smaller.push_back("the refused request");
  candidate.remedy.set_detail(absl::StrCat(
      "Layers then compute in 16 bits while the weights stay as they are, "
      "which halves ",
      absl::StrJoin(smaller, " and "), "."));
  const char* const policy = oom.OnGpu() ? "mixed_float16" : "mixed_bfloat16";
  candidate.remedy.set_code(
      absl::StrCat("import keras; keras.mixed_precision.set_global_policy(\"",
                   policy, "\")"));
  candidate.remedy.mutable_values()->set_dtype(policy);
  candidate.remedy.mutable_values()->set_runs_before(true);
  // What is copied between the two precisions is in no trace of float32.
  candidate.is_estimate = true;
  candidate.scenario = Halved(oom, halved);
  return candidate;
}

}  // namespace oom_forensics
