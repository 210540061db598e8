// Which files a PATH of the command line means.
//
//   <host>.xplane.pb                      that file
//   <run>/                                all *.xplane.pb directly in it
//   <logdir>/                             of the runs below it
//     [**/]plugins/profile/<run>/           (named as TensorBoard does) the
//                                           newest, or the one asked for
#ifndef OOM_FORENSICS_CONVERTER_INPUT_TRACE_FILES_H_
#define OOM_FORENSICS_CONVERTER_INPUT_TRACE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace oom_forensics {

struct TraceFiles {
  // "2026_11_20_12_39_01", or "train/2026_..." below a TensorBoard run; the
  // file's name where PATH is a file.
  std::string run_name;
  // Sorted by name.
  std::vector<std::string> paths;
};

// `run` chooses among the runs of a logdir; empty: the newest. Fails with one
// sentence that says what was looked for.
absl::StatusOr<TraceFiles> FindTraceFiles(const std::string& path,
                                          const std::string& run);

// "host" of "/path/host.xplane.pb".
std::string HostOfFile(const std::string& path);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_INPUT_TRACE_FILES_H_
