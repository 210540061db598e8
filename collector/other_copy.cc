#include "collector/other_copy.h"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>
#include <vector>

#include "collector/c_api.h"

namespace oom_forensics::collector {
namespace {

constexpr std::string_view kFileName = "/liboom_forensics_collector.so";

// No library may be opened while they are listed.
std::vector<std::string> LoadedCopies() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        const std::string_view path = info->dlpi_name;
        if (path.size() > kFileName.size() &&
            path.substr(path.size() - kFileName.size()) == kFileName) {
          static_cast<std::vector<std::string>*>(data)->emplace_back(path);
        }
        return 0;
      },
      &paths);
  return paths;
}

}  // namespace

bool OtherCopyIsAtWork() {
  for (const std::string& path : LoadedCopies()) {
    void* const copy = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
    if (copy == nullptr) continue;
    const auto status = reinterpret_cast<decltype(&OomForensics_Status)>(
        dlsym(copy, "OomForensics_Status"));
    if (status == nullptr || status == &OomForensics_Status) continue;
    char* const json = status();
    const bool loaded =
        std::string_view(json).find(R"("loaded":true)") != std::string::npos;
    OomForensics_Free(json);
    if (loaded) return true;
  }
  return false;
}

}  // namespace oom_forensics::collector
