// The StackTaker alone, for any Python to call by ctypes: what is tried with it
// needs no TensorFlow, so that every layout can be tried on its interpreter.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>
#include <string>

#include "collector/python/frame_origin.h"
#include "collector/python/stack_taker.h"
#include "collector/recording/stack_table.h"

namespace {

using oom_forensics::collector::StackTable;
using oom_forensics::collector::python::FrameOrigin;
using oom_forensics::collector::python::KnownFrame;
using oom_forensics::collector::python::SplitPrefixes;
using oom_forensics::collector::python::StackTaker;

StackTable& Table() {
  static auto* const table = new StackTable;
  return *table;
}

StackTaker& Taker() {
  static auto* const taker = [] {
    pthread_atfork([] { Table().lock().lock(); },
                   [] { Table().lock().unlock(); },
                   [] { Table().lock().unlock(); });
    return new StackTaker(&Table());
  }();
  return *taker;
}

const void* ThreadState() {
  static const auto state = reinterpret_cast<void* (*)()>(
      dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
  return state();
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// As OomForensics_StartStacks(); the sentence lives until the next call.
EXPORT const char* Probe_Start(uint32_t hexversion, const KnownFrame* frames,
                               uint64_t count) {
  static std::string why;
  why = Taker().Start(hexversion, dlsym(RTLD_DEFAULT, "_PyRuntime"),
                      ThreadState(), frames, count);
  return why.empty() ? nullptr : why.c_str();
}

EXPORT void Probe_SetLibraries(const char* prefixes) {
  Taker().SetOrigin(FrameOrigin(SplitPrefixes(prefixes), {}));
}

// The stack of the calling thread; 0: none.
EXPORT uint32_t Probe_Take() {
  const void* const state = ThreadState();
  return state == nullptr ? 0 : Taker().Take(state);
}

// "file\x1fline\x1ffunction\n" for each frame, innermost first; with a '*'
// before a library's. Lives until the thread's next call.
EXPORT const char* Probe_Text(uint32_t stack) {
  static thread_local std::string text;
  text.clear();
  for (const auto& frame : *Table().Snapshot().at(stack - 1)) {
    if (frame.is_library) text += '*';
    text += frame.file;
    text += '\x1f' + std::to_string(frame.line) + '\x1f';
    text += frame.function;
    text += '\n';
  }
  return text.c_str();
}

EXPORT uint64_t Probe_Dropped() { return Table().dropped(); }

// Takes so many stacks; for measuring.
EXPORT void Probe_TakeMany(uint64_t count) {
  const void* const state = ThreadState();
  for (uint64_t i = 0; i < count; ++i) Taker().Take(state);
}
