#include "collector/xla/module_hooks.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include "collector/library/hook_set.h"
#include "collector/python/memory_access.h"
#include "collector/xla/function_name.h"
#include "collector/xla/program_id.h"
#include "collector/xla/runs.h"

namespace oom_forensics::collector {
namespace {

// In which form RegisterModule(std::shared_ptr<const HloModule>, ...) gets the
// BufferAssignment. By the ABI each is passed by its address.
enum class AssignmentForm {
  // std::shared_ptr<const BufferAssignment>
  kShared,
  // BufferAssignmentProto
  kProto,
  // std::shared_ptr<const BufferAssignmentProto>
  kSharedProto,
};

constexpr struct {
  const char* register_module;
  AssignmentForm form;
} kRegisterModules[] = {
    {"_ZN3xla19XlaDebugInfoManager14RegisterModuleESt10shared_ptrIKNS_"
     "9HloModuleEES1_IKNS_16BufferAssignmentEE",
     AssignmentForm::kShared},
    {"_ZN3xla19XlaDebugInfoManager14RegisterModuleESt10shared_ptrIKNS_"
     "9HloModuleEENS_21BufferAssignmentProtoE",
     AssignmentForm::kProto},
    {"_ZN3xla19XlaDebugInfoManager14RegisterModuleESt10shared_ptrIKNS_"
     "9HloModuleEES1_IKNS_21BufferAssignmentProtoEE",
     AssignmentForm::kSharedProto},
};
constexpr char kUnregisterModule[] =
    "_ZN3xla19XlaDebugInfoManager16UnregisterModuleEi";
constexpr char kNextModuleId[] = "_ZN3xla9HloModule22next_unique_module_id_E";
constexpr char kInstructionCount[] = "_ZNK3xla9HloModule17instruction_countEv";
constexpr char kAssignmentToProto[] = "_ZNK3xla16BufferAssignment7ToProtoEv";
constexpr char kDestroyAssignmentProto[] = "_ZN3xla21BufferAssignmentProtoD1Ev";
constexpr char kSerialize[] =
    "_ZNK6google8protobuf11MessageLite17SerializeAsStringB5cxx11Ev";
// Its destructor reads the id of its module.
constexpr char kExecutableDestructor[] = "_ZN3xla3cpu13CpuExecutableD1Ev";

// A generous average for an instruction in a HloModuleProto.
constexpr uint64_t kBytesPerInstruction = 1024;

using RegisterModule = void (*)(void* self, const void* module,
                                const void* assignment);
using UnregisterModule = void (*)(void* self, int id);

struct Hooks {
  XlaModules* modules = nullptr;
  AssignmentForm form = AssignmentForm::kShared;
  RegisterModule register_module = nullptr;
  UnregisterModule unregister_module = nullptr;
  // In a HloModule, of its std::string name and its int id.
  size_t name_offset = 0;
  size_t id_offset = 0;
  const int* next_module_id = nullptr;
  int64_t (*instruction_count)(const void* module) = nullptr;
  // By the System V ABI the caller passes the address of the result as a hidden
  // first argument.
  void* (*to_proto)(void* result, const void* assignment) = nullptr;
  void (*destroy_proto)(void* proto) = nullptr;
  std::string (*serialize)(const void* proto) = nullptr;
  HookSet slots;
};

// Set once, before the first hook is in place; never freed.
Hooks* g_hooks = nullptr;

// What a std::shared_ptr at `address` points to.
const void* Shared(const void* address) {
  return *static_cast<const void* const*>(address);
}

// Larger than a BufferAssignmentProto.
struct alignas(std::max_align_t) ResultBuffer {
  unsigned char bytes[1024];
};

std::string SerializedAssignment(const Hooks& hooks, const void* assignment) {
  if (hooks.form == AssignmentForm::kProto) return hooks.serialize(assignment);
  const void* const object = Shared(assignment);
  if (object == nullptr) return "";
  if (hooks.form == AssignmentForm::kSharedProto) {
    return hooks.serialize(object);
  }
  ResultBuffer proto = {};
  hooks.to_proto(&proto, object);
  std::string serialized = hooks.serialize(&proto);
  hooks.destroy_proto(&proto);
  return serialized;
}

// Nothing if it does not look like a name. Where it lies is assumed, and so
// what is there may be no pointer: the kernel is asked.
std::string NameOf(const Hooks& hooks, const void* module) {
  constexpr size_t kLongest = 4096;
  struct Text {
    uint64_t data;
    uint64_t size;
  } text;
  const python::CheckedMemory memory;
  if (!ReadValue(memory, reinterpret_cast<uint64_t>(module) + hooks.name_offset,
                 &text) ||
      text.size == 0 || text.size > kLongest) {
    return "";
  }
  std::string name(text.size, '\0');
  if (!memory.Read(text.data, name.data(), name.size())) return "";
  for (const char c : name) {
    if (c <= ' ' || c > '~') return "";
  }
  return name;
}

int64_t ProgramIdOf(const Hooks& hooks, const void* module) {
  int id;
  std::memcpy(&id, static_cast<const char*>(module) + hooks.id_offset,
              sizeof(id));
  const int next = __atomic_load_n(hooks.next_module_id, __ATOMIC_ACQUIRE);
  return id >= 0 && id < next ? id : kNoProgram;
}

void Learn(const Hooks& hooks, const void* hlo_module,
           const void* assignment) noexcept {
  try {
    XlaModule module;
    module.name = NameOf(hooks, hlo_module);
    if (module.name.empty()) return;
    module.function = FunctionNameOf(module.name);
    module.program_id = ProgramIdOf(hooks, hlo_module);
    module.plan = PlanOf(SerializedAssignment(hooks, assignment));
    module.compile_ns = NsSinceLaunch();
    module.estimated_proto_bytes =
        static_cast<uint64_t>(hooks.instruction_count(hlo_module)) *
            kBytesPerInstruction +
        module.plan.constant_bytes;
    hooks.modules->Add(hlo_module, std::move(module));
  } catch (...) {  // bad_alloc: what this module allocates is not named
  }
}

void HookedRegisterModule(void* self, const void* module,
                          const void* assignment) {
  const Hooks& hooks = *g_hooks;
  // Before: its arguments are its own to move away.
  if (Shared(module) != nullptr) Learn(hooks, Shared(module), assignment);
  hooks.register_module(self, module, assignment);
}

void HookedUnregisterModule(void* self, int id) {
  const Hooks& hooks = *g_hooks;
  // Before it is gone: its address may be reused at once.
  hooks.modules->Remove(id);
  hooks.unregister_module(self, id);
}

// What is missing, as a sentence; nothing if all was found.
std::string FindAll(const TensorFlowLibraries& tensorflow, Hooks* hooks,
                    VTable* registers, VTable* unregisters) {
  for (const auto& candidate : kRegisterModules) {
    hooks->form = candidate.form;
    if (tensorflow.Find(candidate.register_module, &hooks->register_module)) {
      break;
    }
  }
  if (hooks->register_module == nullptr ||
      !tensorflow.Find(kUnregisterModule, &hooks->unregister_module) ||
      !tensorflow.Find(kNextModuleId, &hooks->next_module_id) ||
      !tensorflow.Find(kInstructionCount, &hooks->instruction_count) ||
      !tensorflow.Find(kAssignmentToProto, &hooks->to_proto) ||
      !tensorflow.Find(kDestroyAssignmentProto, &hooks->destroy_proto) ||
      !tensorflow.Find(kSerialize, &hooks->serialize)) {
    return "this TensorFlow does not export what registers them";
  }
  const TensorFlowLibrary& implementation = tensorflow.implementation;
  *registers = implementation.FindCallSlot(
      reinterpret_cast<const void*>(hooks->register_module));
  *unregisters = implementation.FindCallSlot(
      reinterpret_cast<const void*>(hooks->unregister_module));
  if (registers->slots == nullptr || unregisters->slots == nullptr) {
    return "this TensorFlow registers them in another way";
  }
  const auto offset = OffsetOfPassedId(
      implementation.CodeOf(kExecutableDestructor), unregisters->slots);
  if (!offset.has_value()) return "where their ids lie is not recognized";
  hooks->id_offset = *offset;
  // Its first member; before it the virtual table, in versions that have one.
  const VTable module = tensorflow.FindVTable("N3xla9HloModuleE");
  hooks->name_offset = module.slots == nullptr ? 0 : sizeof(void*);
  return "";
}

}  // namespace

HookReport InstallModuleHooks(const TensorFlowLibraries& tensorflow,
                              XlaModules* modules) {
  constexpr char kWhat[] = "modules of compiled functions";
  HookReport report;
  auto* hooks = new Hooks;
  hooks->modules = modules;
  VTable registers;
  VTable unregisters;
  const std::string missing =
      FindAll(tensorflow, hooks, &registers, &unregisters);
  if (!missing.empty()) {
    report.sentences = std::string(kWhat) + ": " + missing + "; not touched";
    delete hooks;
    return report;
  }
  // Ends first: a module must not stay known that is gone.
  hooks->slots.Add(unregisters, 0,
                   reinterpret_cast<void*>(&HookedUnregisterModule));
  hooks->slots.Add(registers, 0,
                   reinterpret_cast<void*>(&HookedRegisterModule));
  g_hooks = hooks;
  report.hooked = hooks->slots.SetActive(true);
  report.sentences = std::string(kWhat) +
                     (report.hooked ? ": hooked"
                                    : ": calls of XLA cannot be redirected; "
                                      "not touched");
  return report;
}

}  // namespace oom_forensics::collector
