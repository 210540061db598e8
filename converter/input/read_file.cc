// MappedFile where there are files but nothing can be mapped: it is read whole.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "absl/status/status.h"
#include "converter/input/mapped_file.h"
#include "converter/input/regular_file.h"

namespace oom_forensics {
namespace {

bool ReadWhole(int file, char* data, size_t size_bytes) {
  size_t filled = 0;
  while (filled < size_bytes) {
    const ssize_t got = read(file, data + filled, size_bytes - filled);
    if (got < 0) return false;
    // It was cut off since: what is missing is zero, as it is where one maps.
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  std::memset(data + filled, 0, size_bytes - filled);
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Open(
    const std::string& path) {
  const absl::StatusOr<RegularFile> file = RegularFile::Open(path);
  if (!file.ok()) return file.status();
  char* const data = file->size_bytes() > SIZE_MAX
                         ? nullptr
                         : static_cast<char*>(std::malloc(
                               static_cast<size_t>(file->size_bytes())));
  if (data == nullptr) throw std::bad_alloc();
  auto mapped = std::unique_ptr<MappedFile>(
      new MappedFile(data, static_cast<size_t>(file->size_bytes())));
  if (!ReadWhole(file->descriptor(), data, mapped->size_bytes_)) {
    return CannotRead(path, errno);
  }
  return mapped;
}

MappedFile::~MappedFile() { std::free(const_cast<char*>(data_)); }

// It may be asked for again.
void MappedFile::Release(size_t) {}

}  // namespace oom_forensics
