// The live set of a moment as a pprof profile, for `pprof`, its flame graphs
// and its differences (`pprof -diff_base=before.pb.gz after.pb.gz`).
//
// The stack of an allocation is its op, then the name scopes around it, inner
// first. Three values: allocations (count), requested (bytes) and allocated
// (bytes, shown first). Labels: dtype, shape, step of birth, role, mode,
// allocator, host, and "bytes", the size of each, so that
//
//     pprof -tagfocus=role=activation -tagshow=shape -top live.pb.gz
//
// works. A moment that lies in several allocators is that of each.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_LIVE_SET_PROFILE_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_LIVE_SET_PROFILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "converter/run/run.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// A gzipped profile.proto of what of the run's live set the query's filter
// keeps at its moment. Fails where there is no such moment or allocator.
absl::StatusOr<std::string> ExportLiveSetProfile(const Run& run,
                                                 const Query& query);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_LIVE_SET_PROFILE_H_
