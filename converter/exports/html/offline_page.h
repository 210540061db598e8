// A run as one HTML file: the tab itself with its answers inside, for a browser
// without a server. Its layout: docs/offline-page.md.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_HTML_OFFLINE_PAGE_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_HTML_OFFLINE_PAGE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "converter/exports/html/frontend_files.h"
#include "converter/run/run.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

struct OfflinePage {
  std::string html;
  // Allocators of the run, and those whose answers the page holds.
  uint32_t allocators = 0;
  uint32_t stored_allocators = 0;
};

struct OfflinePageLimits {
  // No further allocator is stored once the answers take so much.
  uint64_t answer_bytes = uint64_t{96} << 20;
  // Nor a further moment of an allocator, beyond its OOMs, its peak and its
  // end, once such moments take so much.
  uint64_t moment_bytes = uint64_t{8} << 20;
};

// The page of the hosts and allocators that the filter names (all, without
// one), the closest to their limit first.
absl::StatusOr<OfflinePage> MakeOfflinePage(
    const Run& run, const Filter& filter, const FrontendFiles& frontend,
    const OfflinePageLimits& limits = {});

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_HTML_OFFLINE_PAGE_H_
