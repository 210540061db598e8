#include "collector/cupti/buffer_router.h"

#include <cstdlib>
#include <new>

namespace oom_forensics::cupti {

BufferRouter& BufferRouter::Get() {
  // Never destroyed: CUPTI may call until the process is gone.
  static auto* const router = new BufferRouter;
  return *router;
}

void BufferRouter::SetNextRecord(const NextRecord& next) {
  const std::lock_guard<std::mutex> lock(mutex_);
  next_ = next;
}

size_t BufferRouter::own_buffers() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return own_buffers_.size();
}

uint8_t* BufferRouter::NewBuffer() {
  auto* const buffer =
      static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  if (buffer == nullptr) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  try {
    own_buffers_.insert(buffer);
  } catch (const std::bad_alloc&) {
    std::free(buffer);
    return nullptr;
  }
  return buffer;
}

bool BufferRouter::Forget(uint8_t* buffer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return own_buffers_.erase(buffer) != 0;
}

void BufferRouter::Read(uint8_t* buffer, size_t valid_bytes) noexcept {
  DeviceLog* const log = log_;
  NextRecord next;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    next = next_;
  }
  if (log == nullptr || next.function == nullptr) return;
  ReadBuffer(next, buffer, valid_bytes, read_source_, *log);
}

void BufferRouter::RequestOwnBuffer(uint8_t** buffer, size_t* size,
                                    size_t* max_records) {
  *buffer = Get().NewBuffer();
  // Without a buffer CUPTI drops the records, and counts them.
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;
}

void BufferRouter::CompleteBuffer(CUcontext context, uint32_t stream,
                                  uint8_t* buffer, size_t size,
                                  size_t valid_bytes) {
  BufferRouter& router = Get();
  router.Read(buffer, valid_bytes);
  if (router.Forget(buffer)) {
    std::free(buffer);
    return;
  }
  const CUpti_BuffersCallbackCompleteFunc tensorflow = router.tensorflow_;
  if (tensorflow != nullptr) {
    tensorflow(context, stream, buffer, size, valid_bytes);
  }
}

}  // namespace oom_forensics::cupti
