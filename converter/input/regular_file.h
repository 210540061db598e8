// A file that is there to be read, open.
#ifndef OOM_FORENSICS_CONVERTER_INPUT_REGULAR_FILE_H_
#define OOM_FORENSICS_CONVERTER_INPUT_REGULAR_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace oom_forensics {

class RegularFile {
 public:
  // Fails with one sentence where the file cannot be read, is no regular file
  // or is empty.
  static absl::StatusOr<RegularFile> Open(const std::string& path);
  ~RegularFile();
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&&) = delete;

  int descriptor() const { return descriptor_; }
  // More than nothing.
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  explicit RegularFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
  uint64_t size_bytes_ = 0;
};

// The sentence for an errno.
absl::Status CannotRead(const std::string& path, int error);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_INPUT_REGULAR_FILE_H_
