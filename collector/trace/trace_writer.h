// TraceWriter: a recording as a serialised tensorflow.profiler.XSpace, in the
// form that proto/event_schema.h defines.
#ifndef OOM_FORENSICS_COLLECTOR_TRACE_TRACE_WRITER_H_
#define OOM_FORENSICS_COLLECTOR_TRACE_TRACE_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/recording/allocator_table.h"
#include "collector/recording/recorder.h"
#include "collector/recording/site_interner.h"
#include "collector/recording/stack_table.h"
#include "collector/trace/source_plane_writer.h"
#include "core/outside_pool.h"

namespace oom_forensics::collector {

// What the session plane says of the recording as a whole.
struct SessionFacts {
  // "profile", "oom" or "snapshot".
  std::string origin;
  std::string tensorflow_version;
  std::string hooks;
  std::string attribution;
  // How device memory is watched, and why so.
  std::string cupti_mode;
  std::string cupti_reason;
  // "NAME=value" lines.
  std::string environment;
  // Since TensorFlow was loaded: allocations without names because the table of
  // sites was full, and requests of allocators that found no room in theirs.
  uint64_t unnamed_allocations = 0;
  uint64_t unknown_allocator_requests = 0;
  // The settings that decide what the recording holds.
  uint64_t buffer_events = 0;
  double sampling_rate = 1;
  uint64_t min_bytes = 0;
  bool anonymize_addresses = false;
  // What is taken off every address; see AddressShift().
  uint64_t address_shift = 0;
  // TensorFlow relates the times of a profiler session to its start; a trace
  // that does not pass through TensorFlow has to do so itself.
  bool writes_own_file = false;
  // Set where it was written for that.
  std::optional<FailedLibrary> failed_library;
  SourceFacts source;
};

// What is to be taken off every address of the recording's trace: 0, unless
// the session says that addresses are anonymous.
uint64_t AddressShift(const SessionFacts& session, const Recording& recording);

// `sites` and `stacks` are the Snapshot() of their tables, taken after the
// recording's end, the sites' first.
std::string WriteTrace(const SessionFacts& session,
                       const std::vector<AllocatorInfo>& allocators,
                       const Recording& recording,
                       const std::vector<const Site*>& sites,
                       const std::vector<const StackFrames*>& stacks);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TRACE_TRACE_WRITER_H_
