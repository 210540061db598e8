// What the C library would ask of a system that a WebAssembly module does not
// have: there are no files but those of input/memory_files.h, and nobody to
// tell of memory that grows. WASI's functions stay the host's.
#include <cerrno>
#include <cstddef>

extern "C" {

void emscripten_notify_memory_growth(size_t) {}

long __syscall_stat64(long, long) { return -ENOSYS; }
long __syscall_lstat64(long, long) { return -ENOSYS; }
long __syscall_fstat64(long, long) { return -ENOSYS; }
long __syscall_fstatat64(long, long, long, long) { return -ENOSYS; }

}  // extern "C"
