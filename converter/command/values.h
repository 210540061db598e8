// Values of flags as people write them: sizes with a unit, times of day.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_VALUES_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>

namespace oom_forensics {

// Bytes of "1048576", "1MiB", "1.5 GiB" (powers of 1024) or "2GB" (powers of
// 1000); none for what is no size or does not fit.
std::optional<uint64_t> ParseBytes(const std::string& text);

// Nanoseconds since the epoch of "1795307612000000000", of a time as reports
// print it ("2026-11-22 00:33:32.5 UTC") or as RFC 3339 has it; a time without
// a zone is UTC. None for what is no time.
std::optional<int64_t> ParseTimeNs(const std::string& text);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_VALUES_H_
