// A file of columns: what an archive wrote, so that it can be mapped.
//
//   header │ column │ column │ ... │ where the columns are │ the archive's
//   bytes
//
// Each column begins at a multiple of 64 bytes. Every byte is covered by a
// checksum, which is compared before any is believed.
#ifndef OOM_FORENSICS_CONVERTER_CACHE_COLUMN_FILE_H_
#define OOM_FORENSICS_CONVERTER_CACHE_COLUMN_FILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "converter/cache/archive.h"

namespace oom_forensics {

// What a file said, mapped.
struct MappedColumns {
  std::string_view archive;
  std::vector<ColumnBytes> columns;
  // Keeps both where they are.
  std::shared_ptr<const void> owner;
};

// False where it is no such file of the user's own, or any byte of it is not
// what was written.
bool MapColumnFile(const std::string& path, MappedColumns* mapped);

// The bytes that the file will have.
uint64_t ColumnFileBytes(const ArchiveWriter& archive);

// In the name of a file that is being written, after the other file's name.
inline constexpr char kPartInfix[] = ".part-";

// Writes beside `path`, then puts it there: who reads meanwhile sees the whole
// of the old file or of the new one. Gives up, and leaves nothing, where it
// cannot be written or `stop` becomes true.
bool WriteColumnFile(const std::string& path, const ArchiveWriter& archive,
                     const std::atomic<bool>& stop);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_CACHE_COLUMN_FILE_H_
