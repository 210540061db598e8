// The flags of `what-if`. Some have the names of filters of other commands, and
// mean what is different here.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_WHAT_IF_FLAGS_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_WHAT_IF_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Takes the flags that are about what is different out of `arguments`.
absl::Status TakeWhatIfFlags(std::vector<std::string>* arguments,
                             WhatIfSettings* settings);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_WHAT_IF_FLAGS_H_
