// The few lines that an out-of-memory leaves on stderr and in the exception.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_SUMMARY_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_SUMMARY_H_

#include <string>
#include <vector>

#include "collector/flight_recorder/refusal.h"

namespace oom_forensics::collector {

// "dense/MatMul asked for 8.00 MiB (float32 [8,16]) and did not get it."
std::string RequestLine(const SiteKey& site);

// What was asked for, what was free, why it did not fit, and the three largest
// holders; a line each.
std::vector<std::string> SummaryLines(const Refusal& refusal);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_SUMMARY_H_
