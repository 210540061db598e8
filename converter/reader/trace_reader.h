// Reads one .xplane.pb into a HostTrace.
#ifndef OOM_FORENSICS_CONVERTER_READER_TRACE_READER_H_
#define OOM_FORENSICS_CONVERTER_READER_TRACE_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

struct ReadOptions {
  // Read what is whole of a file that was cut off, and say so in its quality.
  // False: such a file is an error.
  bool allow_truncated = false;
  // Refuse a trace whose events would need more than this; 0: no limit.
  uint64_t max_resident_bytes = 0;
  // That many threads may read beside the caller's.
  uint32_t threads = 0;
  // Called with the part of the file that is read, 0..1; may be null.
  std::function<void(double)> progress;
};

// Fails with one sentence (what, where, what to do) where nothing can be read.
// Whatever else is wrong in the file raises a quality counter of the trace.
absl::StatusOr<std::unique_ptr<const HostTrace>> ReadTrace(
    const std::string& path, const ReadOptions& options);

// The same, of bytes in memory. `name` is the file's, for messages.
absl::StatusOr<std::unique_ptr<const HostTrace>> ReadTraceFromBytes(
    std::string_view bytes, const std::string& name,
    const ReadOptions& options);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_TRACE_READER_H_
