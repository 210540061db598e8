#include "collector/cupti/cupti_tee.h"

#include <utility>

#include "collector/cupti/buffer_router.h"
#include "collector/cupti/cupti_library.h"

namespace oom_forensics::cupti {
namespace {

using collector::FindSlot;
using collector::TensorFlowLibrary;
using collector::VTable;
using collector::VTablePatch;

constexpr char kClass[] = "N3xla8profiler12CuptiWrapperE";
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_MEMORY2,
                                         CUPTI_ACTIVITY_KIND_MEMORY_POOL};

// The mangled name of a member of the wrapper.
std::string Member(const char* rest) {
  return std::string("_ZN3xla8profiler12CuptiWrapper") + rest;
}

}  // namespace

// What the slots call. `wrapper` is the object, as the C++ ABI passes it. No
// lock is held while the call that TensorFlow made goes on.
struct TeeHooks {
  static CUptiResult Subscribe(void* wrapper,
                               CUpti_SubscriberHandle* subscriber,
                               CUpti_CallbackFunc callback, void* data) {
    CuptiTee& tee = CuptiTee::Get();
    tee.options_.before_take();
    const CUptiResult result =
        tee.originals_.subscribe(wrapper, subscriber, callback, data);
    if (result == CUPTI_SUCCESS) {
      const std::lock_guard<std::mutex> lock(tee.mutex_);
      tee.subscribed_ = true;
    }
    return result;
  }

  static CUptiResult Unsubscribe(void* wrapper,
                                 CUpti_SubscriberHandle subscriber) {
    CuptiTee& tee = CuptiTee::Get();
    const CUptiResult result = tee.originals_.unsubscribe(wrapper, subscriber);
    const std::lock_guard<std::mutex> lock(tee.mutex_);
    tee.subscribed_ = false;
    return result;
  }

  static CUptiResult RegisterCallbacks(
      void* wrapper, CUpti_BuffersCallbackRequestFunc request,
      CUpti_BuffersCallbackCompleteFunc complete) {
    CuptiTee& tee = CuptiTee::Get();
    tee.options_.before_take();
    BufferRouter& router = BufferRouter::Get();
    router.SetLog(tee.log_);
    router.SetNextRecord({tee.originals_.next_record, wrapper});
    router.SetTensorFlowCallback(complete);
    return tee.originals_.register_callbacks(wrapper, request,
                                             &BufferRouter::CompleteBuffer);
  }

  static CUptiResult Enable(void* wrapper, CUpti_ActivityKind kind) {
    CuptiTee& tee = CuptiTee::Get();
    const CUptiResult result = tee.originals_.enable(wrapper, kind);
    if (result != CUPTI_SUCCESS) return result;
    const std::lock_guard<std::mutex> lock(tee.mutex_);
    tee.tensorflow_kinds_.insert(kind);
    tee.own_kinds_.erase(kind);
    if (!tee.armed_) tee.Arm(wrapper);
    return result;
  }

  static CUptiResult Disable(void* wrapper, CUpti_ActivityKind kind) {
    CuptiTee& tee = CuptiTee::Get();
    const CUptiResult result = tee.originals_.disable(wrapper, kind);
    const std::lock_guard<std::mutex> lock(tee.mutex_);
    tee.tensorflow_kinds_.erase(kind);
    if (tee.tensorflow_kinds_.empty()) tee.Disarm(wrapper);
    return result;
  }

  static CUptiResult Dropped(void* wrapper, CUcontext context, uint32_t stream,
                             size_t* dropped) {
    CuptiTee& tee = CuptiTee::Get();
    const CUptiResult result =
        tee.originals_.dropped(wrapper, context, stream, dropped);
    if (result == CUPTI_SUCCESS && dropped != nullptr && *dropped > 0) {
      tee.log_->CountDroppedByCupti(*dropped);
    }
    return result;
  }

  static CUptiResult Finalize(void* wrapper) {
    CuptiTee& tee = CuptiTee::Get();
    {
      const std::lock_guard<std::mutex> lock(tee.mutex_);
      tee.Disarm(wrapper);
      tee.tensorflow_kinds_.clear();
    }
    const CUptiResult result = tee.originals_.finalize(wrapper);
    tee.options_.after_finalize();
    return result;
  }
};

CuptiTee& CuptiTee::Get() {
  static auto* const tee = new CuptiTee;
  return *tee;
}

std::string CuptiTee::Install(const TensorFlowLibrary& library,
                              TeeOptions options, DeviceLog* log) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!patches_.empty()) return "";
  const VTable table = library.FindVTable(kClass);
  if (table.slots == nullptr) {
    return "this TensorFlow has no xla::profiler::CuptiWrapper";
  }

  std::string missing;
  struct Slot {
    size_t index;
    void* hook;
  };
  std::vector<Slot> slots;
  const auto find = [&](auto* function, const char* name) {
    const std::string symbol = Member(name);
    *function = library.FunctionOf<std::remove_pointer_t<decltype(function)>>(
        symbol.c_str());
    if (*function == nullptr) missing = name;
  };
  const auto hook = [&](auto* function, auto* replacement, const char* name) {
    find(function, name);
    const auto slot = FindSlot(table, reinterpret_cast<void*>(*function));
    if (!slot.has_value()) {
      missing = name;
      return;
    }
    slots.push_back({*slot, reinterpret_cast<void*>(replacement)});
  };
  Originals originals;
  hook(&originals.subscribe, &TeeHooks::Subscribe,
       "9SubscribeEPP19CUpti_Subscriber_stPFvPv20CUpti_CallbackDomainjPKvES5_");
  hook(&originals.unsubscribe, &TeeHooks::Unsubscribe,
       "11UnsubscribeEP19CUpti_Subscriber_st");
  hook(&originals.register_callbacks, &TeeHooks::RegisterCallbacks,
       "25ActivityRegisterCallbacksEPFvPPhPmS4_EPFvP8CUctx_stjS2_mmE");
  hook(&originals.enable, &TeeHooks::Enable,
       "14ActivityEnableE18CUpti_ActivityKind");
  hook(&originals.disable, &TeeHooks::Disable,
       "15ActivityDisableE18CUpti_ActivityKind");
  hook(&originals.dropped, &TeeHooks::Dropped,
       "28ActivityGetNumDroppedRecordsEP8CUctx_stjPm");
  hook(&originals.finalize, &TeeHooks::Finalize, "8FinalizeEv");
  find(&originals.next_record, "21ActivityGetNextRecordEPhmPP14CUpti_Activity");
  find(&originals.timestamp, "12GetTimestampEPm");
  if (!missing.empty()) {
    return "TensorFlow's CuptiWrapper is not as expected: " +
           Member(missing.c_str());
  }

  // The hooks may be called from the first slot on.
  originals_ = originals;
  options_ = std::move(options);
  log_ = log;
  for (const Slot& slot : slots) {
    auto patch = VTablePatch::Install(table, slot.index, slot.hook);
    if (!patch.has_value()) {
      patches_.clear();
      return "the table of TensorFlow's CuptiWrapper cannot be written";
    }
    patches_.push_back(std::move(*patch));
  }
  return "";
}

void CuptiTee::Uninstall() {
  const std::lock_guard<std::mutex> lock(mutex_);
  patches_.clear();
}

bool CuptiTee::installed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !patches_.empty();
}

bool CuptiTee::tensorflow_traces() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return subscribed_ || !tensorflow_kinds_.empty();
}

bool CuptiTee::recorded() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return recorded_;
}

std::string CuptiTee::problem() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return problem_;
}

void CuptiTee::ForgetSession() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (armed_) return;
  recorded_ = false;
  problem_.clear();
}

ClockConverter CuptiTee::clock() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return clock_;
}

void CuptiTee::Arm(void* wrapper) {
  armed_ = true;
  recorded_ = false;
  problem_.clear();
  clock_.Reset();
  ReadClocks(wrapper);
  bool read_source = false;
  if (options_.allocation_source) {
    const auto cupti = CuptiLibrary::FindLoaded();
    read_source = cupti.has_value() && cupti->EnableAllocationSource(true);
  }
  BufferRouter::Get().SetReadSource(read_source);
  for (const CUpti_ActivityKind kind : kKinds) {
    // TensorFlow asks for it itself, or will be asked again by itself.
    if (tensorflow_kinds_.count(kind) != 0) continue;
    const CUptiResult result = originals_.enable(wrapper, kind);
    if (result == CUPTI_SUCCESS) {
      own_kinds_.insert(kind);
    } else if (kind == CUPTI_ACTIVITY_KIND_MEMORY2) {
      problem_ = "cuptiActivityEnable(MEMORY2) answers CUPTI error " +
                 std::to_string(result);
    }
  }
  recorded_ = problem_.empty();
}

void CuptiTee::Disarm(void* wrapper) {
  if (!armed_) return;
  armed_ = false;
  ReadClocks(wrapper);
  for (const CUpti_ActivityKind kind : own_kinds_) {
    originals_.disable(wrapper, kind);
  }
  own_kinds_.clear();
}

void CuptiTee::ReadClocks(void* wrapper) {
  clock_.AddPair(ReadCollectorClock, [this, wrapper](int64_t* now_ns) {
    uint64_t now = 0;
    if (originals_.timestamp(wrapper, &now) != CUPTI_SUCCESS || now == 0) {
      return false;
    }
    *now_ns = static_cast<int64_t>(now);
    return true;
  });
}

}  // namespace oom_forensics::cupti
