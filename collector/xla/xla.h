// Xla: what the collector knows of XLA in this process, joined: the modules
// that it compiled, and which of them allocates. What of it this TensorFlow
// does not let be recognized stays untouched.
#ifndef OOM_FORENSICS_COLLECTOR_XLA_XLA_H_
#define OOM_FORENSICS_COLLECTOR_XLA_XLA_H_

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/library/hook_report.h"
#include "collector/library/tensorflow_library.h"
#include "collector/xla/module_protos.h"
#include "collector/xla/modules.h"

namespace oom_forensics::collector {

class Xla {
 public:
  // Hooks what is recognized; to be called once, before anything is compiled.
  HookReport Install(const TensorFlowLibrary& framework);
  // Before Install().
  void Listen(CompileListener listener) {
    modules_.Listen(std::move(listener));
  }

  // Takes the hooks on runs out, or puts them back.
  void SetActive(bool active);

  // The modules that are alive; what may keep them from being read now,
  // ModuleProtoReader::Read() says.
  std::vector<ModuleProto> ReadModules(std::string* why_not) const;

  // Around a fork(), so that the child finds the modules whole.
  void BeforeFork() { modules_.BeforeFork(); }
  void AfterForkInParent() { modules_.AfterFork(); }
  void AfterForkInChild();

 private:
  XlaModules modules_;
  // One reader at a time.
  mutable std::mutex reading_;
  std::optional<ModuleProtoReader> protos_;
  std::string why_no_protos_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_XLA_XLA_H_
