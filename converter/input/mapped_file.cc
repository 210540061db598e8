#include "converter/input/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "converter/input/regular_file.h"

namespace oom_forensics {

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Open(
    const std::string& path) {
  const absl::StatusOr<RegularFile> file = RegularFile::Open(path);
  if (!file.ok()) return file.status();
  const auto size_bytes = static_cast<size_t>(file->size_bytes());
  void* const data =
      mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, file->descriptor(), 0);
  if (data == MAP_FAILED) return CannotRead(path, errno);
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
