#include "collector/black_box/host_hooks.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "collector/black_box/python_arenas.h"
#include "collector/library/got_patch.h"

namespace oom_forensics::collector {
namespace {

using black_box::Owner;

using Malloc = void* (*)(size_t);
using Calloc = void* (*)(size_t, size_t);
using Realloc = void* (*)(void*, size_t);
using Free = void (*)(void*);
using AlignedAlloc = void* (*)(size_t, size_t);
using PosixMemalign = int (*)(void**, size_t, size_t);
using Exit = void (*)(int);
using Abort = void (*)();
using Kill = int (*)(pid_t, int);

// What the hooks go on to. Set once, before the first hook is in place.
struct Originals {
  Malloc malloc = nullptr;
  Calloc calloc = nullptr;
  Realloc realloc = nullptr;
  Free free = nullptr;
  AlignedAlloc aligned_alloc = nullptr;
  PosixMemalign posix_memalign = nullptr;
  Exit exit = nullptr;
  Abort abort = nullptr;
  Kill kill = nullptr;
};
Originals g_original;
HostBlocks* g_blocks = nullptr;
python::StackTaker* g_stacks = nullptr;
black_box::Box* g_box = nullptr;
Endings g_endings;
// PyGILState_GetThisThreadState(): needs no lock.
void* (*g_python_thread)() = nullptr;
// The thread that patches may look before there is one.
std::atomic<GotPatch*> g_patch{nullptr};

// Else the process's end alone is seen.
bool g_watch_malloc = false;

// What is kept of a block may allocate in turn.
thread_local bool t_inside = false;

__attribute__((noinline)) void Keep(Owner owner, void* address,
                                    size_t bytes) noexcept {
  if (address == nullptr || t_inside || !g_blocks->is_active()) return;
  t_inside = true;
  // A call that succeeds must not change errno.
  const int error = errno;
  const void* const thread =
      g_python_thread == nullptr ? nullptr : g_python_thread();
  const StackId stack = thread == nullptr ? 0 : g_stacks->Take(thread);
  g_blocks->AddNative(owner, address, bytes, stack);
  errno = error;
  t_inside = false;
}

void* HookedMalloc(size_t bytes) {
  void* const address = g_original.malloc(bytes);
  if (HostBlocks::Draws(bytes)) Keep(Owner::kNative, address, bytes);
  return address;
}

void* HookedCalloc(size_t count, size_t size) {
  void* const address = g_original.calloc(count, size);
  if (HostBlocks::Draws(count * size)) {
    Keep(Owner::kNative, address, count * size);
  }
  return address;
}

void* HookedRealloc(void* old, size_t bytes) {
  // Before another thread can get the same address.
  if (old != nullptr) g_blocks->Remove(old);
  void* const address = g_original.realloc(old, bytes);
  if (HostBlocks::Draws(bytes)) Keep(Owner::kNative, address, bytes);
  return address;
}

void HookedFree(void* address) {
  g_blocks->Remove(address);
  g_original.free(address);
}

void* HookedAlignedAlloc(size_t alignment, size_t bytes) {
  void* const address = g_original.aligned_alloc(alignment, bytes);
  if (HostBlocks::Draws(bytes)) Keep(Owner::kNative, address, bytes);
  return address;
}

int HookedPosixMemalign(void** address, size_t alignment, size_t bytes) {
  const int error = g_original.posix_memalign(address, alignment, bytes);
  if (error == 0 && HostBlocks::Draws(bytes)) {
    Keep(Owner::kNative, *address, bytes);
  }
  return error;
}

void KeepArena(void* address, size_t bytes) {
  Keep(Owner::kPython, address, bytes);
}

void RemoveArena(void* address) { g_blocks->Remove(address); }

// A child of vfork() shares the parent's memory.
bool IsOwner() {
  return g_box->header.process_id == static_cast<uint64_t>(getpid());
}

void HookedExit(int code) {
  if (IsOwner()) {
    g_box->header.exit_code = code;
    g_box->header.end = black_box::End::kExitCall;
    if (code == 0) g_endings.well();
  }
  g_original.exit(code);
}

void HookedAbort() {
  if (IsOwner()) g_box->header.end = black_box::End::kAbort;
  g_original.abort();
}

// Ctrl-C that no handler has caught: Python ends itself by the same signal.
int HookedKill(pid_t process, int number) {
  struct sigaction action;
  if (process == getpid() && IsOwner() &&
      (number == SIGINT || number == SIGTERM) &&
      sigaction(number, nullptr, &action) == 0 &&
      action.sa_handler == SIG_DFL) {
    g_endings.as_asked();
  }
  return g_original.kill(process, number);
}

// The default of SIGTERM, which cannot say that it was that. A program that has
// a handler of its own puts it in this one's place.
void EndAsAsked(int number) {
  if (IsOwner()) g_endings.as_asked();
  signal(number, SIG_DFL);
  raise(number);
}

void NoteSigterm() {
  struct sigaction action = {};
  if (sigaction(SIGTERM, nullptr, &action) != 0 ||
      action.sa_handler != SIG_DFL) {
    return;
  }
  action = {};
  action.sa_handler = EndAsAsked;
  // At once, not when the handler has returned.
  action.sa_flags = SA_NODEFER | SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
}

template <typename Function>
void* Address(Function function) {
  return reinterpret_cast<void*>(function);
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool BeginsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

struct Hooks {
  // Hooks of the program and of Python's library.
  std::vector<ImportHook> python;
  // Hooks of NumPy and other libraries.
  std::vector<ImportHook> libraries;
  // Of TensorFlow's own.
  std::vector<ImportHook> tensorflow;
};

const Hooks& TheHooks() {
  static const Hooks* const hooks = [] {
    auto* const made = new Hooks;
    const ImportHook abort = {"abort", Address(g_original.abort),
                              Address(HookedAbort)};
    const ImportHook exit = {"_exit", Address(g_original.exit),
                             Address(HookedExit)};
    const ImportHook kill = {"kill", Address(g_original.kill),
                             Address(HookedKill)};
    made->tensorflow = made->libraries = {abort};
    made->python = {abort, exit, kill};
    if (!g_watch_malloc) return made;
    made->libraries = {
        abort,
        {"malloc", Address(g_original.malloc), Address(HookedMalloc)},
        {"calloc", Address(g_original.calloc), Address(HookedCalloc)},
        {"realloc", Address(g_original.realloc), Address(HookedRealloc)},
        {"free", Address(g_original.free), Address(HookedFree)},
        {"aligned_alloc", Address(g_original.aligned_alloc),
         Address(HookedAlignedAlloc)},
        {"posix_memalign", Address(g_original.posix_memalign),
         Address(HookedPosixMemalign)},
    };
    made->python = made->libraries;
    made->python.push_back(exit);
    made->python.push_back(kill);
    return made;
  }();
  return *hooks;
}

// By its path; null: it is left alone.
const std::vector<ImportHook>* HooksOf(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (path.empty() || BeginsWith(name, "libpython")) return &TheHooks().python;
  // The libraries of C and C++, the loader, and ourselves.
  for (const std::string_view prefix :
       {"libc.", "libc-", "libstdc++", "libgcc_s", "ld-linux", "linux-vdso",
        "libm.", "libdl.", "libpthread.", "librt.", "libutil.",
        "liboom_forensics"}) {
    if (BeginsWith(name, prefix)) return nullptr;
  }
  if (Contains(path, "/tensorflow/") || Contains(name, "tensorflow")) {
    return &TheHooks().tensorflow;
  }
  return &TheHooks().libraries;
}

template <typename Function>
bool Find(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

}  // namespace

std::string InstallHostHooks(HostBlocks* blocks, python::StackTaker* stacks,
                             black_box::Box* box, const Endings& endings,
                             bool watch_malloc) {
  if (!Find("_exit", &g_original.exit) || !Find("abort", &g_original.abort) ||
      !Find("kill", &g_original.kill)) {
    return "off: a function of the C library is not found";
  }
  std::string state = watch_malloc ? "on" : "off";
  if (watch_malloc) {
    Dl_info allocates;
    Dl_info exits;
    if (!Find("malloc", &g_original.malloc) ||
        !Find("calloc", &g_original.calloc) ||
        !Find("realloc", &g_original.realloc) ||
        !Find("free", &g_original.free) ||
        !Find("aligned_alloc", &g_original.aligned_alloc) ||
        !Find("posix_memalign", &g_original.posix_memalign)) {
      state = "off: a function of the C library is not found";
    } else if (dladdr(Address(g_original.malloc), &allocates) == 0 ||
               dladdr(Address(g_original.exit), &exits) == 0 ||
               allocates.dli_fbase != exits.dli_fbase) {
      state = "off: malloc is not the C library's";
    }
    Find("PyGILState_GetThisThreadState", &g_python_thread);
  }
  g_watch_malloc = state == "on";
  box->header.watches_malloc = g_watch_malloc ? 1 : 0;
  g_blocks = blocks;
  g_stacks = stacks;
  g_box = box;
  g_endings = endings;
  if (g_watch_malloc) ListenToPythonArenas({&KeepArena, &RemoveArena});
  NoteSigterm();
  g_patch = new GotPatch(HooksOf);
  return state;
}

void PatchNewLibraries() {
  if (GotPatch* const patch = g_patch) patch->PatchNew();
}

void HostHooksBeforeFork() {
  if (GotPatch* const patch = g_patch) patch->BeforeFork();
}
void HostHooksAfterForkInParent() {
  if (GotPatch* const patch = g_patch) patch->AfterForkInParent();
}
void HostHooksAfterForkInChild() {
  GotPatch* const patch = g_patch;
  if (patch == nullptr) return;
  patch->AfterForkInChild();
  t_inside = false;
  g_blocks->AfterForkInChild();
}

}  // namespace oom_forensics::collector
