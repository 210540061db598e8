// Files in memory, for where there is no file system: a WebAssembly module is
// given them by the page or the program around it, before anything is opened.
#ifndef OOM_FORENSICS_CONVERTER_INPUT_MEMORY_FILES_H_
#define OOM_FORENSICS_CONVERTER_INPUT_MEMORY_FILES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace oom_forensics {

// A file's bytes, of malloc().
struct FreeMemory {
  void operator()(char* data) const;
};
using FileMemory = std::unique_ptr<char[], FreeMemory>;

// Puts a file at `path`, in the place of one that was there. What was mapped of
// that one must be closed.
void PutMemoryFile(const std::string& path, FileMemory data, size_t size_bytes);

// The bytes of a file; null data where there is none.
std::string_view FindMemoryFile(const std::string& path);

// The paths of all files directly in a folder, sorted.
std::vector<std::string> MemoryFilesIn(const std::string& folder);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_INPUT_MEMORY_FILES_H_
