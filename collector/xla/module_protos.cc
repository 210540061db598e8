#include "collector/xla/module_protos.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <utility>

namespace oom_forensics::collector {
namespace {

// Field numbers of xla/service/hlo.proto.
namespace hlo_proto {
enum Field : uint32_t { kHloModule = 1 };
}
namespace hlo_module {
enum Field : uint32_t { kName = 1, kId = 5 };
}

constexpr char kHasActiveSession[] =
    "_ZN3tsl8profiler12ProfilerLock16HasActiveSessionEv";

// Fills in name and id from the bytes; false if they are not as known.
bool Identify(ModuleProto* module) {
  try {
    protozero::pbf_reader proto(module->bytes);
    if (!proto.next(hlo_proto::kHloModule)) return false;
    protozero::pbf_reader fields = proto.get_message();
    while (fields.next()) {
      if (fields.tag() == hlo_module::kName) {
        module->name = fields.get_string();
      } else if (fields.tag() == hlo_module::kId) {
        module->program_id = fields.get_int64();
      } else {
        fields.skip();
      }
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return !module->name.empty();
}

}  // namespace

std::optional<ModuleProtoReader> ModuleProtoReader::Find(
    const TensorFlowLibraries& tensorflow, std::string* why) {
  ModuleProtoReader reader;
  bool complete = true;
  const auto find = [&](auto** place, const char* name) {
    if (!tensorflow.Find(name, place) && complete) {
      complete = false;
      *why = std::string("TensorFlow does not export ") + name;
    }
  };
  // In 2.18 each library has one of its own, and only one of them is used.
  for (const TensorFlowLibrary* library :
       {&tensorflow.framework, &tensorflow.implementation}) {
    const auto function = library->FunctionOf<bool (*)()>(kHasActiveSession);
    if (function != nullptr) reader.has_active_session_.push_back(function);
  }
  if (reader.has_active_session_.empty()) {
    *why = std::string("TensorFlow does not export ") + kHasActiveSession;
    return std::nullopt;
  }
  find(&reader.manager_, "_ZZN3xla19XlaDebugInfoManager3GetEvE9singleton");
  find(&reader.start_tracing_, "_ZN3xla19XlaDebugInfoManager12StartTracingEv");
  find(&reader.stop_tracing_,
       "_ZN3xla19XlaDebugInfoManager11StopTracingEPSt6vectorISt10unique_ptrINS_"
       "8HloProtoESt14default_deleteIS3_EESaIS6_EE");
  find(&reader.serialize_,
       "_ZNK6google8protobuf11MessageLite17SerializeAsStringB5cxx11Ev");
  find(&reader.delete_proto_, "_ZN3xla8HloProtoD0Ev");
  if (!complete) return std::nullopt;
  return reader;
}

std::vector<ModuleProto> ModuleProtoReader::Read(const XlaModules& modules,
                                                 std::string* why_not) const {
  void* const manager = *manager_;
  if (manager == nullptr) return {};
  if (std::any_of(has_active_session_.begin(), has_active_session_.end(),
                  [](const auto& is_active) { return is_active(); })) {
    *why_not =
        "a profiler session of TensorFlow's was running; its trace holds them";
    return {};
  }
  if (modules.EstimatedProtoBytes() > kMaxEstimatedBytes) {
    *why_not = "all modules of this process together are too large to read";
    return {};
  }
  // std::vector<std::unique_ptr<HloProto>>, whose elements are ours to delete.
  std::vector<void*> protos;
  start_tracing_(manager);
  stop_tracing_(manager, &protos);
  std::vector<ModuleProto> result;
  for (void* proto : protos) {
    if (proto == nullptr) continue;
    ModuleProto module;
    module.bytes = serialize_(proto);
    delete_proto_(proto);
    if (!Identify(&module)) continue;
    module.compile_ns = modules.CompileNs(module.program_id);
    result.push_back(std::move(module));
  }
  return result;
}

}  // namespace oom_forensics::collector
