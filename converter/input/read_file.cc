// MappedFile where there are files but nothing can be mapped: it is read whole.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/input/mapped_file.h"

namespace oom_forensics {
namespace {

// The sentences are those of mapped_file.cc.
absl::Status CannotRead(const std::string& path, int error) {
  return absl::NotFoundError(
      absl::StrCat("Cannot read ", path, ": ", std::strerror(error), "."));
}

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
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return CannotRead(path, errno);
  struct stat status = {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not a regular file."));
  }
  if (status.st_size == 0) {
    close(file);
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is empty: the profiler wrote nothing, or the disk was full."));
  }
  const size_t size_bytes = static_cast<size_t>(status.st_size);
  char* const data = static_cast<uint64_t>(status.st_size) > SIZE_MAX
                         ? nullptr
                         : static_cast<char*>(std::malloc(size_bytes));
  if (data == nullptr) {
    close(file);
    throw std::bad_alloc();
  }
  const bool read = ReadWhole(file, data, size_bytes);
  const int error = errno;
  close(file);
  auto mapped = std::unique_ptr<MappedFile>(new MappedFile(data, size_bytes));
  if (!read) return CannotRead(path, error);
  return mapped;
}

MappedFile::~MappedFile() { std::free(const_cast<char*>(data_)); }

// It may be asked for again.
void MappedFile::Release(size_t) {}

}  // namespace oom_forensics
