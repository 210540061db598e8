#include "collector/cupti/cupti_library.h"

#include <dlfcn.h>

#include <cstdint>

namespace oom_forensics::cupti {
namespace {

// Newest first; the numbers are CUDA's major versions.
constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12",
                                  "libcupti.so.11.8", "libcupti.so"};

CUptiResult CallNextRecord(void* self, uint8_t* buffer, size_t valid_bytes,
                           CUpti_Activity** record) {
  return reinterpret_cast<decltype(&cuptiActivityGetNextRecord)>(self)(
      buffer, valid_bytes, record);
}

}  // namespace

std::optional<CuptiLibrary> CuptiLibrary::FindLoaded() {
  for (const char* name : kNames) {
    void* const handle = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
    std::string why;
    if (handle != nullptr) return FromHandle(handle, &why);
  }
  return std::nullopt;
}

std::optional<CuptiLibrary> CuptiLibrary::Open(std::string* why) {
  if (const auto loaded = FindLoaded()) return loaded;
  for (const char* name : kNames) {
    void* const handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (handle != nullptr) return FromHandle(handle, why);
  }
  *why = "libcupti is not installed where the dynamic linker looks";
  return std::nullopt;
}

std::optional<CuptiLibrary> CuptiLibrary::OpenPath(const char* path,
                                                   std::string* why) {
  void* const handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) return FromHandle(handle, why);
  *why = std::string(path) + " cannot be opened";
  return std::nullopt;
}

std::optional<CuptiLibrary> CuptiLibrary::FromHandle(void* handle,
                                                     std::string* why) {
  CuptiLibrary library;
  bool complete = true;
  const auto find = [&](auto* function, const char* name) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(
        dlsym(handle, name));
    complete = complete && *function != nullptr;
  };
  find(&library.register_callbacks_, "cuptiActivityRegisterCallbacks");
  find(&library.enable_, "cuptiActivityEnable");
  find(&library.disable_, "cuptiActivityDisable");
  find(&library.flush_, "cuptiActivityFlushAll");
  find(&library.next_record_, "cuptiActivityGetNextRecord");
  find(&library.timestamp_, "cuptiGetTimestamp");
  find(&library.result_string_, "cuptiGetResultString");
  decltype(&cuptiGetVersion) get_version = nullptr;
  find(&get_version, "cuptiGetVersion");
  if (!complete) {
    *why = "libcupti lacks a function that is needed";
    return std::nullopt;
  }
  library.allocation_source_ = reinterpret_cast<CUptiResult (*)(uint8_t)>(
      dlsym(handle, "cuptiActivityEnableAllocationSource"));
  if (get_version(&library.version_) != CUPTI_SUCCESS) library.version_ = 0;
  return library;
}

CUptiResult CuptiLibrary::Flush() const {
  return flush_(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

bool CuptiLibrary::EnableAllocationSource(bool enable) const {
  return allocation_source_ != nullptr &&
         allocation_source_(enable ? 1 : 0) == CUPTI_SUCCESS;
}

bool CuptiLibrary::ReadClock(int64_t* now_ns) const {
  uint64_t now = 0;
  if (timestamp_(&now) != CUPTI_SUCCESS || now == 0) return false;
  *now_ns = static_cast<int64_t>(now);
  return true;
}

NextRecord CuptiLibrary::next_record() const {
  return {&CallNextRecord, reinterpret_cast<void*>(next_record_)};
}

std::string CuptiLibrary::NameOf(CUptiResult result) const {
  const char* name = nullptr;
  if (result_string_(result, &name) != CUPTI_SUCCESS || name == nullptr) {
    return "CUPTI error " + std::to_string(result);
  }
  return name;
}

}  // namespace oom_forensics::cupti
