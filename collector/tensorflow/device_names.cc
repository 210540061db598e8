#include "collector/tensorflow/device_names.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collector/library/hook_set.h"
#include "collector/library/vtable_patch.h"
#include "core/pool_name.h"

namespace oom_forensics::collector {
namespace {

// A factory and the class of what it makes. Where the functions are in the
// tables, those of pluggable devices tell, which every TensorFlow exports.
constexpr struct {
  const char* name;
  const char* mangled_factory;
  const char* mangled_device;
} kClasses[] = {
    {"tensorflow::PluggableDeviceFactory",
     "N10tensorflow22PluggableDeviceFactoryE",
     "N10tensorflow15PluggableDeviceE"},
    {"tensorflow::GPUDeviceFactory", "N10tensorflow16GPUDeviceFactoryE",
     "N10tensorflow9GPUDeviceE"},
};
constexpr size_t kClassCount = sizeof(kClasses) / sizeof(kClasses[0]);
constexpr char kFactoryBase[] = "N10tensorflow13DeviceFactoryE";
constexpr char kDeviceBase[] = "N10tensorflow10DeviceBaseE";
constexpr char kCreateDevices[] =
    "_ZN10tensorflow22PluggableDeviceFactory13CreateDevicesERKNS_"
    "14SessionOptionsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
    "PSt6vectorISt10unique_ptrINS_6DeviceESt14default_deleteISE_EESaISH_EE";
constexpr char kGetAllocator[] =
    "_ZN10tensorflow15PluggableDevice12GetAllocatorEN3tsl19AllocatorAttributes"
    "E";
constexpr char kName[] = "_ZNK10tensorflow6Device4nameB5cxx11Ev";

// Which CUDA device a logical device lies on.
constexpr char kPlatformDevice[] =
    "_ZN3tsl15DeviceIdManager20TfToPlatformDeviceIdERKNS_10DeviceTypeENS_3gtl7"
    "IntTypeINS_15TfDeviceId_tag_EiEEPNS5_INS_21PlatformDeviceId_tag_EiEE";
constexpr size_t kGpuClass = 1;

// std::vector<std::unique_ptr<Device>>.
struct DeviceVector {
  void** begin;
  void** end;
  void** end_of_storage;

  size_t size() const { return static_cast<size_t>(end - begin); }
};

// absl::Status CreateDevices(options, name_prefix, devices): by the System V
// ABI the caller passes the address of the result as a hidden first argument.
using CreateDevices = void* (*)(void* result, void* self, const void* options,
                                const void* name_prefix, DeviceVector* devices);
// AllocatorAttributes are eight bytes, all 0 for the device's own memory.
using GetAllocator = void* (*)(void* device, uint64_t attributes);
using DeviceName = const std::string& (*)(const void* device);
// absl::Status TfToPlatformDeviceId(type, id, platform_id): the result's
// address first, as above. A tsl::DeviceType is a std::string.
using PlatformDevice = void* (*)(void* result, const std::string* type, int id,
                                 int* platform_id);

struct Hooks {
  AllocatorTable* allocators = nullptr;
  DeviceName name = nullptr;
  // Null: this TensorFlow has none.
  PlatformDevice platform_device = nullptr;
  size_t get_allocator_slot = 0;
  CreateDevices create[kClassCount] = {};
  // Where devices of a class point to.
  void** device_tables[kClassCount] = {};
  HookSet slots;
};

// Set once, before the first hook is in place; never freed.
Hooks* g_hooks = nullptr;

// "/job:localhost/replica:0/task:0/device:GPU:1" as "/device:GPU:1".
std::string WithinProcess(std::string_view full_name) {
  const size_t begin = full_name.rfind("/device:");
  return begin == std::string_view::npos ? ""
                                         : std::string(full_name.substr(begin));
}

// The CUDA device of "/device:GPU:1"; -1: not known.
int CudaDeviceOf(const std::string& name) {
  const int id = GpuOrdinalOf("", name);
  if (id < 0 || g_hooks->platform_device == nullptr) return -1;
  int cuda_device = -1;
  // An absl::Status. One that is an error is not freed: the device is ours.
  void* status = nullptr;
  const std::string type = "GPU";
  g_hooks->platform_device(&status, &type, id, &cuda_device);
  return cuda_device;
}

void NameAllocatorOf(void* device, size_t device_class) noexcept {
  try {
    void** const table = *static_cast<void***>(device);
    if (table != g_hooks->device_tables[device_class]) return;
    const auto get_allocator =
        reinterpret_cast<GetAllocator>(table[g_hooks->get_allocator_slot]);
    const void* allocator = get_allocator(device, 0);
    std::string name = WithinProcess(g_hooks->name(device));
    if (allocator == nullptr || name.empty()) return;
    const int cuda_device = device_class == kGpuClass ? CudaDeviceOf(name) : -1;
    g_hooks->allocators->NameDevice(allocator, std::move(name), cuda_device);
  } catch (...) {  // bad_alloc: the device is not named
  }
}

template <size_t kClass>
void* HookedCreateDevices(void* result, void* self, const void* options,
                          const void* name_prefix, DeviceVector* devices) {
  const size_t known = devices->size();
  void* const status =
      g_hooks->create[kClass](result, self, options, name_prefix, devices);
  for (size_t i = known; i < devices->size(); ++i) {
    if (devices->begin[i] == nullptr) continue;
    NameAllocatorOf(devices->begin[i], kClass);
  }
  return status;
}
constexpr CreateDevices kHookedCreateDevices[kClassCount] = {
    HookedCreateDevices<0>, HookedCreateDevices<1>};

}  // namespace

std::string InstallDeviceNames(const TensorFlowLibrary& library,
                               AllocatorTable* allocators) {
  const VTable factory = library.FindVTable(kClasses[0].mangled_factory);
  const VTable device = library.FindVTable(kClasses[0].mangled_device);
  const auto create_slot = FindSlot(factory, library.Symbol(kCreateDevices));
  const auto allocator_slot = FindSlot(device, library.Symbol(kGetAllocator));
  auto* hooks = new Hooks;
  hooks->allocators = allocators;
  hooks->name = library.FunctionOf<DeviceName>(kName);
  hooks->platform_device = library.FunctionOf<PlatformDevice>(kPlatformDevice);
  if (!create_slot || !allocator_slot || hooks->name == nullptr) {
    delete hooks;
    return "names of devices: this TensorFlow's devices are not recognized";
  }
  hooks->get_allocator_slot = *allocator_slot;
  std::string sentences;
  for (size_t i = 0; i < kClassCount; ++i) {
    const VTable made_by = library.FindVTable(kClasses[i].mangled_factory);
    const VTable made = library.FindVTable(kClasses[i].mangled_device);
    const char* outcome = ": not in this TensorFlow";
    if (made_by.slots != nullptr && made.slots != nullptr) {
      outcome = ": not as expected; not touched";
      if (library.DerivesSinglyFrom(made_by, kFactoryBase) &&
          library.DerivesSinglyFrom(made, kDeviceBase) &&
          *create_slot < made_by.slot_count &&
          *allocator_slot < made.slot_count) {
        hooks->create[i] =
            reinterpret_cast<CreateDevices>(made_by.slots[*create_slot]);
        hooks->device_tables[i] = made.slots;
        hooks->slots.Add(made_by, *create_slot,
                         reinterpret_cast<void*>(kHookedCreateDevices[i]));
        outcome = ": hooked";
      }
    }
    if (!sentences.empty()) sentences += '\n';
    sentences +=
        std::string("names of devices of ") + kClasses[i].name + outcome;
  }
  g_hooks = hooks;
  if (!hooks->slots.SetActive(true)) {
    return "names of devices: the virtual tables of factories cannot be "
           "written; not touched";
  }
  return sentences;
}

}  // namespace oom_forensics::collector
