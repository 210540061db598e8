// Names of the datasets' enums as exports write them.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_NAMES_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_NAMES_H_

#include <string>

#include "proto/datasets.pb.h"

namespace oom_forensics {

// "activation" of ROLE_ACTIVATION; empty where it is unknown.
std::string RoleName(Role role);

// "graph"; empty where it is unknown.
std::string ModeName(Mode mode);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_NAMES_H_
