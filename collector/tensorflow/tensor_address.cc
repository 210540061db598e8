#include "collector/tensorflow/tensor_address.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "collector/python/memory_access.h"

namespace oom_forensics::collector {
namespace {

using python::CheckedMemory;
using python::ReadValue;

// As the type information has them.
constexpr std::string_view kTensorBuffer = "N10tensorflow12TensorBufferE";
constexpr std::string_view kResourceBuffer =
    "N10tensorflow12_GLOBAL__N_16BufferINS_14ResourceHandleEEE";

// tensorflow::TensorBuffer: a virtual table, a reference count, the data.
constexpr uint64_t kDataOfBuffer = 16;

// A pointer in objects of one class that leads to an object of another.
struct Link {
  // The name of the class that it leads to.
  std::string_view to;
  // Where it is searched for. The objects are at least as large in the
  // TensorFlows looked at (2.15 to 2.21).
  uint64_t within_bytes;
  // Where it was the last time, in words.
  std::atomic<uint64_t> usual = 0;
};

Link g_handle_of_tensor = {"N10tensorflow12TensorHandleE", 128};
Link g_buffer_of_handle = {kTensorBuffer, 384};
Link g_variable_of_resource = {"N10tensorflow3VarE", 288};
Link g_buffer_of_variable = {kTensorBuffer, 96};

// From a class to its base, at most.
constexpr int kMostBases = 4;

// The type information of a class with at most one base: a virtual table, the
// mangled name, the base's.
struct TypeInfo {
  uint64_t vtable;
  uint64_t name;
  uint64_t base;
};

bool IsPointer(uint64_t value) {
  return value >= 4096 && value < uint64_t{1} << 47 && value % 8 == 0;
}

// Whether a type information is that of the class `name`.
bool IsNamed(const CheckedMemory& memory, const TypeInfo& type,
             std::string_view name) {
  std::array<char, 80> text;
  // With the null byte. GCC marks names of unnamed namespaces.
  char first = 0;
  if (!ReadValue(memory, type.name, &first)) return false;
  const uint64_t begin = type.name + (first == '*' ? 1 : 0);
  return name.size() < text.size() &&
         memory.Read(begin, text.data(), name.size() + 1) &&
         std::string_view(text.data(), name.size()) == name &&
         text[name.size()] == '\0';
}

// Whether `object` is one of the class `name`, or of a class derived from it.
bool IsA(const CheckedMemory& memory, uint64_t object, std::string_view name) {
  uint64_t vtable = 0;
  uint64_t info = 0;
  if (!IsPointer(object) || !ReadValue(memory, object, &vtable) ||
      !IsPointer(vtable) || !ReadValue(memory, vtable - 8, &info)) {
    return false;
  }
  for (int i = 0; i < kMostBases && IsPointer(info); ++i) {
    TypeInfo type;
    if (!ReadValue(memory, info, &type)) return false;
    if (IsNamed(memory, type, name)) return true;
    info = type.base;
  }
  return false;
}

// Where `link` of an object leads to; 0: to nothing that is expected.
uint64_t Follow(const CheckedMemory& memory, uint64_t object, Link* link) {
  const uint64_t usual = link->usual.load(std::memory_order_relaxed);
  const auto leads_on = [&](uint64_t word, uint64_t* to) {
    return ReadValue(memory, object + 8 * word, to) &&
           IsA(memory, *to, link->to);
  };
  uint64_t to = 0;
  if (leads_on(usual, &to)) return to;
  for (uint64_t word = 0; word < link->within_bytes / 8; ++word) {
    if (!leads_on(word, &to)) continue;
    link->usual.store(word, std::memory_order_relaxed);
    return to;
  }
  return 0;
}

// The buffer that an object refers to, and where its data lie; 0: not known.
struct Buffer {
  uint64_t object = 0;
  uint64_t data = 0;
};
Buffer BufferOf(const CheckedMemory& memory, uint64_t object, Link* link) {
  Buffer buffer;
  buffer.object = Follow(memory, object, link);
  if (buffer.object != 0 &&
      !ReadValue(memory, buffer.object + kDataOfBuffer, &buffer.data)) {
    return {};
  }
  return buffer;
}

}  // namespace

uint64_t TensorAddress(uint64_t object) {
  const CheckedMemory memory;
  const uint64_t handle = Follow(memory, object, &g_handle_of_tensor);
  if (handle == 0) return 0;
  const Buffer buffer = BufferOf(memory, handle, &g_buffer_of_handle);
  if (!IsA(memory, buffer.object, kResourceBuffer)) return buffer.data;
  const uint64_t variable =
      Follow(memory, buffer.data, &g_variable_of_resource);
  if (variable == 0) return 0;
  return BufferOf(memory, variable, &g_buffer_of_variable).data;
}

}  // namespace oom_forensics::collector
