// Memory that is held for a moment only, as others of its site were.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_SHORT_LIVED_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_SHORT_LIVED_H_

#include <cstdint>

#include "converter/forensics/oom_case/oom_case.h"

namespace oom_forensics {

struct ShortLived {
  // Live bytes of sites of which at least kMinShortLivedSiblings were made and
  // freed before, each within kShortLifeRows events.
  uint64_t bytes = 0;
  uint64_t count = 0;
  // In how many completed steps the same request (op, shape and bytes) was
  // served.
  uint64_t served_before = 0;
  // The most that was in use in any of those until it last was.
  uint64_t most_in_use_bytes = 0;
};

inline constexpr uint64_t kMinShortLivedSiblings = 3;
inline constexpr Row kShortLifeRows = 1000;

ShortLived FindShortLived(const OomCase& oom);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_SHORT_LIVED_H_
