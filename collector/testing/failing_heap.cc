#include "collector/testing/failing_heap.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local int t_left = -1;
thread_local bool t_failed = false;

void* Allocate(std::size_t bytes) {
  if (t_left == 0) {
    t_failed = true;
    throw std::bad_alloc();
  }
  if (t_left > 0) --t_left;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes); }
void* operator new[](std::size_t bytes) { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace oom_forensics::collector::test {

void FailHeapAfter(int allocations) {
  t_failed = false;
  t_left = allocations;
}

void MendHeap() { t_left = -1; }

int AllocationsLeft() { return t_left; }

bool HasHeapFailed() { return t_failed; }

}  // namespace oom_forensics::collector::test
