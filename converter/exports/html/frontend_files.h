// The files of the tab that an offline page is made of: //frontend:bundle and
// //converter/wasm:module.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_HTML_FRONTEND_FILES_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_HTML_FRONTEND_FILES_H_

#include <string>

#include "absl/status/statusor.h"

namespace oom_forensics {

struct FrontendFiles {
  std::string script;     // index.js
  std::string style;      // index.css
  std::string worker;     // worker.js
  std::string converter;  // converter.wasm
};

// Reads them from `folder`; where it is empty, from where the Python package
// has them, static/ beside the folder of the running program. Fails with a
// sentence that says where they were looked for.
absl::StatusOr<FrontendFiles> ReadFrontendFiles(const std::string& folder);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_HTML_FRONTEND_FILES_H_
