// Settings of the stand-in, from the environment. tools/standin_gpu sets them;
// README.md in this folder lists them.
#ifndef OOM_FORENSICS_TESTS_GPU_STANDIN_SETTINGS_H_
#define OOM_FORENSICS_TESTS_GPU_STANDIN_SETTINGS_H_

#include <cstddef>
#include <string>

namespace standin_gpu {

// What a real device of that name says of itself.
struct Model {
  const char* id;
  const char* name;
  int major;
  int minor;
  int multiprocessors;
  size_t total_bytes;
  // What cuMemGetInfo lacks after a context was made.
  size_t context_bytes;
};

struct Settings {
  Model model;
  int devices = 1;
  // A number of MiB, or a file with one: what other processes hold.
  std::string others;
  // Libraries' own memory, "cudnn=64MiB,cublas=32MiB"; see LibraryBytes().
  std::string libraries;
  // A file that every call without an answer of its own is appended to.
  std::string trace;
};

// Read once, at the first call.
const Settings& TheSettings();

// What others hold on each device now.
size_t OtherBytes();

// What a handle of `library` takes on the device.
size_t LibraryBytes(const char* library);

// "cudnn=broken": its handles are refused whatever is free.
bool IsBroken(const char* library);

// "64MiB", "2GiB", "4096": bytes. 0 if it is not a size.
size_t ParseBytes(const std::string& text);

}  // namespace standin_gpu

#endif  // OOM_FORENSICS_TESTS_GPU_STANDIN_SETTINGS_H_
