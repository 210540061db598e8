#include "collector/cupti/testing/standin_tensorflow.h"

#include <cupti.h>

#include <cstdlib>
#include <set>

namespace xla::profiler {

// In the order of TensorFlow's header, as far as a tracer calls it.
class CuptiInterface {
 public:
  virtual ~CuptiInterface() = default;
  virtual CUptiResult ActivityDisable(CUpti_ActivityKind kind) = 0;
  virtual CUptiResult ActivityEnable(CUpti_ActivityKind kind) = 0;
  virtual CUptiResult ActivityFlushAll(uint32_t flag) = 0;
  virtual CUptiResult ActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes,
                                            CUpti_Activity** record) = 0;
  virtual CUptiResult ActivityGetNumDroppedRecords(CUcontext context,
                                                   uint32_t stream,
                                                   size_t* dropped) = 0;
  virtual CUptiResult ActivityRegisterCallbacks(
      CUpti_BuffersCallbackRequestFunc request,
      CUpti_BuffersCallbackCompleteFunc complete) = 0;
  virtual CUptiResult GetTimestamp(uint64_t* timestamp) = 0;
  virtual CUptiResult Finalize() = 0;
  virtual CUptiResult Subscribe(CUpti_SubscriberHandle* subscriber,
                                CUpti_CallbackFunc callback, void* data) = 0;
  virtual CUptiResult Unsubscribe(CUpti_SubscriberHandle subscriber) = 0;
};

class CuptiWrapper : public CuptiInterface {
 public:
  CUptiResult ActivityDisable(CUpti_ActivityKind kind) override;
  CUptiResult ActivityEnable(CUpti_ActivityKind kind) override;
  CUptiResult ActivityFlushAll(uint32_t flag) override;
  CUptiResult ActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes,
                                    CUpti_Activity** record) override;
  CUptiResult ActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
                                           size_t* dropped) override;
  CUptiResult ActivityRegisterCallbacks(
      CUpti_BuffersCallbackRequestFunc request,
      CUpti_BuffersCallbackCompleteFunc complete) override;
  CUptiResult GetTimestamp(uint64_t* timestamp) override;
  CUptiResult Finalize() override;
  CUptiResult Subscribe(CUpti_SubscriberHandle* subscriber,
                        CUpti_CallbackFunc callback, void* data) override;
  CUptiResult Unsubscribe(CUpti_SubscriberHandle subscriber) override;
};

CUptiResult CuptiWrapper::ActivityDisable(CUpti_ActivityKind kind) {
  return cuptiActivityDisable(kind);
}
CUptiResult CuptiWrapper::ActivityEnable(CUpti_ActivityKind kind) {
  return cuptiActivityEnable(kind);
}
CUptiResult CuptiWrapper::ActivityFlushAll(uint32_t flag) {
  return cuptiActivityFlushAll(flag);
}
CUptiResult CuptiWrapper::ActivityGetNextRecord(uint8_t* buffer,
                                                size_t valid_bytes,
                                                CUpti_Activity** record) {
  return cuptiActivityGetNextRecord(buffer, valid_bytes, record);
}
CUptiResult CuptiWrapper::ActivityGetNumDroppedRecords(CUcontext context,
                                                       uint32_t stream,
                                                       size_t* dropped) {
  return cuptiActivityGetNumDroppedRecords(context, stream, dropped);
}
CUptiResult CuptiWrapper::ActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request,
    CUpti_BuffersCallbackCompleteFunc complete) {
  return cuptiActivityRegisterCallbacks(request, complete);
}
CUptiResult CuptiWrapper::GetTimestamp(uint64_t* timestamp) {
  return cuptiGetTimestamp(timestamp);
}
CUptiResult CuptiWrapper::Finalize() { return cuptiFinalize(); }
CUptiResult CuptiWrapper::Subscribe(CUpti_SubscriberHandle* subscriber,
                                    CUpti_CallbackFunc callback, void* data) {
  return cuptiSubscribe(subscriber, callback, data);
}
CUptiResult CuptiWrapper::Unsubscribe(CUpti_SubscriberHandle subscriber) {
  return cuptiUnsubscribe(subscriber);
}

// Not inlined, so that the calls through it stay virtual, as they are where
// TensorFlow's CuptiErrorManager stands between tracer and wrapper.
__attribute__((noinline)) CuptiInterface* GetCuptiInterface() {
  static CuptiInterface* const wrapper = new CuptiWrapper;
  asm volatile("" ::: "memory");
  return wrapper;
}

}  // namespace xla::profiler

namespace oom_forensics::cupti::testing {
namespace {

using xla::profiler::CuptiInterface;
using xla::profiler::GetCuptiInterface;

constexpr size_t kBufferBytes = 32 * 1024;
constexpr CUpti_ActivityKind kKinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_OVERHEAD,
    CUPTI_ACTIVITY_KIND_MEMSET};

TracerResult g_result;
std::set<uint8_t*> g_handed_out;
CUpti_SubscriberHandle g_subscriber;

void CUPTIAPI RequestBuffer(uint8_t** buffer, size_t* size,
                            size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
  g_handed_out.insert(*buffer);
}

void CUPTIAPI ProcessBuffer(CUcontext context, uint32_t stream, uint8_t* buffer,
                            size_t, size_t valid_bytes) {
  CuptiInterface* const cupti = GetCuptiInterface();
  CUpti_Activity* record = nullptr;
  while (cupti->ActivityGetNextRecord(buffer, valid_bytes, &record) ==
         CUPTI_SUCCESS) {
    ++g_result.records[record->kind];
  }
  size_t dropped = 0;
  cupti->ActivityGetNumDroppedRecords(context, stream, &dropped);
  g_result.dropped_records += dropped;
  if (g_handed_out.erase(buffer) == 0) {
    ++g_result.foreign_buffers;
    return;
  }
  std::free(buffer);
}

void CUPTIAPI ApiCallback(void*, CUpti_CallbackDomain, CUpti_CallbackId,
                          const void*) {}

}  // namespace

bool StartTracer() {
  CuptiInterface* const cupti = GetCuptiInterface();
  g_result = TracerResult();
  if (cupti->Subscribe(&g_subscriber, &ApiCallback, nullptr) != CUPTI_SUCCESS ||
      cupti->ActivityRegisterCallbacks(&RequestBuffer, &ProcessBuffer) !=
          CUPTI_SUCCESS) {
    return false;
  }
  for (const CUpti_ActivityKind kind : kKinds) cupti->ActivityEnable(kind);
  g_result.started = true;
  return true;
}

TracerResult StopTracer(bool finalize) {
  CuptiInterface* const cupti = GetCuptiInterface();
  cupti->Unsubscribe(g_subscriber);
  for (const CUpti_ActivityKind kind : kKinds) cupti->ActivityDisable(kind);
  cupti->ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (finalize) cupti->Finalize();
  g_result.lost_buffers = g_handed_out.size();
  return g_result;
}

}  // namespace oom_forensics::cupti::testing
