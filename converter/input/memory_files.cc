// MappedFile and FindTraceFiles where there is no file system.
#include "converter/input/memory_files.h"

#include <cstdlib>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/input/mapped_file.h"
#include "converter/input/trace_files.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

struct MemoryFile {
  FileMemory data;
  size_t size_bytes = 0;
};

std::map<std::string, MemoryFile>& Files() {
  static auto* const files = new std::map<std::string, MemoryFile>;
  return *files;
}

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

std::string_view NameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

void FreeMemory::operator()(char* data) const { std::free(data); }

void PutMemoryFile(const std::string& path, FileMemory data,
                   size_t size_bytes) {
  Files()[path] = {std::move(data), size_bytes};
}

std::string_view FindMemoryFile(const std::string& path) {
  const auto found = Files().find(path);
  if (found == Files().end()) return {};
  return {found->second.data.get(), found->second.size_bytes};
}

std::vector<std::string> MemoryFilesIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& [path, file] : Files()) {
    if (FolderOf(path) == folder) paths.push_back(path);
  }
  return paths;
}

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Open(
    const std::string& path) {
  const std::string_view bytes = FindMemoryFile(path);
  if (bytes.data() == nullptr) {
    return absl::NotFoundError(absl::StrCat("There is no file ", path, "."));
  }
  if (bytes.empty()) {
    // As mapped_file.cc says it.
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is empty: the profiler wrote nothing, or the disk was full."));
  }
  return std::unique_ptr<MappedFile>(
      new MappedFile(bytes.data(), bytes.size()));
}

MappedFile::~MappedFile() = default;

// It may be asked for again, and there is no disk to read it from.
void MappedFile::Release(size_t) {}

absl::StatusOr<TraceFiles> FindTraceFiles(const std::string& path,
                                          const std::string& /*run*/) {
  const std::string name(NameOf(path));
  if (FindMemoryFile(path).data() != nullptr) return TraceFiles{name, {path}};
  std::vector<std::string> paths = MemoryFilesIn(path);
  if (paths.empty()) {
    return absl::NotFoundError(absl::StrCat("There is no file ", path, "."));
  }
  return TraceFiles{name, std::move(paths)};
}

std::string HostOfFile(const std::string& path) {
  std::string_view name = NameOf(path);
  ConsumeSuffix(&name, ".xplane.pb");
  return std::string(name);
}

}  // namespace oom_forensics
