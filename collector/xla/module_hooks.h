// Sees modules come and go: stands between XLA and XlaDebugInfoManager, where
// every compiled module is registered with its BufferAssignment, whether or not
// anyone profiles.
#ifndef OOM_FORENSICS_COLLECTOR_XLA_MODULE_HOOKS_H_
#define OOM_FORENSICS_COLLECTOR_XLA_MODULE_HOOKS_H_

#include "collector/library/hook_report.h"
#include "collector/xla/libraries.h"
#include "collector/xla/modules.h"

namespace oom_forensics::collector {

// `modules` must live as long as the process. To be called once, before
// anything is compiled.
HookReport InstallModuleHooks(const TensorFlowLibraries& tensorflow,
                              XlaModules* modules);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_XLA_MODULE_HOOKS_H_
