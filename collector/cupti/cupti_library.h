// CuptiLibrary: the functions of libcupti that the collector calls by itself.
// Nothing links libcupti: it is opened at run time, and only if it is there.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_CUPTI_LIBRARY_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_CUPTI_LIBRARY_H_

#include <cupti.h>

#include <optional>
#include <string>

#include "collector/cupti/record_reader.h"

namespace oom_forensics::cupti {

class CuptiLibrary {
 public:
  // The libcupti that is loaded in this process already (TensorFlow's); none if
  // there is none.
  static std::optional<CuptiLibrary> FindLoaded();

  // The loaded one, else the one that the dynamic linker finds. `why` says in
  // half a sentence why there is none.
  static std::optional<CuptiLibrary> Open(std::string* why);

  // The library at this path.
  static std::optional<CuptiLibrary> OpenPath(const char* path,
                                              std::string* why);

  // CUPTI_API_VERSION of the library; 0: it does not say.
  uint32_t version() const { return version_; }

  CUptiResult RegisterCallbacks(
      CUpti_BuffersCallbackRequestFunc request,
      CUpti_BuffersCallbackCompleteFunc complete) const {
    return register_callbacks_(request, complete);
  }
  CUptiResult Enable(CUpti_ActivityKind kind) const { return enable_(kind); }
  CUptiResult Disable(CUpti_ActivityKind kind) const { return disable_(kind); }
  // Gives back all buffers, also those that are not full.
  CUptiResult Flush() const;

  // Has CUPTI note the library that asked for each block. False before CUPTI
  // 12.6, which cannot. It costs CUPTI a walk up the stack at every allocation.
  bool EnableAllocationSource(bool enable) const;

  bool ReadClock(int64_t* now_ns) const;
  NextRecord next_record() const;
  // "CUPTI_ERROR_NOT_INITIALIZED".
  std::string NameOf(CUptiResult result) const;

 private:
  static std::optional<CuptiLibrary> FromHandle(void* handle, std::string* why);

  decltype(&cuptiActivityRegisterCallbacks) register_callbacks_ = nullptr;
  decltype(&cuptiActivityEnable) enable_ = nullptr;
  decltype(&cuptiActivityDisable) disable_ = nullptr;
  decltype(&cuptiActivityFlushAll) flush_ = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record_ = nullptr;
  decltype(&cuptiGetTimestamp) timestamp_ = nullptr;
  decltype(&cuptiGetResultString) result_string_ = nullptr;
  // Declared by hand: headers before CUDA 12.6 do not have it.
  CUptiResult (*allocation_source_)(uint8_t) = nullptr;
  uint32_t version_ = 0;
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_CUPTI_LIBRARY_H_
