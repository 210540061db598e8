#include "collector/hooked_tensorflow.h"

#include <utility>

#include "collector/diagnostics.h"
#include "collector/tensorflow/allocator_slots.h"
#include "collector/tensorflow/bfc_hooks.h"
#include "collector/tensorflow/cpu_allocator.h"
#include "collector/tensorflow/device_names.h"
#include "collector/tensorflow/direct_hooks.h"
#include "collector/tensorflow/region_hooks.h"

namespace oom_forensics::collector {

void HookedTensorFlow::Install(Recorder* recorder, python::StackTaker* stacks,
                               Xla* xla, HostBlocks* blocks,
                               RefusalListener* listener) {
  xla_ = xla;
  if (const auto library = TensorFlowLibrary::Find()) {
    version_ = library->Version();
    Hook(*library, recorder, stacks, blocks, listener);
  } else {
    sentences_ = "libtensorflow_framework.so.2 is not loaded";
  }
  if (!allocators_hooked_) attribution_ = "off: no allocator is hooked";
  const std::string name =
      version_.empty() ? "TensorFlow" : "TensorFlow " + version_;
  if (!allocators_hooked_) {
    Say(name + " is not recognized; nothing is recorded (" +
        sentences_.substr(0, sentences_.find('\n')) + ")");
  } else if (attribution_ != "on") {
    Say("allocations of " + name +
        " are recorded without op names, attribution is " + attribution_);
  }
}

void HookedTensorFlow::Hook(const TensorFlowLibrary& library,
                            Recorder* recorder, python::StackTaker* stacks,
                            HostBlocks* blocks, RefusalListener* listener) {
  // Never freed: threads may be in a hook until the process is gone.
  const auto* requests =
      new RequestRecorder(library, recorder, stacks, blocks, listener);
  attribution_ = requests->attribution();
  // First: it looks into a table that is changed next.
  const auto slots = FindAllocatorSlots(library);
  const HookReport pools = InstallBfcHooks(library, requests);
  sentences_ = pools.sentences;
  allocators_hooked_ = pools.hooked;
  if (pools.hooked) sentences_ += '\n' + InstallRegionHooks(library, recorder);
  if (slots.has_value()) {
    const HookReport direct = InstallDirectHooks(library, *slots, requests);
    allocators_hooked_ |= direct.hooked;
    sentences_ += '\n' + direct.sentences;
    sentences_ +=
        '\n' + InstallCpuAllocatorHooks(library, *slots, requests, blocks);
  } else {
    sentences_ +=
        "\nallocators without a pool: tsl::Allocator is not as expected";
  }
  if (!allocators_hooked_) return;
  sentences_ += '\n' + InstallDeviceNames(library, &recorder->allocators());
  const HookReport compiled = xla_->Install(library);
  sentences_ += '\n' + compiled.sentences;
  compiled_functions_ = compiled.hooked ? "on" : "off: " + compiled.sentences;
}

void HookedTensorFlow::SetActive(bool active) {
  SetBfcHooksActive(active);
  SetDirectHooksActive(active);
  SetCpuAllocatorHooksActive(active);
  if (xla_ != nullptr) xla_->SetActive(active);
}

std::vector<AllocatorState> StatesOfAllocators(StateDepth depth) {
  std::vector<AllocatorState> states = StatesOfBfcAllocators(depth);
  for (AllocatorState& state : StatesOfDirectAllocators()) {
    states.push_back(std::move(state));
  }
  if (const auto statistics = StatisticsOfCpuAllocator()) {
    AllocatorState state;
    state.info.name = "cpu";
    state.info.kind = "cpu";
    state.info.device_name = "/device:CPU:0";
    state.has_events = false;
    state.statistics = statistics;
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace oom_forensics::collector
