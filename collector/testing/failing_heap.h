// A heap that fails: a test that links this has another operator new, so no
// sanitizer can go with it, as they replace it too (tags no-asan, no-tsan).
#ifndef OOM_FORENSICS_COLLECTOR_TESTING_FAILING_HEAP_H_
#define OOM_FORENSICS_COLLECTOR_TESTING_FAILING_HEAP_H_

namespace oom_forensics::collector::test {

// The next `allocations` of this thread still succeed; later ones throw
// std::bad_alloc.
void FailHeapAfter(int allocations);

// All succeed again.
void MendHeap();

// How many of them are left; -1: the heap does not fail.
int AllocationsLeft();

// Whether one failed since FailHeapAfter().
bool HasHeapFailed();

}  // namespace oom_forensics::collector::test

#endif  // OOM_FORENSICS_COLLECTOR_TESTING_FAILING_HEAP_H_
