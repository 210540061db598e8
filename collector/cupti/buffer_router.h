// BufferRouter: who gets a completed CUPTI buffer.
//
// CUPTI has one pair of callbacks per process and gives a buffer to whoever is
// registered when it is completed, not to who was asked for it. While the pair
// passes from us to TensorFlow and back, a buffer can so come to the wrong
// side, which would free memory that is not its own. Therefore the completion
// callback that CUPTI knows is always this one, and it knows its own buffers:
//
//             requested from us ──▶ read, freed here
//   CUPTI ──▶                                          CompleteBuffer
//             anything else     ──▶ read, then handed on to TensorFlow's
//                                   callback, untouched
//
// One per process, because CUPTI's callbacks carry no pointer of the user.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_BUFFER_ROUTER_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_BUFFER_ROUTER_H_

#include <cupti.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>

#include "collector/cupti/device_log.h"
#include "collector/cupti/record_reader.h"

namespace oom_forensics::cupti {

class BufferRouter {
 public:
  static BufferRouter& Get();

  // Where records go to. Not owned; must stay while buffers can arrive.
  void SetLog(DeviceLog* log) { log_ = log; }

  // How records are walked, and whether their source may be followed.
  void SetNextRecord(const NextRecord& next);
  void SetReadSource(bool read_source) { read_source_ = read_source; }

  // TensorFlow's own callback, which gets all buffers but ours.
  void SetTensorFlowCallback(CUpti_BuffersCallbackCompleteFunc complete) {
    tensorflow_ = complete;
  }

  // Buffers of ours that CUPTI has not given back.
  size_t own_buffers() const;

  // What CUPTI is given.
  static void CUPTIAPI RequestOwnBuffer(uint8_t** buffer, size_t* size,
                                        size_t* max_records);
  static void CUPTIAPI CompleteBuffer(CUcontext context, uint32_t stream,
                                      uint8_t* buffer, size_t size,
                                      size_t valid_bytes);

 private:
  // As in NVIDIA's samples and in TensorFlow.
  static constexpr size_t kBufferBytes = 32 * 1024;
  static constexpr size_t kBufferAlignment = 8;

  uint8_t* NewBuffer();
  bool Forget(uint8_t* buffer);
  void Read(uint8_t* buffer, size_t valid_bytes) noexcept;

  std::atomic<DeviceLog*> log_{nullptr};
  std::atomic<CUpti_BuffersCallbackCompleteFunc> tensorflow_{nullptr};
  std::atomic<bool> read_source_{false};
  mutable std::mutex mutex_;
  NextRecord next_;
  std::set<uint8_t*> own_buffers_;
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_BUFFER_ROUTER_H_
