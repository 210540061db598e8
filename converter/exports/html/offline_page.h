// The tab as one HTML file for a browser without a server: with runs and the
// converter in it, or to open traces with. Its layout: docs/offline-page.md.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_HTML_OFFLINE_PAGE_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_HTML_OFFLINE_PAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "converter/exports/html/frontend_files.h"
#include "converter/input/trace_files.h"

namespace oom_forensics {

struct OfflinePage {
  std::string title;
  // The first is shown; the others are there to compare with. None: a page to
  // open traces with.
  std::vector<TraceFiles> runs;
  // How the page reads them (ReadOptions).
  bool allow_truncated = false;
};

// Fails where a trace cannot be read any more.
absl::StatusOr<std::string> RenderOfflinePage(const OfflinePage& page,
                                              const FrontendFiles& frontend);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_HTML_OFFLINE_PAGE_H_
