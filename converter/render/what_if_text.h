// WHAT_IF as plain text: what happened beside what would have.
#ifndef OOM_FORENSICS_CONVERTER_RENDER_WHAT_IF_TEXT_H_
#define OOM_FORENSICS_CONVERTER_RENDER_WHAT_IF_TEXT_H_

#include <string>

#include "proto/datasets.pb.h"

namespace oom_forensics {

std::string RenderWhatIf(const WhatIfAnswer& answer);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RENDER_WHAT_IF_TEXT_H_
