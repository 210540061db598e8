// What the program around the module does for it, beyond WASI: imports of
// "oom_forensics" (plugin/oom_forensics/webassembly/host.py).
#ifndef OOM_FORENSICS_CONVERTER_WASM_HOST_FILES_H_
#define OOM_FORENSICS_CONVERTER_WASM_HOST_FILES_H_

#include <cstddef>
#include <cstdint>

#define OOM_FORENSICS_IMPORT(name) \
  extern "C" __attribute__((import_module("oom_forensics"), import_name(#name)))

namespace oom_forensics {

// A file or a folder as the host has it.
struct HostFile {
  // Together the same for two paths of one file only.
  uint64_t device;
  uint64_t number;
  uint64_t size_bytes;
  int64_t modified_ns;
  // S_IFREG, S_IFDIR, or something else.
  uint32_t mode;
};

// The functions below that return int32_t return a negative errno on failure.
// Paths are UTF-8, with "/" between folders.

// A file descriptor; WASI reads, writes and closes it. `flags` are O_*.
OOM_FORENSICS_IMPORT(open)
int32_t HostOpen(const char* path, size_t path_bytes, int32_t flags);

// Looks at what a link leads to, if `follow`.
OOM_FORENSICS_IMPORT(look_at)
int32_t HostLookAt(const char* path, size_t path_bytes, bool follow,
                   HostFile* file);

OOM_FORENSICS_IMPORT(look_at_open)
int32_t HostLookAtOpen(int32_t file, HostFile* found);

// The name of the next entry of an open folder, its bytes returned, 0 at the
// end.
OOM_FORENSICS_IMPORT(next_entry)
int32_t HostNextEntry(int32_t folder, char* name, size_t size_bytes);

// Whether standard input can be read without waiting, or has ended.
OOM_FORENSICS_IMPORT(has_input) bool HostHasInput();

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_WASM_HOST_FILES_H_
