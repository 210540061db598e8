// Runs of compiled functions: which of them the calling thread is in, by hooks
// on XLA's executables and on the kernels that launch them. So each allocation
// that XLA makes can say whose it is; for any other that costs the read of one
// thread-local.
#ifndef OOM_FORENSICS_COLLECTOR_XLA_RUNS_H_
#define OOM_FORENSICS_COLLECTOR_XLA_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collector/library/hook_report.h"
#include "collector/recording/compiled_origin.h"
#include "collector/xla/libraries.h"
#include "collector/xla/modules.h"

namespace oom_forensics::collector {

struct CompiledRun;

// Fills in which part of `run`, the calling thread's, asks for so many bytes,
// and counts the request as made. `has_op` says that TensorFlow itself names an
// op for the request. What is filled in is valid as long as the run.
void DescribeRequest(CompiledRun* run, uint64_t bytes, bool has_op,
                     CompiledOrigin* origin) noexcept;

// "NAME/XlaCompile" for a kernel that asks in no op's name before it runs a
// known module. XLA asks for memory while it compiles, to try algorithms on
// tensors of the real sizes. Empty: `run` is before or past that, or no
// kernel's. Valid as long as the run.
std::string_view CompilingOp(CompiledRun* run) noexcept;

// The request that was described last is not over: it is described once more
// when it is, and counts then.
void TakeBackRequest(CompiledRun* run) noexcept;

// How long ago the kernel was launched that the calling thread is in, if it is
// one that runs or compiles functions; else 0.
uint64_t NsSinceLaunch() noexcept;

// To be called once, before anything is compiled; `modules` must live as long
// as the process.
HookReport InstallRunHooks(const TensorFlowLibraries& tensorflow,
                           const XlaModules* modules);

// Takes the hooks out, or puts them back.
void SetRunHooksActive(bool active);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_XLA_RUNS_H_
