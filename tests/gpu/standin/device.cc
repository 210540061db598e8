#include "tests/gpu/standin/device.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/gpu/standin/settings.h"

namespace standin_gpu {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kPage = 2 * kMiB;
constexpr size_t kSmallest = 512;
// A pool takes from its device in such pieces.
constexpr size_t kPoolStep = 32 * kMiB;
// A copy between devices of more has no values: nobody computed them.
constexpr size_t kLargestCopy = 16 * kMiB;

size_t RoundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Large allocations take whole pages of the device, small ones share one.
size_t Rounded(size_t bytes) {
  return RoundUp(std::max<size_t>(bytes, 1), bytes >= kMiB ? kPage : kSmallest);
}

char* Reserve(size_t bytes) {
  void* const range = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    std::fprintf(stderr, "stand-in GPU: no %zu MiB of addresses\n",
                 bytes / kMiB);
    std::abort();
  }
  return static_cast<char*>(range);
}

// Four times the device, so that fragments of addresses never matter.
size_t RangeBytes() { return 4 * TheSettings().model.total_bytes; }

std::mutex& HostMutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

std::map<char*, size_t>& HostBlocks() {
  static auto* blocks = new std::map<char*, size_t>;
  return *blocks;
}

// Gives the pages in between back; what reads them sees zeros.
void Clear(char* begin, size_t bytes) {
  char* const end = begin + bytes;
  const auto aligned = [](char* address, size_t up) {
    return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(address) + up) &
                                   ~uintptr_t{4095});
  };
  char* const first = aligned(begin, 4095);
  char* const last = aligned(end, 0);
  if (first >= last) {
    std::memset(begin, 0, bytes);
    return;
  }
  std::memset(begin, 0, static_cast<size_t>(first - begin));
  madvise(first, static_cast<size_t>(last - first), MADV_DONTNEED);
  std::memset(last, 0, static_cast<size_t>(end - last));
}

std::vector<Device*> MakeDevices() {
  std::vector<Device*> devices;
  const int count = TheSettings().devices;
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) {
    for (int i = 0; i < count; ++i) devices.push_back(new Device(i));
    return devices;
  }
  // As the driver reads it: up to the first that is not there.
  for (const char* at = visible; *at != '\0';) {
    char* end = nullptr;
    const long number = std::strtol(at, &end, 10);
    if (end == at || number < 0 || number >= count) break;
    devices.push_back(new Device(static_cast<int>(number)));
    at = *end == ',' ? end + 1 : end;
    if (*end != ',') break;
  }
  return devices;
}

}  // namespace

Device::Device(int number) : number_(number), begin_(Reserve(RangeBytes())) {
  holes_[begin_] = RangeBytes();
}

size_t Device::total_bytes() const { return TheSettings().model.total_bytes; }

size_t Device::FreeBytesLocked() const {
  const size_t taken = allocated_bytes_ + reserved_bytes_ + library_bytes_ +
                       OtherBytes() +
                       (contexts_ > 0 ? TheSettings().model.context_bytes : 0);
  return total_bytes() - std::min(total_bytes(), taken);
}

size_t Device::FreeBytes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return FreeBytesLocked();
}

size_t Device::OwnBytes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return allocated_bytes_ + reserved_bytes_ + library_bytes_ +
         (contexts_ > 0 ? TheSettings().model.context_bytes : 0);
}

char* Device::Place(size_t bytes) {
  for (const auto& [address, size] : holes_) {
    if (size < bytes) continue;
    char* const place = address;
    const size_t rest = size - bytes;
    holes_.erase(place);
    if (rest > 0) holes_[place + bytes] = rest;
    return place;
  }
  return nullptr;
}

void* Device::Allocate(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t counted = Rounded(bytes);
  if (counted > FreeBytesLocked()) return nullptr;
  char* const place = Place(counted);
  if (place == nullptr) return nullptr;
  blocks_[place] = {bytes, counted, nullptr};
  allocated_bytes_ += counted;
  return place;
}

void* Device::AllocateFrom(Pool* pool, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t counted = Rounded(bytes);
  const size_t used = pool->used_bytes + counted;
  if (used > pool->reserved_bytes) {
    size_t more = RoundUp(used - pool->reserved_bytes, kPoolStep);
    if (more > FreeBytesLocked()) more = used - pool->reserved_bytes;
    if (more > FreeBytesLocked()) return nullptr;
    pool->reserved_bytes += more;
    reserved_bytes_ += more;
    pool->reserved_high_bytes =
        std::max(pool->reserved_high_bytes, pool->reserved_bytes);
  }
  char* const place = Place(counted);
  if (place == nullptr) return nullptr;
  blocks_[place] = {bytes, counted, pool};
  pool->used_bytes = used;
  pool->used_high_bytes = std::max(pool->used_high_bytes, used);
  return place;
}

bool Device::Free(void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto block = blocks_.find(static_cast<char*>(address));
  if (block == blocks_.end()) return false;
  char* begin = block->first;
  size_t bytes = block->second.counted_bytes;
  if (Pool* const pool = block->second.pool; pool != nullptr) {
    pool->used_bytes -= bytes;
    const size_t keep =
        std::max<size_t>(pool->used_bytes, pool->release_threshold_bytes);
    if (pool->reserved_bytes > keep) {
      reserved_bytes_ -= pool->reserved_bytes - keep;
      pool->reserved_bytes = keep;
    }
  } else {
    allocated_bytes_ -= bytes;
  }
  blocks_.erase(block);
  madvise(begin, bytes, MADV_DONTNEED);
  auto next = holes_.lower_bound(begin);
  if (next != holes_.end() && begin + bytes == next->first) {
    bytes += next->second;
    next = holes_.erase(next);
  }
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += bytes;
      return true;
    }
  }
  holes_[begin] = bytes;
  return true;
}

bool Device::Find(const void* address, void** base, size_t* bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto* const at = static_cast<char*>(const_cast<void*>(address));
  auto block = blocks_.upper_bound(at);
  if (block == blocks_.begin()) return false;
  --block;
  if (at >= block->first + block->second.counted_bytes) return false;
  *base = block->first;
  *bytes = block->second.bytes;
  return true;
}

bool Device::Take(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > FreeBytesLocked()) return false;
  library_bytes_ += bytes;
  return true;
}

void Device::Give(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  library_bytes_ -= std::min(library_bytes_, bytes);
}

bool Device::RetainContext() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (contexts_ == 0 && FreeBytesLocked() < TheSettings().model.context_bytes) {
    return false;
  }
  ++contexts_;
  return true;
}

void Device::ReleaseContext() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (contexts_ > 0) --contexts_;
}

void Device::Trim(Pool* pool, size_t keep_bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t keep = std::max(pool->used_bytes, keep_bytes);
  if (pool->reserved_bytes <= keep) return;
  reserved_bytes_ -= pool->reserved_bytes - keep;
  pool->reserved_bytes = keep;
}

std::vector<Device*>& Devices() {
  static auto* devices = new std::vector<Device*>(MakeDevices());
  return *devices;
}

Device* DeviceHolding(const void* address) {
  void* base = nullptr;
  size_t bytes = 0;
  for (Device* const device : Devices()) {
    if (device->Find(address, &base, &bytes)) return device;
  }
  return nullptr;
}

std::string PciBusId(const Device& device) {
  char text[16];
  std::snprintf(text, sizeof(text), "0000:%02x:00.0", device.number() + 1);
  return text;
}

void* AllocateHost(size_t bytes) {
  char* const block = Reserve(RoundUp(std::max<size_t>(bytes, 1), 4096));
  const std::lock_guard<std::mutex> lock(HostMutex());
  HostBlocks()[block] = RoundUp(std::max<size_t>(bytes, 1), 4096);
  return block;
}

bool FreeHost(void* address) {
  const std::lock_guard<std::mutex> lock(HostMutex());
  const auto block = HostBlocks().find(static_cast<char*>(address));
  if (block == HostBlocks().end()) return false;
  munmap(block->first, block->second);
  HostBlocks().erase(block);
  return true;
}

bool IsPinned(const void* address) {
  const std::lock_guard<std::mutex> lock(HostMutex());
  auto* const at = static_cast<char*>(const_cast<void*>(address));
  auto block = HostBlocks().upper_bound(at);
  if (block == HostBlocks().begin()) return false;
  --block;
  return at < block->first + block->second;
}

void Copy(void* to, const void* from, size_t bytes) {
  if (bytes > kLargestCopy && DeviceHolding(to) != nullptr &&
      DeviceHolding(from) != nullptr) {
    Clear(static_cast<char*>(to), bytes);
    return;
  }
  std::memmove(to, from, bytes);
}

void Fill(void* to, int value, size_t bytes) {
  if (bytes > kLargestCopy) {
    Clear(static_cast<char*>(to), bytes);
    return;
  }
  std::memset(to, value, bytes);
}

void* NewHandle() {
  // Room, for a caller that looks into what it was given.
  return std::calloc(1, 1024);
}

}  // namespace standin_gpu
