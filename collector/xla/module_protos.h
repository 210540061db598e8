// The modules that XLA has compiled, as TensorFlow's profiler writes them into
// its traces; without a profile.
#ifndef OOM_FORENSICS_COLLECTOR_XLA_MODULE_PROTOS_H_
#define OOM_FORENSICS_COLLECTOR_XLA_MODULE_PROTOS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/xla/libraries.h"
#include "collector/xla/modules.h"

namespace oom_forensics::collector {

struct ModuleProto {
  int64_t program_id = 0;
  std::string name;
  // xla.HloProto, serialised, with its buffer_assignment.
  std::string bytes;
  // XlaModule::compile_ns.
  uint64_t compile_ns = 0;
};

class ModuleProtoReader {
 public:
  // None if TensorFlow does not export what is needed; `why` is then a
  // sentence.
  static std::optional<ModuleProtoReader> Find(
      const TensorFlowLibraries& tensorflow, std::string* why);

  // Of every module that is alive; none, and a sentence, where it is not the
  // time to ask: while a profiler session of TensorFlow's traces (asking would
  // end its tracing, and its trace will hold them), or when they would take
  // more than kMaxEstimatedBytes of memory. Takes locks of XLA's that are never
  // held while something is allocated; may be called right after an allocation
  // has failed.
  std::vector<ModuleProto> Read(const XlaModules& modules,
                                std::string* why_not) const;

 private:
  static constexpr uint64_t kMaxEstimatedBytes = uint64_t{1} << 30;

  ModuleProtoReader() = default;

  // tsl::profiler::ProfilerLock::HasActiveSession(), of every library that has
  // one.
  std::vector<bool (*)()> has_active_session_;
  // xla::XlaDebugInfoManager::Get(), a pointer; null before the first module.
  void* const* manager_;
  void (*start_tracing_)(void* manager);
  void (*stop_tracing_)(void* manager, std::vector<void*>* protos);
  std::string (*serialize_)(const void* proto);
  void (*delete_proto_)(void* proto);
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_XLA_MODULE_PROTOS_H_
