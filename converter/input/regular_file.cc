#include "converter/input/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace oom_forensics {

absl::StatusOr<RegularFile> RegularFile::Open(const std::string& path) {
  RegularFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.descriptor_ < 0) return CannotRead(path, errno);
  struct stat status = {};
  if (fstat(file.descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not a regular file."));
  }
  if (status.st_size == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is empty: the profiler wrote nothing, or the disk was full."));
  }
  file.size_bytes_ = static_cast<uint64_t>(status.st_size);
  return file;
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(other.size_bytes_) {}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status CannotRead(const std::string& path, int error) {
  return absl::NotFoundError(
      absl::StrCat("Cannot read ", path, ": ", std::strerror(error), "."));
}

}  // namespace oom_forensics
