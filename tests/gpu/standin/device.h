// A device's memory: a range of host addresses, of which no more is lent than
// the device has. Pages are taken from the host only where a copy writes.
#ifndef OOM_FORENSICS_TESTS_GPU_STANDIN_DEVICE_H_
#define OOM_FORENSICS_TESTS_GPU_STANDIN_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace standin_gpu {

// Memory of CUDA's stream-ordered allocator.
struct Pool {
  int device = 0;
  uint64_t release_threshold_bytes = 0;
  size_t reserved_bytes = 0;
  size_t reserved_high_bytes = 0;
  size_t used_bytes = 0;
  size_t used_high_bytes = 0;
};

class Device {
 public:
  // `number` is the machine's; CUDA_VISIBLE_DEVICES chooses among them.
  explicit Device(int number);

  int number() const { return number_; }
  size_t total_bytes() const;
  size_t FreeBytes();
  // What this process holds: context, allocations, pools, libraries.
  size_t OwnBytes();

  // nullptr if the device has not as much left.
  void* Allocate(size_t bytes);
  // From the pool's reserve first; nullptr if the device has not as much left.
  void* AllocateFrom(Pool* pool, size_t bytes);
  // False if no allocation begins there.
  bool Free(void* address);
  // The allocation that holds `address`; false if none does.
  bool Find(const void* address, void** base, size_t* bytes);

  // A library's own memory, without an address.
  bool Take(size_t bytes);
  void Give(size_t bytes);

  // False where the device has no room for a context.
  bool RetainContext();
  void ReleaseContext();
  bool has_context() const { return contexts_ > 0; }

  void Trim(Pool* pool, size_t keep_bytes);
  Pool* default_pool() { return &default_pool_; }

  unsigned int context_flags = 0;

 private:
  struct Block {
    size_t bytes;          // as asked for
    size_t counted_bytes;  // as taken from the device or the pool
    Pool* pool;
  };

  size_t FreeBytesLocked() const;
  char* Place(size_t bytes);

  const int number_;
  char* const begin_;
  std::mutex mutex_;
  std::map<char*, size_t> holes_;
  std::map<char*, Block> blocks_;
  size_t allocated_bytes_ = 0;
  size_t reserved_bytes_ = 0;
  size_t library_bytes_ = 0;
  int contexts_ = 0;
  Pool default_pool_;
};

// The devices that CUDA_VISIBLE_DEVICES leaves, by CUDA's ordinal.
std::vector<Device*>& Devices();

// The device whose allocation holds `address`; nullptr for host memory.
Device* DeviceHolding(const void* address);

// The calling thread's device: that of its current context, else the first.
int CurrentDevice();

std::string PciBusId(const Device& device);

// Host memory that was pinned by the driver.
void* AllocateHost(size_t bytes);
bool FreeHost(void* address);
bool IsPinned(const void* address);

// Copies; what is too large to be of use as values becomes zeros on a device.
void Copy(void* to, const void* from, size_t bytes);
void Fill(void* to, int value, size_t bytes);

// A handle that nobody looks into, never the same twice.
void* NewHandle();

}  // namespace standin_gpu

#endif  // OOM_FORENSICS_TESTS_GPU_STANDIN_DEVICE_H_
