// What TensorFlow loads: a library so plain that every libc can load it, which
// then loads the collector.
//
// `import tensorflow` fails for everybody where a library in
// tensorflow-plugins/ cannot be loaded. The collector needs a libc and a
// libstdc++ of a certain age; a wheel says so to pip, but an environment may be
// copied to a machine that is older. Then nothing is recorded, one line says
// why, and TensorFlow goes on.
//
// Therefore nothing of C++'s library may be used here, and of libc only what it
// had from the first on x86-64 (tests/wheel looks at the versions).
#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collector/pluggable_profiler_api.h"

// Newer libcs have newer versions of these.
__asm__(".symver dladdr,dladdr@GLIBC_2.2.5");
__asm__(".symver dlerror,dlerror@GLIBC_2.2.5");
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
__asm__(".symver memcpy,memcpy@GLIBC_2.2.5");

namespace {

using InitProfiler = void (*)(TF_ProfilerRegistrationParams*, TF_Status*);

constexpr char kCollector[] = "oom_forensics/liboom_forensics_collector.so";
constexpr size_t kMaxPath = 4096;

iovec Part(const char* text) { return {const_cast<char*>(text), strlen(text)}; }

void SayWhyNot(const char* why) {
  const iovec line[] = {
      Part("OOM Forensics: nothing is recorded, the collector cannot be "
           "loaded: "),
      Part(why), Part("\n")};
  // Nothing can be done about a closed stderr.
  [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, line, 3);
}

// Null, with one line on stderr, where the collector cannot be loaded.
InitProfiler LoadCollector() {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&LoadCollector), &self) == 0 ||
      self.dli_fname == nullptr) {
    SayWhyNot("its folder is not known");
    return nullptr;
  }
  const char* const slash = strrchr(self.dli_fname, '/');
  const size_t folder =
      slash == nullptr ? 0 : static_cast<size_t>(slash + 1 - self.dli_fname);
  char path[kMaxPath];
  if (folder + sizeof(kCollector) > sizeof(path)) {
    SayWhyNot("its path is too long");
    return nullptr;
  }
  memcpy(path, self.dli_fname, folder);
  memcpy(path + folder, kCollector, sizeof(kCollector));
  void* const collector = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* const init =
      collector == nullptr ? nullptr : dlsym(collector, "TF_InitProfiler");
  if (init == nullptr) {
    const char* const why = dlerror();
    SayWhyNot(why == nullptr ? path : why);
  }
  return reinterpret_cast<InitProfiler>(init);
}

// TensorFlow ends the process where a plugin leaves a function of its profiler
// unset: `import tensorflow` would die for everybody.
void DoNothing(const TP_Profiler*, TF_Status*) {}
void CollectNothing(const TP_Profiler*, uint8_t*, size_t* size_in_bytes,
                    TF_Status*) {
  *size_in_bytes = 0;
}
void DestroyNothing(TP_Profiler*) {}
void DestroyNoFns(TP_ProfilerFns*) {}

// Sets a member of a struct of TensorFlow's, if TensorFlow's is large enough to
// have it.
template <typename Struct, typename Member, typename Value>
void Fill(Struct* to, Member Struct::*member, Value value) {
  const auto* const end = reinterpret_cast<const char*>(&(to->*member) + 1);
  if (end <= reinterpret_cast<const char*>(to) + to->struct_size) {
    to->*member = value;
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitProfiler(
    TF_ProfilerRegistrationParams* params, TF_Status* status) {
  // First and always: the collector replaces them where it knows this
  // TensorFlow's plugins.
  Fill(params, &TF_ProfilerRegistrationParams::destroy_profiler,
       DestroyNothing);
  Fill(params, &TF_ProfilerRegistrationParams::destroy_profiler_fns,
       DestroyNoFns);
  Fill(params->profiler, &TP_Profiler::device_type, "OOM_FORENSICS");
  Fill(params->profiler_fns, &TP_ProfilerFns::start, DoNothing);
  Fill(params->profiler_fns, &TP_ProfilerFns::stop, DoNothing);
  Fill(params->profiler_fns, &TP_ProfilerFns::collect_data_xspace,
       CollectNothing);
  if (const InitProfiler init = LoadCollector()) init(params, status);
}
