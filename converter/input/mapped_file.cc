#include "converter/input/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace oom_forensics {
namespace {

absl::Status CannotRead(const std::string& path, int error) {
  return absl::NotFoundError(
      absl::StrCat("Cannot read ", path, ": ", std::strerror(error), "."));
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
  void* data = mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, file, 0);
  const int error = errno;
  close(file);
  if (data == MAP_FAILED) return CannotRead(path, error);
  madvise(data, size_bytes, MADV_SEQUENTIAL);
  return std::unique_ptr<MappedFile>(
      new MappedFile(static_cast<const char*>(data), size_bytes));
}

MappedFile::~MappedFile() { munmap(const_cast<char*>(data_), size_bytes_); }

void MappedFile::Release(size_t size_bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t whole_pages = size_bytes / page * page;
  if (whole_pages == 0) return;
  madvise(const_cast<char*>(data_), whole_pages, MADV_DONTNEED);
}

}  // namespace oom_forensics
