#include "converter/exports/html/frontend_files.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace oom_forensics {
namespace {

// Empty where the system does not say.
std::filesystem::path FolderBesideProgram() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return program.parent_path().parent_path() / "static";
}

absl::StatusOr<std::string> Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || text.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "The tab's file ", path.string(),
        " cannot be read; name the folder that has it with --frontend-dir."));
  }
  return text;
}

}  // namespace

absl::StatusOr<FrontendFiles> ReadFrontendFiles(const std::string& folder) {
  const std::filesystem::path path =
      folder.empty() ? FolderBesideProgram() : std::filesystem::path(folder);
  auto script = Read(path / "index.js");
  if (!script.ok()) return script.status();
  auto style = Read(path / "index.css");
  if (!style.ok()) return style.status();
  auto worker = Read(path / "worker.js");
  if (!worker.ok()) return worker.status();
  auto converter = Read(path / "converter.wasm");
  if (!converter.ok()) {
    return absl::NotFoundError(absl::StrCat(
        "oom-forensics was installed without its WebAssembly converter, which "
        "a page needs (there is no ",
        (path / "converter.wasm").string(),
        "); in a source tree run tools/setup wasm, then "
        "OOM_FORENSICS_WASM=1 pip install ."));
  }
  return FrontendFiles{*std::move(script), *std::move(style),
                       *std::move(worker), *std::move(converter)};
}

}  // namespace oom_forensics
