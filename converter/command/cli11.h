// CLI11, without std::filesystem: the C++ library for WebAssembly has none.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_CLI11_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_CLI11_H_

#define CLI11_HAS_FILESYSTEM 0
#include <CLI/CLI.hpp>

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_CLI11_H_
