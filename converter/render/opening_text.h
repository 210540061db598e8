// The first lines of a report: what happened, why, what to change, who holds
// most.
#ifndef OOM_FORENSICS_CONVERTER_RENDER_OPENING_TEXT_H_
#define OOM_FORENSICS_CONVERTER_RENDER_OPENING_TEXT_H_

#include <string>

#include "converter/render/report.h"

namespace oom_forensics {

// At most 14 lines. For a run without an OOM: how close it came, who held most
// at the peak, and what grows.
std::string RenderOpening(const ReportParts& parts);

// The opening, and where the rest is.
std::string RenderShortReport(const ReportParts& parts);

// Whether an OOM is the first of its incident among those that were asked for.
bool IsFirstOfIncident(const Oom& oom, const OomWindow& window);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RENDER_OPENING_TEXT_H_
