// A file mapped into memory, read-only.
#ifndef OOM_FORENSICS_CONVERTER_INPUT_MAPPED_FILE_H_
#define OOM_FORENSICS_CONVERTER_INPUT_MAPPED_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace oom_forensics {

class MappedFile {
 public:
  // Fails with one sentence where the file cannot be read or is empty.
  static absl::StatusOr<std::unique_ptr<MappedFile>> Open(
      const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_bytes_}; }
  // Gives back the memory of the first `size_bytes`; they are read from the
  // file again if touched.
  void Release(size_t size_bytes);

 private:
  MappedFile(const char* data, size_t size_bytes)
      : data_(data), size_bytes_(size_bytes) {}
  const char* data_;
  size_t size_bytes_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_INPUT_MAPPED_FILE_H_
