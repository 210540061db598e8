// The datasets' enums as people and programs name them.
#ifndef OOM_FORENSICS_CONVERTER_TEXT_ENUM_IDS_H_
#define OOM_FORENSICS_CONVERTER_TEXT_ENUM_IDS_H_

#include <string>

#include "proto/datasets.pb.h"

namespace oom_forensics {

// "activation" of ROLE_ACTIVATION, "unknown" of ROLE_UNKNOWN.
std::string RoleId(Role role);

// "graph", "eager"; "unknown" where it is.
std::string ModeId(Mode mode);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TEXT_ENUM_IDS_H_
