// CuptiTee: stands between TensorFlow's GPU tracer and CUPTI.
//
// TensorFlow calls CUPTI through a virtual class, xla::profiler::CuptiWrapper.
// Seven slots of its table are redirected here:
//
//   Subscribe, Unsubscribe      TensorFlow takes CUPTI, and gives it back
//   ActivityRegisterCallbacks   the completion callback becomes BufferRouter's,
//                               which hands every buffer on to TensorFlow's
//   ActivityEnable              after TensorFlow's first kind: MEMORY2 and
//                               MEMORY_POOL too
//   ActivityDisable             after TensorFlow's last kind: these two too
//   ActivityGetNumDroppedRecords  what CUPTI says it lost is noted
//   Finalize                    forgets; the next session arms again
//
// Every call goes on to the original with TensorFlow's own arguments, and
// TensorFlow gets the original's answer. Its buffers hold a few records more,
// of kinds that it skips. A wrapper that is not recognized, in any of the ten
// symbols that are needed, is not touched at all.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_CUPTI_TEE_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_CUPTI_TEE_H_

#include <cupti.h>

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "collector/cupti/clock_converter.h"
#include "collector/cupti/device_log.h"
#include "collector/cupti/record_reader.h"
#include "collector/library/tensorflow_library.h"
#include "collector/library/vtable_patch.h"

namespace oom_forensics::cupti {

struct TeeOptions {
  // Have CUPTI note the library that asked for each block (CUPTI 12.6).
  bool allocation_source = false;
  // Called before TensorFlow takes CUPTI: who holds it lets go of it.
  std::function<void()> before_take = [] {};
  // Called after TensorFlow has finalized CUPTI.
  std::function<void()> after_finalize = [] {};
};

class CuptiTee {
 public:
  static CuptiTee& Get();

  // Recognises the wrapper in `library` (libtensorflow_cc.so.2) and redirects
  // its slots. Empty: it is in place. Else why not, half a sentence, and
  // nothing has been changed. Records go to `log`, which must outlive the
  // process.
  std::string Install(const collector::TensorFlowLibrary& library,
                      TeeOptions options, DeviceLog* log);

  // Puts the table back.
  void Uninstall();

  bool installed() const;
  // TensorFlow's tracer is subscribed or has kinds enabled.
  bool tensorflow_traces() const;
  // MEMORY2 has been enabled in the session that runs or in the last one.
  bool recorded() const;
  // Why MEMORY2 could not be enabled then; empty without a problem.
  std::string problem() const;
  // Forgets what the last session was.
  void ForgetSession();
  // From CUPTI's clock to the collector's, in the last session.
  ClockConverter clock() const;

 private:
  friend struct TeeHooks;

  using KindFunction = CUptiResult (*)(void*, CUpti_ActivityKind);

  // The wrapper's functions, by their exported names.
  struct Originals {
    CUptiResult (*subscribe)(void*, CUpti_SubscriberHandle*, CUpti_CallbackFunc,
                             void*) = nullptr;
    CUptiResult (*unsubscribe)(void*, CUpti_SubscriberHandle) = nullptr;
    CUptiResult (*register_callbacks)(void*, CUpti_BuffersCallbackRequestFunc,
                                      CUpti_BuffersCallbackCompleteFunc) =
        nullptr;
    KindFunction enable = nullptr;
    KindFunction disable = nullptr;
    CUptiResult (*dropped)(void*, CUcontext, uint32_t, size_t*) = nullptr;
    CUptiResult (*finalize)(void*) = nullptr;
    NextRecordFunction next_record = nullptr;
    CUptiResult (*timestamp)(void*, uint64_t*) = nullptr;
  };

  // All of these with mutex_ held.
  void Arm(void* wrapper);
  void Disarm(void* wrapper);
  void ReadClocks(void* wrapper);

  mutable std::mutex mutex_;
  TeeOptions options_;
  Originals originals_;
  std::vector<collector::VTablePatch> patches_;
  DeviceLog* log_ = nullptr;
  // What TensorFlow has enabled, and what the tee has enabled beside it.
  std::set<CUpti_ActivityKind> tensorflow_kinds_;
  std::set<CUpti_ActivityKind> own_kinds_;
  bool subscribed_ = false;
  // Arm() was tried in this session.
  bool armed_ = false;
  bool recorded_ = false;
  std::string problem_;
  ClockConverter clock_;
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_CUPTI_TEE_H_
