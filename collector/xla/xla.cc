#include "collector/xla/xla.h"

#include <new>

#include "collector/xla/module_hooks.h"
#include "collector/xla/runs.h"

namespace oom_forensics::collector {

HookReport Xla::Install(const TensorFlowLibrary& framework) {
  const auto implementation =
      TensorFlowLibrary::Find(TensorFlowLibrary::kImplementation);
  if (!implementation.has_value()) {
    why_no_protos_ = "libtensorflow_cc.so.2 is not loaded";
    return {false, "compiled functions: " + why_no_protos_};
  }
  const TensorFlowLibraries tensorflow{framework, *implementation};
  protos_ = ModuleProtoReader::Find(tensorflow, &why_no_protos_);
  HookReport report = InstallModuleHooks(tensorflow, &modules_);
  if (report.hooked) {
    const HookReport runs = InstallRunHooks(tensorflow, &modules_);
    report.hooked = runs.hooked;
    report.sentences += '\n' + runs.sentences;
  }
  if (!protos_.has_value()) {
    report.sentences += "\nmodules in runs: " + why_no_protos_;
  }
  return report;
}

void Xla::SetActive(bool active) { SetRunHooksActive(active); }

std::vector<ModuleProto> Xla::ReadModules(std::string* why_not) const {
  if (!protos_.has_value()) {
    *why_not = why_no_protos_;
    return {};
  }
  std::lock_guard<std::mutex> lock(reading_);
  return protos_->Read(modules_, why_not);
}

void Xla::AfterForkInChild() {
  modules_.AfterFork();
  // Whoever was reading is in the parent, and changed nothing.
  new (&reading_) std::mutex;
}

}  // namespace oom_forensics::collector
