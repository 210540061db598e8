// `serve`: one run's answers on a stream, by proto/service.proto.
//
//   in ─▶ a thread reads frames ─▶ RequestQueue ─▶ this thread answers ─▶ out
//
// So a request can be cancelled while another, or itself, is worked on.
#ifndef OOM_FORENSICS_CONVERTER_SERVICE_SERVE_H_
#define OOM_FORENSICS_CONVERTER_SERVICE_SERVE_H_

#include <cstdio>
#include <string>

#include "converter/run/run.h"

namespace oom_forensics {

// Opens the run while it reports progress, then answers until `in` ends and
// all that was asked is answered. Returns the exit code. What keeps the run
// from being read is told in one response and on standard error. `in` must stay
// open for as long as the process: a thread may go on waiting for it.
int Serve(const std::string& path, const std::string& run_name,
          const RunOptions& options, std::FILE* in, std::FILE* out);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SERVICE_SERVE_H_
