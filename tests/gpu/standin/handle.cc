#include "tests/gpu/standin/handle.h"

#include <map>
#include <mutex>

#include "tests/gpu/standin/device.h"
#include "tests/gpu/standin/settings.h"

namespace standin_gpu {
namespace {

std::mutex& TheMutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

std::map<void*, Device*>& Owners() {
  static auto* owners = new std::map<void*, Device*>;
  return *owners;
}

}  // namespace

bool MakeHandle(const char* library, void** handle) {
  if (IsBroken(library)) return false;
  const auto current = static_cast<size_t>(CurrentDevice());
  if (current >= Devices().size()) return false;
  Device* const device = Devices()[current];
  if (!device->Take(LibraryBytes(library))) return false;
  *handle = NewHandle();
  const std::lock_guard<std::mutex> lock(TheMutex());
  Owners()[*handle] = device;
  return true;
}

void EndHandle(const char* library, void* handle) {
  const std::lock_guard<std::mutex> lock(TheMutex());
  const auto owner = Owners().find(handle);
  if (owner == Owners().end()) return;
  owner->second->Give(LibraryBytes(library));
  Owners().erase(owner);
}

}  // namespace standin_gpu
