// What fuzzers feed with bytes from outside: the file, and the request.
#ifndef OOM_FORENSICS_CONVERTER_FUZZ_FUZZ_TARGETS_H_
#define OOM_FORENSICS_CONVERTER_FUZZ_FUZZ_TARGETS_H_

#include <string_view>

namespace oom_forensics {

// Both abort where an input costs more than its size allows (cost_limit.h).

// Reads the bytes as an .xplane.pb, replays it and answers every dataset.
void FuzzTrace(std::string_view bytes);

// Writes the bytes over a black box, eight at each place that they name, makes
// a trace of it and goes on as FuzzTrace().
void FuzzBox(std::string_view bytes);

// Answers the bytes as a Query and as a ServiceRequest, about a small trace
// with an OOM.
void FuzzRequest(std::string_view bytes);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FUZZ_FUZZ_TARGETS_H_
