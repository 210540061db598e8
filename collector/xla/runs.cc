#include "collector/xla/runs.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "collector/library/hook_set.h"
#include "collector/recording/thread_state.h"
#include "proto/event_schema.h"

namespace oom_forensics::collector {

// Lies in the frame of the outermost hook of the run.
struct CompiledRun {
  // The tensorflow::OpKernel that launched it and the context that it got; null
  // if no kernel did.
  const void* kernel = nullptr;
  const void* context = nullptr;
  // When it was launched.
  std::chrono::steady_clock::time_point launched;
  // Its name; empty until asked for.
  std::string launch_op;
  // What asks while it compiles; empty until asked for.
  std::string compiling_op;
  // The module that runs or, after that, has run. Null: none yet, or one that
  // is not known.
  std::shared_ptr<const XlaModule> module;
  bool executing = false;
  // The first request of the module's plan that was not made yet.
  size_t next_request = 0;
  // As it was before the last request was described.
  size_t last_request = 0;
};

namespace {

// Whose objects are xla::Executables. ExecuteAsyncOnStream lost its last
// argument, a profile, in the time between the two names.
struct ExecutableClass {
  const char* name;
  const char* mangled_class;
  const char* execute[2];
};
constexpr ExecutableClass kExecutables[] = {
    {"xla::cpu::CpuExecutable",
     "N3xla3cpu13CpuExecutableE",
     {"_ZN3xla3cpu13CpuExecutable20ExecuteAsyncOnStreamEPKNS_"
      "27ServiceExecutableRunOptionsESt6vectorINS_14ExecutionInputESaIS6_EE",
      "_ZN3xla3cpu13CpuExecutable20ExecuteAsyncOnStreamEPKNS_"
      "27ServiceExecutableRunOptionsESt6vectorINS_14ExecutionInputESaIS6_"
      "EEPNS_19HloExecutionProfileE"}},
    {"xla::gpu::GpuExecutable",
     "N3xla3gpu13GpuExecutableE",
     {"_ZN3xla3gpu13GpuExecutable20ExecuteAsyncOnStreamEPKNS_"
      "27ServiceExecutableRunOptionsESt6vectorINS_14ExecutionInputESaIS6_EE",
      "_ZN3xla3gpu13GpuExecutable20ExecuteAsyncOnStreamEPKNS_"
      "27ServiceExecutableRunOptionsESt6vectorINS_14ExecutionInputESaIS6_"
      "EEPNS_19HloExecutionProfileE"}},
};
constexpr size_t kExecutableCount =
    sizeof(kExecutables) / sizeof(kExecutables[0]);

constexpr char kCompute[] =
    "_ZN10tensorflow8XlaRunOp7ComputeEPNS_15OpKernelContextE";
constexpr char kCompileCompute[] =
    "_ZN10tensorflow12XlaCompileOp7ComputeEPNS_15OpKernelContextE";
constexpr char kComputeAsync[] =
    "_ZN10tensorflow18XlaLocalLaunchBase12ComputeAsyncEPNS_"
    "15OpKernelContextESt8functionIFvvEE";

// The kernels that launch executables: of jit_compile=True the second, of
// clusters the first, which the last compiles.
struct KernelClass {
  const char* name;
  const char* mangled_class;
  const char* compute;
};
constexpr KernelClass kKernels[] = {
    {"tensorflow::XlaRunOp", "N10tensorflow8XlaRunOpE", kCompute},
    {"tensorflow::XlaLocalLaunchBase", "N10tensorflow18XlaLocalLaunchBaseE",
     kComputeAsync},
    {"tensorflow::XlaLocalLaunchOp", "N10tensorflow16XlaLocalLaunchOpE",
     kComputeAsync},
    {"tensorflow::XlaCompileOp", "N10tensorflow12XlaCompileOpE",
     kCompileCompute},
};
constexpr size_t kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

// virtual std::string OpKernel::TraceString(const OpKernelContext&, bool
// verbose) const: "name:type", and more where verbose.
constexpr char kTraceString[] =
    "_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb";

// absl::StatusOr<ExecutionOutput> ExecuteAsyncOnStream(options, arguments[,
// profile]): by the System V ABI the caller passes the address of the result as
// a hidden first argument, and that of the vector of arguments.
using Execute = void* (*)(void* result, void* self, const void* options,
                          void* arguments, void* profile);
// Compute(context) or ComputeAsync(context, done).
using Compute = void (*)(void* self, void* context, void* done);
using TraceString = std::string (*)(const void* self, const void* context,
                                    bool verbose);

struct Hooks {
  const XlaModules* modules = nullptr;
  TraceString trace_string = nullptr;
  Execute execute[kExecutableCount] = {};
  Compute compute[kKernelCount] = {};
  HookSet slots;
};

// Set once, before the first hook is in place; never freed.
Hooks* g_hooks = nullptr;

// Makes a run the thread's for as long as it lives.
class RunScope {
 public:
  explicit RunScope(CompiledRun* run)
      : outer_(std::exchange(CurrentThread().compiled_run, run)) {}
  ~RunScope() { CurrentThread().compiled_run = outer_; }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

 private:
  CompiledRun* const outer_;
};

// An xla::Executable begins with its virtual table and the
// std::shared_ptr<HloModule>; what does not point to a known module is none.
std::shared_ptr<const XlaModule> ModuleOf(const void* executable) noexcept {
  return g_hooks->modules->Find(static_cast<const void* const*>(executable)[1]);
}

template <size_t kClass>
void* HookedExecute(void* result, void* self, const void* options,
                    void* arguments, void* profile) {
  struct Executing {
    Executing(CompiledRun* run, std::shared_ptr<const XlaModule> module)
        : run(run) {
      run->module = std::move(module);
      run->next_request = 0;
      run->executing = true;
    }
    ~Executing() { run->executing = false; }
    CompiledRun* const run;
  };
  const Execute execute = g_hooks->execute[kClass];
  if (CompiledRun* const run = CurrentThread().compiled_run;
      run != nullptr && !run->executing) {
    const Executing executing(run, ModuleOf(self));
    return execute(result, self, options, arguments, profile);
  }
  CompiledRun run;
  const RunScope scope(&run);
  const Executing executing(&run, ModuleOf(self));
  return execute(result, self, options, arguments, profile);
}
constexpr Execute kHookedExecutes[kExecutableCount] = {HookedExecute<0>,
                                                       HookedExecute<1>};

template <size_t kClass>
void HookedCompute(void* self, void* context, void* done) {
  CompiledRun run;
  run.kernel = self;
  run.context = context;
  run.launched = std::chrono::steady_clock::now();
  const RunScope scope(&run);
  g_hooks->compute[kClass](self, context, done);
}
constexpr Compute kHookedComputes[kKernelCount] = {
    HookedCompute<0>, HookedCompute<1>, HookedCompute<2>, HookedCompute<3>};

// While the kernel executes, it is alive: it waits for the executable.
void NameLaunchOp(CompiledRun* run) noexcept {
  if (run->kernel == nullptr || g_hooks->trace_string == nullptr) return;
  try {
    run->launch_op = g_hooks->trace_string(run->kernel, run->context, false);
    const size_t type = run->launch_op.rfind(':');
    if (type != std::string::npos) run->launch_op.resize(type);
  } catch (...) {  // bad_alloc: the op is not named
  }
  run->kernel = nullptr;
}

std::string HookExecutables(const TensorFlowLibraries& tensorflow, Hooks* hooks,
                            bool* any) {
  std::string sentences;
  for (size_t i = 0; i < kExecutableCount; ++i) {
    const ExecutableClass& executable = kExecutables[i];
    const VTable vtable = tensorflow.FindVTable(executable.mangled_class);
    const char* outcome = ": not in this TensorFlow";
    if (vtable.slots != nullptr) {
      outcome = ": its virtual table is not as expected; not touched";
      for (const char* name : executable.execute) {
        void* const execute = tensorflow.Symbol(name);
        const auto slot = FindSlot(vtable, execute);
        if (!slot.has_value()) continue;
        hooks->execute[i] = reinterpret_cast<Execute>(execute);
        hooks->slots.Add(vtable, *slot,
                         reinterpret_cast<void*>(kHookedExecutes[i]));
        outcome = ": hooked";
        *any = true;
      }
    }
    if (!sentences.empty()) sentences += '\n';
    sentences += executable.name;
    sentences += outcome;
  }
  return sentences;
}

std::string HookKernels(const TensorFlowLibraries& tensorflow, Hooks* hooks) {
  size_t hooked = 0;
  for (size_t i = 0; i < kKernelCount; ++i) {
    const VTable vtable = tensorflow.FindVTable(kKernels[i].mangled_class);
    void* const compute = tensorflow.Symbol(kKernels[i].compute);
    const auto slot = FindSlot(vtable, compute);
    if (!slot.has_value()) continue;
    hooks->compute[i] = reinterpret_cast<Compute>(compute);
    hooks->slots.Add(vtable, *slot,
                     reinterpret_cast<void*>(kHookedComputes[i]));
    ++hooked;
  }
  return hooked == kKernelCount
             ? "kernels that launch compiled functions: hooked"
             : "kernels that launch compiled functions: " +
                   std::to_string(hooked) + " of " +
                   std::to_string(kKernelCount) + " recognized and hooked";
}

}  // namespace

void DescribeRequest(CompiledRun* run, uint64_t bytes, bool has_op,
                     CompiledOrigin* origin) noexcept {
  run->last_request = run->next_request;
  // What a kernel asks for beside its executable TensorFlow names itself; and a
  // kernel that is done may already run others in the same thread.
  if (!run->executing && (has_op || run->module == nullptr)) return;
  if (run->executing && run->kernel != nullptr) NameLaunchOp(run);
  origin->launch_op = run->launch_op;
  if (run->module == nullptr) return;
  const XlaModule& module = *run->module;
  origin->function = module.function;
  origin->module = module.name;
  origin->program_id = module.program_id;
  const auto& requests = module.plan.requests;
  for (size_t i = run->next_request; run->executing && i < requests.size();
       ++i) {
    if (requests[i].bytes != bytes) continue;
    origin->buffer_allocation = requests[i].index;
    origin->buffer_kind = requests[i].kind;
    run->next_request = i + 1;
    return;
  }
  // Beyond its plan an execution only asks for results that it could not put
  // into the memory of an argument.
  if (!requests.empty() || !run->executing) origin->buffer_kind = "output";
}

std::string_view CompilingOp(CompiledRun* run) noexcept {
  // What runs an algorithm that is tried is executed, but no known module.
  if (run->module != nullptr || run->context == nullptr) return "";
  if (run->compiling_op.empty()) {
    if (run->kernel != nullptr) NameLaunchOp(run);
    if (run->launch_op.empty()) return "";
    try {
      run->compiling_op = run->launch_op;
      run->compiling_op += schema::kCompilingSuffix;
    } catch (...) {  // bad_alloc: the op is not named
    }
  }
  return run->compiling_op;
}

void TakeBackRequest(CompiledRun* run) noexcept {
  run->next_request = run->last_request;
}

uint64_t NsSinceLaunch() noexcept {
  const CompiledRun* const run = CurrentThread().compiled_run;
  if (run == nullptr || run->context == nullptr) return 0;
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::steady_clock::now() - run->launched)
          .count());
}

HookReport InstallRunHooks(const TensorFlowLibraries& tensorflow,
                           const XlaModules* modules) {
  HookReport report;
  auto* hooks = new Hooks;
  hooks->modules = modules;
  tensorflow.Find(kTraceString, &hooks->trace_string);
  report.sentences = HookExecutables(tensorflow, hooks, &report.hooked);
  if (!report.hooked) {
    delete hooks;
    return report;
  }
  report.sentences += '\n' + HookKernels(tensorflow, hooks);
  g_hooks = hooks;
  report.hooked = hooks->slots.SetActive(true);
  if (!report.hooked) {
    report.sentences =
        "compiled functions: the virtual tables of XLA cannot be written; not "
        "touched";
  }
  return report;
}

void SetRunHooksActive(bool active) {
  if (g_hooks != nullptr) g_hooks->slots.SetActive(active);
}

}  // namespace oom_forensics::collector
