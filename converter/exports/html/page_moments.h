// Whose state an offline page holds (docs/offline-page.md).
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_HTML_PAGE_MOMENTS_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_HTML_PAGE_MOMENTS_H_

#include <cstdint>
#include <vector>

#include "converter/datasets/selection.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// OOMs of an allocator whose moments are stored, the first ones.
inline constexpr size_t kMaxStoredOoms = 8;
// Steps of an allocator whose peaks are stored, spread evenly.
inline constexpr size_t kMaxStoredSteps = 24;
// Moments of an allocator that are stored beside these: half of them spread
// evenly over its time, half over its events.
inline constexpr size_t kMaxStoredSamples = 48;

// The moments that people ask for first: `ooms` are the numbers of its OOMs.
std::vector<Moment> FirstMoments(const std::vector<int32_t>& ooms);

// Moments to go through the recording by: the peaks of its steps, and what is
// between its first event and its last. Wherever the list is cut, what stands
// before is spread over all of the recording.
std::vector<Moment> FurtherMoments(const SelectedAllocator& allocator,
                                   const Steps& steps);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_HTML_PAGE_MOMENTS_H_
