// The two sides of a WHAT_IF answer: what happened, and what would have.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_COURSE_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_COURSE_H_

#include "converter/datasets/what_if_pool.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// What happened; `at` is the moment of the map, if one is wanted.
WhatIfCourse RecordedCourse(const WhatIfPool& pool, Position at, bool with_map);

// What came of `run`, made of `scenario`.
WhatIfCourse AskedCourse(const WhatIfPool& pool, const Scenario& scenario,
                         const Simulation& run, bool with_map);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_COURSE_H_
