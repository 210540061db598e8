// The collector's version, the same as that of the package.
#ifndef OOM_FORENSICS_COLLECTOR_VERSION_H_
#define OOM_FORENSICS_COLLECTOR_VERSION_H_

#include <string_view>

namespace oom_forensics::collector {

inline constexpr std::string_view kCollectorVersion = "0.1.0";

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_VERSION_H_
