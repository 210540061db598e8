#include "converter/forensics/verdict.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "converter/forensics/causes/cause.h"
#include "converter/forensics/remedy_candidate.h"
#include "converter/forensics/short_lived.h"
#include "converter/quality/quality_log.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Below this share of the shortfall a cause is not worth a line.
constexpr double kMinShare = 0.01;
// A request is a regular one where it was served so often before.
constexpr uint64_t kServedOften = 3;
// A limit that no request comes up to.
constexpr uint64_t kEndlessBytes = uint64_t{1} << 50;
constexpr char kCpuLimit[] = "TF_CPU_BFC_MEM_LIMIT_IN_MB=";
constexpr char kRetained[] = "RETAINED";

double Share(uint64_t part, uint64_t whole) {
  if (whole == 0) return 0;
  return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

class Judge {
 public:
  explicit Judge(const OomCase& oom)
      : oom_(oom),
        short_lived_(FindShortLived(oom)),
        causes_(FindCauses(oom)),
        step_needs_bytes_(StepNeedsBytes(oom)) {
    for (const FoundLeak& leak : oom.leaks()) {
      leaked_bytes_ += leak.live_bytes;
    }
  }

  Verdict Run() {
    verdict_.set_short_by_bytes(oom_.short_by_bytes());
    AddPlacementParts();
    AddWholeStepPart();
    AddLeakPart();
    AddRetainedPart();
    AddTransientPart();
    AddLimitPart();
    AddExternalPart();
    PutPrimaryFirst();
    verdict_.set_kind(verdict_.parts_size() == 0 ? "UNKNOWN"
                                                 : verdict_.parts(0).kind());
    verdict_.set_sentence(verdict_.parts_size() == 0
                              ? ReasonUnknown()
                              : verdict_.parts(0).sentence());
    AddCauseToSentence();
    AddEvidence();
    verdict_.set_doubt(Doubt());
    return std::move(verdict_);
  }

 private:
  void AddPart(const char* kind, double share, std::string sentence) {
    if (share < kMinShare) return;
    VerdictPart* part = verdict_.add_parts();
    part->set_kind(kind);
    part->set_share(share);
    part->set_sentence(std::move(sentence));
  }

  std::string ReasonUnknown() const {
    if (oom_.has_layout()) {
      return "The trace does not tell why this request was refused: the model "
             "of the allocator finds room for it.";
    }
    return absl::StrCat(
        "The device's driver refused ", FormatBytes(oom_.rounded_bytes()),
        " while TensorFlow held ", FormatBytes(oom_.usage().in_use_bytes),
        " of this device; how much was left, and in what pieces, the trace "
        "does not tell.");
  }

  // Without a layout and a limit all that can be known is how full the device
  // was.
  void AddFullDevicePart() {
    if (!oom_.device().has_value() ||
        oom_.device_free_bytes() >= oom_.rounded_bytes()) {
      return;
    }
    const bool others = oom_.device()->others_bytes() >= oom_.rounded_bytes();
    AddPart(others ? "EXTERNAL" : "CAPACITY", 1.0, oom_.device()->Sentence());
  }

  // Capacity, growth regions and fragmentation divide the shortfall.
  void AddPlacementParts() {
    const uint64_t short_by = oom_.short_by_bytes();
    if (short_by == 0) return;
    if (!oom_.has_layout() && oom_.limit_bytes() == 0) {
      AddFullDevicePart();
      return;
    }
    const uint64_t request = oom_.rounded_bytes();
    const uint64_t best = request - short_by;
    const uint64_t together = std::min(request, oom_.available_bytes());
    const uint64_t one_region = std::clamp(
        std::max(oom_.most_free_region_bytes(), oom_.growable_bytes()), best,
        together);
    const std::string asked = FormatBytes(request);
    // Where the device is full, another part says what was missing.
    AddPart("CAPACITY",
            oom_.device_is_full() ? 0 : Share(request - together, short_by),
            absl::StrCat(
                "There was not enough memory: ", asked, " were asked for, ",
                FormatBytes(oom_.available_bytes()), " were left of ",
                FormatBytes(Capacity()), ", so at least ",
                FormatBytes(request - together), " more had to be free."));
    AddPart("FRAGMENTATION", Share(one_region - best, short_by),
            absl::StrCat(together == request
                             ? "Enough memory was free, but not in one piece: "
                             : "What was free was not in one piece either: ",
                         FormatBytes(oom_.free_bytes()), " lay in ",
                         CountOf(oom_.free_chunk_count(), "separate gap"),
                         ", the largest of them ",
                         FormatBytes(oom_.largest_free_bytes()), ", and ",
                         asked, " need one."));
    AddPart("GROWTH_REGIONS", Share(together - one_region, short_by),
            absl::StrCat(
                "TensorFlow took its memory from the device in ",
                oom_.layout().size(),
                " separate pieces as the need grew, and no tensor can reach "
                "from one into the next: of the ",
                FormatBytes(oom_.available_bytes()),
                " left in all, no piece has more than ",
                FormatBytes(std::max(oom_.most_free_region_bytes(),
                                     oom_.growable_bytes())),
                "."));
  }

  // What the pool would hold at the most if there were no end to it: what lies
  // there, and the rest of the step as far as it is known. 0: not known.
  static uint64_t StepNeedsBytes(const OomCase& oom) {
    if (!oom.what_if().IsFaithful()) return 0;
    Scenario endless;
    endless.limit_bytes = kEndlessBytes;
    const Outcome outcome =
        oom.what_if().Try(WithRestOfStep(oom, std::move(endless)));
    return std::max(outcome.step_peak_bytes, outcome.in_use_bytes);
  }

  bool StepIsTooLarge() const {
    return oom_.limit_bytes() != 0 && step_needs_bytes_ > oom_.limit_bytes();
  }

  // This request would fit in one piece, but not all that the step still needs.
  void AddWholeStepPart() {
    if (!StepIsTooLarge() || oom_.available_bytes() < oom_.rounded_bytes()) {
      return;
    }
    AddPart("CAPACITY", 1.0,
            absl::StrCat("There is not enough memory for the whole step: with "
                         "what is known to come after this request it needs ",
                         FormatBytes(step_needs_bytes_), " of ",
                         FormatBytes(oom_.limit_bytes()), "."));
  }

  void AddRetainedPart() {
    for (const Cause& cause : causes_) {
      if (cause.kind != kRetained) continue;
      AddPart(kRetained, Share(cause.bytes, oom_.short_by_bytes()),
              cause.sentence);
      return;
    }
  }

  // The largest cause says more than its kind does.
  void AddCauseToSentence() {
    for (const Cause& cause : causes_) {
      if (cause.kind != verdict_.kind() || cause.kind == kRetained) continue;
      verdict_.set_sentence(
          absl::StrCat(verdict_.sentence(), " ", cause.sentence));
      return;
    }
  }

  void AddLeakPart() {
    if (oom_.leaks().empty()) return;
    const FoundLeak& largest = oom_.leaks().front();
    const AllocationSite& site = oom_.replay().SiteOf(largest.rows.front());
    const std::string what = absl::StrCat("outputs of ", oom_.host().OpOf(site),
                                          " ", oom_.host().ShapeOf(site));
    const std::string unit = oom_.steps().unit();
    std::string sentence;
    if (largest.kind == FoundLeak::Kind::kGrowth) {
      sentence = absl::StrCat(
          "Memory grows with every ", unit,
          " and is not given back: ", FormatCount(largest.rows.size()), " ",
          what, " are kept, ",
          FormatBytes(static_cast<uint64_t>(largest.trend.slope)), " more per ",
          unit, ", ", FormatBytes(largest.live_bytes), " by now.");
    } else {
      sentence = absl::StrCat(FormatCount(largest.rows.size()), " ", what,
                              " are still there, though others like them are "
                              "freed within a ",
                              unit, ".");
    }
    AddPart("LEAK_LIKE", Share(leaked_bytes_, oom_.short_by_bytes()), sentence);
  }

  void AddTransientPart() {
    // What leaks makes any peak too high in the end.
    if (short_lived_.served_before < kServedOften || !oom_.leaks().empty()) {
      return;
    }
    AddPart(
        "TRANSIENT_PEAK", Share(short_lived_.bytes, oom_.short_by_bytes()),
        absl::StrCat("It met a short peak: ", FormatBytes(short_lived_.bytes),
                     " in ", CountOf(short_lived_.count, "tensor"),
                     " are of a kind that was always freed moments "
                     "later, and the same request was served ",
                     "in ", CountOf(short_lived_.served_before, "step"),
                     " before."));
  }

  // A limit that was set by hand, or that leaves part of the device unused.
  void AddLimitPart() {
    if (!oom_.has_layout() && oom_.limit_bytes() == 0) return;
    const uint64_t device_free = oom_.device_free_bytes();
    if (device_free > oom_.growable_bytes()) {
      AddPart(
          "LIMIT", Share(device_free, oom_.short_by_bytes()),
          absl::StrCat("TensorFlow may use ", FormatBytes(oom_.limit_bytes()),
                       " of this device, which had ", FormatBytes(device_free),
                       " more."));
      return;
    }
    for (const std::string& setting : oom_.host().facts.environment) {
      // The only one that limits the CPU's pool, and no other pool.
      if (oom_.OnGpu() || !absl::StartsWith(setting, kCpuLimit)) continue;
      AddPart("LIMIT", 1.0,
              absl::StrCat("The pool may not grow beyond ",
                           FormatBytes(oom_.limit_bytes()), " because ",
                           setting, " is set."));
      return;
    }
  }

  void AddExternalPart() {
    if (!oom_.device_is_full()) return;
    if (oom_.device().has_value()) {
      AddPart("EXTERNAL", 1.0, oom_.device()->Sentence());
      return;
    }
    AddPart("EXTERNAL", 1.0,
            absl::StrCat("TensorFlow was still allowed to take ",
                         FormatBytes(oom_.allowed_growth_bytes()),
                         " from the device, but the device had not even ",
                         FormatBytes(oom_.rounded_bytes()),
                         " in one piece: something else holds it."));
  }

  // The cause that a person should hear first.
  std::string Primary() const {
    const auto has = [this](const char* kind) {
      for (const VerdictPart& part : verdict_.parts()) {
        if (part.kind() == kind) return part.share() >= 1;
      }
      return false;
    };
    if (oom_.device_is_full()) return "EXTERNAL";
    if (has("LEAK_LIKE")) return "LEAK_LIKE";
    if (has(kRetained)) return kRetained;
    if (oom_.available_bytes() < oom_.rounded_bytes()) {
      if (oom_.device_free_bytes() >= oom_.short_by_bytes()) return "LIMIT";
      return has("TRANSIENT_PEAK") ? "TRANSIENT_PEAK" : "CAPACITY";
    }
    if (StepIsTooLarge()) return "CAPACITY";
    // Enough in sum: would it do if the regions were one?
    if (std::max(oom_.most_free_region_bytes(), oom_.growable_bytes()) <
        oom_.rounded_bytes()) {
      return "GROWTH_REGIONS";
    }
    return "FRAGMENTATION";
  }

  void PutPrimaryFirst() {
    const std::string primary = Primary();
    auto* parts = verdict_.mutable_parts();
    std::stable_sort(parts->begin(), parts->end(),
                     [&primary](const VerdictPart& a, const VerdictPart& b) {
                       const auto rank = [&primary](const VerdictPart& part) {
                         return part.kind() == primary ? 2.0 : part.share();
                       };
                       return rank(a) > rank(b);
                     });
  }

  void AddFact(const char* name, double value, const char* unit,
               std::string sentence) {
    Evidence* evidence = verdict_.add_evidence();
    evidence->set_name(name);
    evidence->set_value(value);
    evidence->set_unit(unit);
    evidence->set_sentence(std::move(sentence));
  }

  void AddBytes(const char* name, uint64_t bytes, const std::string& sentence) {
    AddFact(name, static_cast<double>(bytes), "bytes",
            absl::StrCat(sentence, FormatBytes(bytes), "."));
  }

  void AddEvidence() {
    AddBytes("rounded_bytes", oom_.rounded_bytes(), "Asked for: ");
    AddBytes("in_use_bytes", oom_.usage().in_use_bytes, "In use: ");
    if (oom_.has_layout()) {
      AddBytes("free_bytes", oom_.free_bytes(), "Free: ");
      AddBytes("largest_free_bytes", oom_.largest_free_bytes(),
               "The largest gap: ");
    }
    if (oom_.has_layout() || oom_.limit_bytes() != 0) {
      AddBytes("growable_bytes", oom_.allowed_growth_bytes(),
               "What the limit left to grow by: ");
    }
    if (oom_.limit_bytes() != 0) {
      AddBytes("limit_bytes", oom_.limit_bytes(), "The limit: ");
    }
    const uint64_t padding =
        oom_.usage().in_use_bytes -
        std::min(oom_.usage().in_use_bytes, oom_.usage().requested_bytes);
    if (oom_.has_layout()) {
      AddBytes("internal_bytes", padding,
               "Lost because tensors lie in gaps larger than they are: ");
    }
    for (const FoundLeak& leak : oom_.leaks()) {
      if (leak.kind != FoundLeak::Kind::kGrowth) continue;
      AddFact("bytes_per_step", leak.trend.slope, "bytes/step",
              absl::StrFormat(
                  "%s grows by %s per step (95 %% certain: %s to %s).",
                  oom_.host().OpOf(oom_.replay().SiteOf(leak.rows.front())),
                  FormatBytes(static_cast<uint64_t>(leak.trend.slope)),
                  FormatBytes(static_cast<uint64_t>(leak.trend.slope_low)),
                  FormatBytes(static_cast<uint64_t>(leak.trend.slope_high))));
      break;
    }
    for (const Cause& cause : causes_) {
      AddFact(cause.name.c_str(), static_cast<double>(cause.bytes), "bytes",
              cause.sentence);
    }
    AddModelEvidence();
    const FailedRequest* failed =
        oom_.replay().trace().FailureOf(oom_.failure());
    if (failed != nullptr && failed->waited_ns != 0) {
      AddFact("waited_seconds", static_cast<double>(failed->waited_ns) / 1e9,
              "seconds",
              absl::StrFormat("TensorFlow waited %.1f s for memory to be freed "
                              "before it gave up.",
                              static_cast<double>(failed->waited_ns) / 1e9));
    }
  }

  void AddModelEvidence() {
    const Outcome& model = oom_.what_if().as_recorded();
    if (model.requests == 0) return;
    const uint64_t alike = model.requests - model.moved;
    AddFact("placed_alike", Share(alike, model.requests), "share",
            absl::StrCat("A model of TensorFlow's allocator, in which remedies "
                         "are tried out, placed ",
                         FormatCount(alike), " of the last ",
                         FormatCount(model.requests),
                         " allocations where TensorFlow did."));
  }

  uint64_t Capacity() const {
    return oom_.limit_bytes() != 0 ? oom_.limit_bytes()
                                   : oom_.usage().reserved_bytes;
  }

  std::string Doubt() const {
    std::vector<std::string> doubts;
    const auto lost = [this](QualityCounter counter) {
      return oom_.replay().trace().quality.count(counter) +
             oom_.replay().quality().count(counter) +
             oom_.host().quality.count(counter);
    };
    if (lost(QualityCounter::kDroppedEvents) != 0 ||
        lost(QualityCounter::kSampled) != 0 ||
        lost(QualityCounter::kTruncatedFile) != 0 ||
        lost(QualityCounter::kUnmatchedFree) != 0 ||
        lost(QualityCounter::kOverlappingChunks) != 0) {
      doubts.push_back(
          "The trace does not hold every event, so memory that looks free may "
          "have been in use, or the other way round.");
    }
    if (lost(QualityCounter::kNoBaseline) != 0 ||
        lost(QualityCounter::kIncompleteBaseline) != 0 ||
        lost(QualityCounter::kUnnamedBaseline) != 0) {
      doubts.push_back(
          "What lay in memory before the recording began is not fully known.");
    }
    if (oom_.replay().regions_derived()) {
      doubts.push_back(
          "Where TensorFlow's pieces of memory begin and end was not recorded "
          "but derived.");
    }
    if (!oom_.has_layout()) {
      doubts.push_back(
          "This allocator takes each block from the device's driver, which "
          "does not say what was free, nor in what pieces: memory may also "
          "have been scattered.");
    } else if (oom_.limit_bytes() == 0) {
      doubts.push_back("The pool's limit was not recorded.");
    } else if (!oom_.what_if().IsFaithful()) {
      doubts.push_back(
          "Replayed in a model of TensorFlow's allocator the request would "
          "have been served, so remedies could not be tried out.");
    }
    if (verdict_.kind() == "LEAK_LIKE" || verdict_.kind() == kRetained) {
      doubts.push_back(
          "The trace shows that the memory is kept, not whether you mean to "
          "keep it.");
    }
    return absl::StrJoin(doubts, " ");
  }

  const OomCase& oom_;
  const ShortLived short_lived_;
  const std::vector<Cause> causes_;
  const uint64_t step_needs_bytes_;
  uint64_t leaked_bytes_ = 0;
  Verdict verdict_;
};

}  // namespace

Verdict JudgeOom(const OomCase& oom) { return Judge(oom).Run(); }

}  // namespace oom_forensics
