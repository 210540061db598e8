#include "converter/forensics/verdict/verdict.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "converter/forensics/block_content.h"
#include "converter/forensics/causes/cause.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/forensics/verdict/short_lived.h"
#include "converter/quality/quality_log.h"
#include "core/placement.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Below this share of the shortfall a cause is not worth a line.
constexpr double kMinShare = 0.01;
// A request is a regular one where it was served so often before.
constexpr uint64_t kServedOften = 3;
// A limit that no request comes up to.
constexpr uint64_t kEndlessBytes = uint64_t{1} << 50;

double Share(uint64_t part, uint64_t whole) {
  if (whole == 0) return 0;
  return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

class Judge {
 public:
  Judge(const OomCase& oom, const std::vector<Cause>& causes)
      : oom_(oom),
        placement_(JudgePlacement(oom.pool())),
        short_lived_(FindShortLived(oom)),
        causes_(causes),
        step_needs_bytes_(StepNeedsBytes(oom)) {}

  Verdict Run() {
    verdict_.set_short_by_bytes(oom_.short_by_bytes());
    AddPlacement();
    AddWholeStepPart();
    AddFullPart();
    AddKeptPart(kLeakLike);
    AddKeptPart(kRetained);
    AddTransientPart();
    PutPrimaryFirst();
    verdict_.set_kind(verdict_.parts_size() == 0 ? "UNKNOWN"
                                                 : verdict_.parts(0).kind());
    verdict_.set_sentence(verdict_.parts_size() == 0
                              ? placement_.sentence
                              : verdict_.parts(0).sentence());
    AddCauseToSentence();
    AddBlockToSentence();
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

  // What the allocator's own numbers tell.
  void AddPlacement() {
    for (const PlacementPart& part : placement_.parts) {
      AddPart(part.kind, part.share, part.sentence);
    }
  }

  // What the pool would hold at the most if there were no end to it: what lies
  // there, and the rest of the step as far as it is known or forecast: midway
  // between the orders that were tried, as the least of them is of an order
  // that is seldom taken. 0: not known.
  static uint64_t StepNeedsBytes(const OomCase& oom) {
    if (oom.step() != nullptr && !oom.step()->IsContradicted()) {
      const Need peak = oom.step()->PeakOf(0);
      return peak.low_bytes + (peak.high_bytes - peak.low_bytes) / 2;
    }
    if (!oom.what_if().IsFaithful()) return 0;
    Scenario endless;
    endless.limit_bytes = kEndlessBytes;
    endless = WithRestOfStep(oom, std::move(endless));
    if (endless.then_like.empty()) return 0;
    return oom.what_if().Try(endless).in_use_bytes;
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
                         "what is known to follow this request, it needs ",
                         FormatBytes(step_needs_bytes_), " of ",
                         FormatBytes(oom_.limit_bytes()), "."));
  }

  // The request would fit into what is left, were that in one piece; but that
  // is so little that the next one would not.
  void AddFullPart() {
    if (!oom_.IsFull() || StepIsTooLarge() ||
        oom_.available_bytes() < oom_.rounded_bytes()) {
      return;
    }
    AddPart(
        "CAPACITY", 1.0,
        absl::StrCat("The pool is full: ", FormatBytes(oom_.available_bytes()),
                     " of ", FormatBytes(oom_.limit_bytes()),
                     " are left, in pieces."));
  }

  // What is kept though it should have gone.
  void AddKeptPart(const char* kind) {
    for (const Cause& cause : causes_) {
      if (cause.kind != kind) continue;
      AddPart(kind, Share(cause.bytes, oom_.short_by_bytes()), cause.sentence);
      return;
    }
  }

  // The largest cause says more than its kind does.
  void AddCauseToSentence() {
    for (const Cause& cause : causes_) {
      if (cause.kind != verdict_.kind() || cause.kind == kRetained ||
          cause.kind == kLeakLike) {
        continue;
      }
      // Slack decides nothing where the step is too large without it.
      if (cause.name == kBlockSlack && StepIsTooLarge()) continue;
      verdict_.set_sentence(
          absl::StrCat(verdict_.sentence(), " ", cause.sentence));
      return;
    }
  }

  // Who needs the block that XLA asked for.
  void AddBlockToSentence() {
    const CompiledAllocation* block = oom_.block();
    if (block == nullptr) return;
    verdict_.set_sentence(absl::StrCat(
        verdict_.sentence(), " ", ContentOf(*block, block->peak).sentence()));
  }

  void AddTransientPart() {
    // What leaks, or is collected, makes any peak too high in the end.
    const bool grew =
        !oom_.leaks().empty() ||
        std::any_of(causes_.begin(), causes_.end(), [](const Cause& cause) {
          return cause.name == kCollection && !cause.growth.sentence.empty();
        });
    if (short_lived_.served_before < kServedOften || grew) return;
    // More than steps had before, even without what is freed in a moment: this
    // one is larger.
    if (oom_.usage().in_use_bytes >
        short_lived_.bytes + short_lived_.most_in_use_bytes) {
      return;
    }
    AddPart(
        "TRANSIENT_PEAK", Share(short_lived_.bytes, oom_.short_by_bytes()),
        absl::StrCat("It hit a short peak: ", FormatBytes(short_lived_.bytes),
                     " in ", CountOf(short_lived_.count, "tensor"),
                     " are of a kind that was always freed moments "
                     "later, and the same request was served ",
                     "in ", CountOf(short_lived_.served_before, "step"),
                     " before."));
  }

  bool HasPart(const char* kind, double min_share = 0) const {
    for (const VerdictPart& part : verdict_.parts()) {
      if (part.kind() == kind) return part.share() >= min_share;
    }
    return false;
  }

  // The cause that a person should hear first.
  std::string Primary() const {
    const std::string placement = placement_.kind;
    if (placement == "EXTERNAL") return placement;
    if (HasPart(kLeakLike, 1.0)) return kLeakLike;
    if (HasPart(kRetained, 1.0)) return kRetained;
    if (placement == "CAPACITY" || placement == "UNKNOWN") {
      return HasPart("TRANSIENT_PEAK", 1.0) ? "TRANSIENT_PEAK" : placement;
    }
    return placement != "LIMIT" && (StepIsTooLarge() || oom_.IsFull())
               ? "CAPACITY"
               : placement;
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
    if (verdict_.parts_size() > 0 &&
        verdict_.parts(0).sentence() != placement_.sentence) {
      AddFact("placement", static_cast<double>(placement_.short_by_bytes),
              "bytes", placement_.sentence);
    }
    AddBytes("rounded_bytes", oom_.rounded_bytes(), "Asked for: ");
    AddBytes("in_use_bytes", oom_.usage().in_use_bytes, "In use: ");
    if (oom_.has_layout()) {
      AddBytes("free_bytes", oom_.free_bytes(), "Free: ");
      AddBytes("largest_free_bytes", oom_.largest_free_bytes(),
               "The largest gap: ");
    }
    if (oom_.has_layout() || oom_.limit_bytes() != 0) {
      AddBytes("growable_bytes", oom_.allowed_growth_bytes(),
               "Room to grow up to the limit: ");
    }
    if (oom_.limit_bytes() != 0) {
      AddBytes("limit_bytes", oom_.limit_bytes(), "The limit: ");
    }
    if (oom_.has_layout()) {
      AddBytes(
          "internal_bytes",
          oom_.usage().in_use_bytes -
              std::min(oom_.usage().in_use_bytes, oom_.usage().requested_bytes),
          "Lost because chunks are larger than their tensors: ");
    }
    for (const FoundLeak& leak : oom_.leaks()) {
      if (leak.kind != FoundLeak::Kind::kGrowth ||
          !IsWorthIt(oom_, leak.live_bytes)) {
        continue;
      }
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
    if (oom_.device().has_value()) {
      AddFact("device_free_bytes",
              static_cast<double>(oom_.device()->free_bytes), "bytes",
              oom_.device()->Sentence());
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
    // Without a layout only sums were tried.
    if (model.requests == 0 || !oom_.has_layout()) return;
    const uint64_t alike = model.requests - model.moved;
    AddFact("placed_alike", Share(alike, model.requests), "share",
            absl::StrCat("A model of TensorFlow's allocator, in which remedies "
                         "are tried out, placed ",
                         FormatCount(alike), " of the last ",
                         FormatCount(model.requests),
                         " allocations where TensorFlow did."));
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
        lost(QualityCounter::kLiveSetFull) != 0 ||
        lost(QualityCounter::kUnnamedBaseline) != 0) {
      doubts.push_back(
          "What was in memory before the recording began is not fully known.");
    }
    if (oom_.replay().regions_derived()) {
      doubts.push_back(
          "The bounds of TensorFlow's regions were not recorded but derived.");
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
          oom_.what_if().as_recorded().placed
              ? "Replayed in a model of TensorFlow's allocator the request "
                "would have been served, so remedies could not be tried out."
              : "A model of TensorFlow's allocator does not place all "
                "allocations of this trace where TensorFlow did, so remedies "
                "could not be tried out.");
    }
    if (verdict_.kind() == kLeakLike || verdict_.kind() == kRetained) {
      doubts.push_back(
          "The trace shows that the memory is kept, not whether you mean to "
          "keep it.");
    }
    return absl::StrJoin(doubts, " ");
  }

  const OomCase& oom_;
  const PlacementVerdict placement_;
  const ShortLived short_lived_;
  const std::vector<Cause>& causes_;
  const uint64_t step_needs_bytes_;
  Verdict verdict_;
};

}  // namespace

Verdict JudgeOom(const OomCase& oom, const std::vector<Cause>& causes) {
  return Judge(oom, causes).Run();
}

}  // namespace oom_forensics
