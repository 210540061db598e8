#include "collector/black_box/python_arenas.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace oom_forensics::collector {
namespace {

// PyObjectArenaAllocator of Python's C interface.
struct ArenaAllocator {
  void* context;
  void* (*alloc)(void* context, size_t bytes);
  void (*free)(void* context, void* address, size_t bytes);
};

ArenaListener g_listener;
// Set once, with Python's lock held.
ArenaAllocator g_original;
std::atomic<uint64_t> g_bytes{0};

void* CountedAlloc(void* context, size_t bytes) {
  void* const address = g_original.alloc(context, bytes);
  if (address == nullptr) return address;
  g_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (g_listener.taken != nullptr) g_listener.taken(address, bytes);
  return address;
}

void CountedFree(void* context, void* address, size_t bytes) {
  if (g_listener.given_back != nullptr) g_listener.given_back(address);
  g_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  g_original.free(context, address, bytes);
}

// What there is by now, of the line "119 arenas * 1048576 bytes/arena" of
// Python's own statistics.
uint64_t BytesSoFar(void (*write_statistics)(FILE*)) {
  char* text = nullptr;
  size_t length = 0;
  FILE* const file = open_memstream(&text, &length);
  if (file == nullptr) return 0;
  write_statistics(file);
  fclose(file);
  constexpr char kTimes[] = " arenas * ";
  uint64_t bytes = 0;
  if (char* const times = text == nullptr ? nullptr : strstr(text, kTimes)) {
    const char* count = times;
    while (count != text && count[-1] != '\n') --count;
    bytes = strtoull(count, nullptr, 10) *
            strtoull(times + strlen(kTimes), nullptr, 10);
  }
  free(text);
  return bytes;
}

template <typename Function>
Function Find(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

void ListenToPythonArenas(const ArenaListener& listener) {
  g_listener = listener;
}

void WatchPythonArenas() noexcept {
  using Exchange = void (*)(ArenaAllocator*);
  const auto get = Find<Exchange>("PyObject_GetArenaAllocator");
  const auto set = Find<Exchange>("PyObject_SetArenaAllocator");
  const auto write_statistics =
      Find<void (*)(FILE*)>("_PyObject_DebugMallocStats");
  if (get == nullptr || set == nullptr || write_statistics == nullptr) return;
  get(&g_original);
  g_bytes = BytesSoFar(write_statistics);
  ArenaAllocator counted = {g_original.context, CountedAlloc, CountedFree};
  set(&counted);
}

uint64_t PythonArenaBytes() noexcept {
  return g_bytes.load(std::memory_order_relaxed);
}

}  // namespace oom_forensics::collector
