// The live set as folded stacks, a line each: what flamegraph.pl, speedscope
// and inferno read.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_FOLDED_LIVE_SET_STACKS_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_FOLDED_LIVE_SET_STACKS_H_

#include <string>

#include "absl/status/statusor.h"
#include "converter/run/run.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// "train (train.py:41);augment (train.py:7);MatMul 4096": allocated bytes, the
// outermost call first, at the query's moment.
absl::StatusOr<std::string> ExportFoldedStacks(const Run& run,
                                               const Query& query);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_FOLDED_LIVE_SET_STACKS_H_
