// HostHooks: sees the process's end where it ends itself (abort(), _exit()).
// And, if asked for, stands between libraries and malloc, so that blocks of
// NumPy, of other libraries and of Python have the line of the program that
// asked for them. TensorFlow's own libraries and the C++ library are left
// alone: their tensors are seen where TensorFlow allocates them. Where another
// malloc than glibc's is in use, it is left alone.
#ifndef OOM_FORENSICS_COLLECTOR_BLACK_BOX_HOST_HOOKS_H_
#define OOM_FORENSICS_COLLECTOR_BLACK_BOX_HOST_HOOKS_H_

#include <string>

#include "collector/black_box/host_blocks.h"
#include "collector/python/stack_taker.h"

namespace oom_forensics::collector {

// What is called as the process ends; a handler of a signal may call it, too.
struct Endings {
  // By _exit(0).
  void (*well)() = nullptr;
  // By SIGTERM or Ctrl-C, where it has no handler.
  void (*as_asked)() = nullptr;
};

// To be called once; all must live as long as the process. Returns whether
// malloc is watched: "on", "off", or "off: " and why it cannot be.
// `PatchNewLibraries` does the work.
std::string InstallHostHooks(HostBlocks* blocks, python::StackTaker* stacks,
                             black_box::Box* box, const Endings& endings,
                             bool watch_malloc);

// Redirects what libraries import that were loaded since the last call.
void PatchNewLibraries();

// fork(): see GotPatch.
void HostHooksBeforeFork();
void HostHooksAfterForkInParent();
void HostHooksAfterForkInChild();

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_BLACK_BOX_HOST_HOOKS_H_
