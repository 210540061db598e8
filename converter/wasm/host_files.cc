// What the C library asks of a system: files by the host's functions, random
// numbers by WASI.
#include "converter/wasm/host_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <wasi/api.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <ctime>

namespace {

using oom_forensics::HostFile;

constexpr int64_t kNsPerS = 1'000'000'000;

long Fill(int32_t error, const HostFile& file, long target) {
  if (error != 0) return error;
  struct stat status = {};
  status.st_dev = static_cast<dev_t>(file.device);
  status.st_ino = file.number;
  status.st_mode = file.mode;
  status.st_nlink = 1;
  status.st_size = static_cast<off_t>(file.size_bytes);
  status.st_mtim.tv_sec = static_cast<time_t>(file.modified_ns / kNsPerS);
  status.st_mtim.tv_nsec = static_cast<long>(file.modified_ns % kNsPerS);
  std::memcpy(reinterpret_cast<void*>(target), &status, sizeof(status));
  return 0;
}

long LookAt(long path, bool follow, long target) {
  const auto* const text = reinterpret_cast<const char*>(path);
  HostFile file = {};
  const int32_t error =
      oom_forensics::HostLookAt(text, std::strlen(text), follow, &file);
  return Fill(error, file, target);
}

}  // namespace

extern "C" {

void emscripten_notify_memory_growth(size_t) {}

int getentropy(void* target, size_t size_bytes) {
  return __wasi_random_get(static_cast<uint8_t*>(target), size_bytes) == 0 ? 0
                                                                           : -1;
}

// Abseil reads names of days and months by it; in no time of ours are any.
char* strptime(const char*, const char*, tm*) { return nullptr; }

long __syscall_open(long path, long flags, ...) {
  const auto* const text = reinterpret_cast<const char*>(path);
  return oom_forensics::HostOpen(text, std::strlen(text), flags);
}

long __syscall_stat64(long path, long target) {
  return LookAt(path, true, target);
}

long __syscall_lstat64(long path, long target) {
  return LookAt(path, false, target);
}

long __syscall_fstat64(long file, long target) {
  HostFile found = {};
  const int32_t error = oom_forensics::HostLookAtOpen(file, &found);
  return Fill(error, found, target);
}

// Relative to an open folder: nobody asks for it.
long __syscall_fstatat64(long, long, long, long) { return -ENOSYS; }

// Nobody reads a link but who looks for the program's own path.
long __syscall_readlink(long, long, long) { return -ENOSYS; }

// One entry a call.
long __syscall_getdents64(long folder, long target, long /*size_bytes*/) {
  struct dirent entry = {};
  const int32_t length = oom_forensics::HostNextEntry(folder, entry.d_name,
                                                      sizeof(entry.d_name) - 1);
  if (length <= 0) return length;
  entry.d_ino = 1;
  entry.d_reclen = sizeof(entry);
  entry.d_type = DT_UNKNOWN;
  std::memcpy(reinterpret_cast<void*>(target), &entry, sizeof(entry));
  return sizeof(entry);
}

}  // extern "C"
