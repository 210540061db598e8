// Python's arenas: what it takes from the system for its pools of small objects
// (pymalloc), which malloc knows nothing of. Python is asked once how many
// there are, and from then on told of each by way of its arena allocator.
#ifndef OOM_FORENSICS_COLLECTOR_BLACK_BOX_PYTHON_ARENAS_H_
#define OOM_FORENSICS_COLLECTOR_BLACK_BOX_PYTHON_ARENAS_H_

#include <cstddef>
#include <cstdint>

namespace oom_forensics::collector {

// What is called, in the thread that takes an arena or gives it back.
struct ArenaListener {
  void (*taken)(void* address, size_t bytes) = nullptr;
  void (*given_back)(void* address) = nullptr;
};

// To be set before WatchPythonArenas() is called.
void ListenToPythonArenas(const ArenaListener& listener);

// Begins to count. To be called once, with Python's lock held; does nothing
// where a function of Python is missing.
void WatchPythonArenas() noexcept;

// What all of them take; 0: they are not counted.
uint64_t PythonArenaBytes() noexcept;

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_BLACK_BOX_PYTHON_ARENAS_H_
