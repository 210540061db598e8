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

// To be called once; all must live as long as the process. Returns whether
// malloc is watched: "on", "off", or "off: " and why it cannot be.
// `PatchNewLibraries` does the work. `ended_well` is called where the process
// ends by _exit(0).
std::string InstallHostHooks(HostBlocks* blocks, python::StackTaker* stacks,
                             black_box::Box* box, void (*ended_well)(),
                             bool watch_malloc);

// Redirects what libraries import that were loaded since the last call.
void PatchNewLibraries();

// fork(): see GotPatch.
void HostHooksBeforeFork();
void HostHooksAfterForkInParent();
void HostHooksAfterForkInChild();

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_BLACK_BOX_HOST_HOOKS_H_
