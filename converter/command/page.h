// The pages that need no server: of a run (`html`), or to open traces with
// (`viewer`).
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_PAGE_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_PAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "converter/command/options.h"

namespace oom_forensics {

// The page of the run of PATH, or of its host that --host names; where
// --other-path names a second run, of both.
absl::StatusOr<std::string> MakePage(const Options& options);

absl::StatusOr<std::string> MakeViewer(const Options& options);

// "3.9 MB, nothing was left out.", and whether a mail can carry that.
std::string PageSizeText(size_t size_bytes, const Options& options);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_PAGE_H_
