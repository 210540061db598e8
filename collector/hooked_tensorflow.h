// HookedTensorFlow: where the collector stands between TensorFlow and its
// memory, and where it could not, and why.
#ifndef OOM_FORENSICS_COLLECTOR_HOOKED_TENSORFLOW_H_
#define OOM_FORENSICS_COLLECTOR_HOOKED_TENSORFLOW_H_

#include <string>
#include <vector>

#include "collector/black_box/host_blocks.h"
#include "collector/python/stack_taker.h"
#include "collector/recording/recorder.h"
#include "collector/tensorflow/allocator_state.h"
#include "collector/tensorflow/request_recorder.h"
#include "collector/xla/xla.h"

namespace oom_forensics::collector {

class HookedTensorFlow {
 public:
  // Hooks what is recognized of the TensorFlow in this process, and says in one
  // line on stderr what it cannot do. To be called once; the
  // arguments must live as long as the process.
  void Install(Recorder* recorder, python::StackTaker* stacks, Xla* xla,
               HostBlocks* blocks, RefusalListener* listener);

  // Takes the hooks out, or puts them back.
  void SetActive(bool active);

  // At least one class of allocators is hooked.
  bool allocators_hooked() const { return allocators_hooked_; }
  // Empty: not known.
  const std::string& version() const { return version_; }
  // What is hooked and what not, one sentence per line.
  const std::string& sentences() const { return sentences_; }
  // Whether ops are named: "on", or why not.
  const std::string& attribution() const { return attribution_; }
  // Whether allocations of compiled functions are named: "on", or why not.
  const std::string& compiled_functions() const { return compiled_functions_; }

 private:
  void Hook(const TensorFlowLibrary& library, Recorder* recorder,
            python::StackTaker* stacks, HostBlocks* blocks,
            RefusalListener* listener);

  bool allocators_hooked_ = false;
  std::string version_;
  std::string sentences_ = "switched off by OOM_FORENSICS=0";
  std::string attribution_ = sentences_;
  std::string compiled_functions_;
  Xla* xla_ = nullptr;
};

// The allocators that are there, by their own account.
std::vector<AllocatorState> StatesOfAllocators(StateDepth depth);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_HOOKED_TENSORFLOW_H_
