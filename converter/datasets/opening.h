// How the story of an OOM begins.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_OPENING_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_OPENING_H_

#include "proto/datasets.pb.h"

namespace oom_forensics {

// Sets `opening` and each remedy's `how_sure` from the rest of the message.
void FillOpening(Oom* oom);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_OPENING_H_
