// What was lost, sampled or missing in a trace, as named counters. Bad data
// never aborts the reading of a trace: it raises one of these, and every
// dataset carries those that touch its numbers.
#ifndef OOM_FORENSICS_CONVERTER_QUALITY_QUALITY_LOG_H_
#define OOM_FORENSICS_CONVERTER_QUALITY_QUALITY_LOG_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/datasets.pb.h"

namespace oom_forensics {

// Every counter there is. quality_log.cc has its name, severity and sentence.
enum class QualityCounter {
  kTruncatedFile,
  kMalformedMessages,
  kDroppedEvents,
  kSampled,
  kSmallAllocationsLeftOut,
  kNoBaseline,
  kIncompleteBaseline,
  kLiveSetFull,
  kSiteTableFull,
  kAllocatorTableFull,
  kUnmatchedFree,
  kOverlappingChunks,
  kChunkOutsideRegions,
  kRegionsDerived,
  kNoLayout,
  kUnknownRegionRemoved,
  kUnsortedEvents,
  kTimeOutOfRange,
  kUnknownSite,
  kInvalidSize,
  kUnknownEventKind,
  kNewerSchema,
  kNoEventOfOom,
  kNoAddresses,
  kInUseDrift,
  kUnnamedBaseline,
  kNoSteps,
  kNoCollector,
  kAttributionOff,
  kAnonymized,
  kDumpDiffers,
  kOomsLeftOut,
  kShortenedText,
  kModulesLeftOut,
  kModuleWithoutOrder,
  kSourceLinesSwitchedOff,
  kNoSourceLines,
  kDroppedStacks,
  kIncompleteEvidence,
  kCount,  // Not a counter: their number.
};

// The counters of one host, or of one allocator of it.
class QualityLog {
 public:
  void Add(QualityCounter counter, uint64_t count = 1) {
    counts_[static_cast<size_t>(counter)] += count;
  }
  uint64_t count(QualityCounter counter) const {
    return counts_[static_cast<size_t>(counter)];
  }
  // The counters that are not zero, as the datasets state them.
  std::vector<Quality> Entries(std::string_view host,
                               std::string_view allocator) const;

 private:
  std::array<uint64_t, static_cast<size_t>(QualityCounter::kCount)> counts_{};
};

// The stable name of a counter ("unmatched_free").
std::string_view QualityCounterName(QualityCounter counter);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_QUALITY_QUALITY_LOG_H_
