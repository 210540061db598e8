#include "collector/python/memory_access.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace oom_forensics::collector::python {
namespace {

// A pipe holds at least so much without a reader.
constexpr size_t kPiece = 4096;

}  // namespace

CheckedMemory::CheckedMemory() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  read_end_ = ends[0];
  write_end_ = ends[1];
}

CheckedMemory::~CheckedMemory() {
  if (read_end_ < 0) return;
  close(read_end_);
  close(write_end_);
}

bool CheckedMemory::Read(uint64_t address, void* to, size_t bytes) const {
  if (read_end_ < 0) return false;
  auto* out = static_cast<char*>(to);
  while (bytes > 0) {
    const size_t piece = std::min(bytes, kPiece);
    const ssize_t written =
        write(write_end_, reinterpret_cast<const void*>(address), piece);
    if (written <= 0) return false;
    // What a page's end cut short is taken out again, and the rest is tried.
    const ssize_t taken = read(read_end_, out, static_cast<size_t>(written));
    if (taken != written) return false;
    address += static_cast<uint64_t>(taken);
    out += taken;
    bytes -= static_cast<size_t>(taken);
  }
  return true;
}

}  // namespace oom_forensics::collector::python
