// Runs on a GPU: allocates device memory in every way that the collector
// records, and compares what CUPTI brought, record by record, with what was
// done. Prints a table in Markdown (docs/gpu-results.md).
//
// Exit 0: equal, or "skipped: no CUDA device" where there is none; 1:
// different. CUDA and cuBLAS are opened at run time, so it builds and skips
// anywhere.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "collector/cupti/own_cupti.h"

namespace oom_forensics::cupti {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

void* OpenAny(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_LAZY | RTLD_GLOBAL)) return handle;
  }
  return nullptr;
}

template <typename Function>
bool Find(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  return *function != nullptr;
}

// The calls that are made, of libcudart.
struct Cuda {
  decltype(&cudaGetDeviceCount) device_count = nullptr;
  decltype(&cudaDriverGetVersion) driver_version = nullptr;
  decltype(&cudaDeviceSynchronize) synchronize = nullptr;
  cudaError_t (*malloc)(void**, size_t) = nullptr;
  cudaError_t (*free)(void*) = nullptr;
  cudaError_t (*malloc_host)(void**, size_t) = nullptr;
  cudaError_t (*free_host)(void*) = nullptr;
  cudaError_t (*malloc_managed)(void**, size_t, unsigned int) = nullptr;
  cudaError_t (*malloc_async)(void**, size_t, cudaStream_t) = nullptr;
  cudaError_t (*free_async)(void*, cudaStream_t) = nullptr;

  bool Open() {
    void* const runtime =
        OpenAny({"libcudart.so.13", "libcudart.so.12", "libcudart.so"});
    return runtime != nullptr &&
           Find(runtime, "cudaGetDeviceCount", &device_count) &&
           Find(runtime, "cudaDriverGetVersion", &driver_version) &&
           Find(runtime, "cudaDeviceSynchronize", &synchronize) &&
           Find(runtime, "cudaMalloc", &malloc) &&
           Find(runtime, "cudaFree", &free) &&
           Find(runtime, "cudaMallocHost", &malloc_host) &&
           Find(runtime, "cudaFreeHost", &free_host) &&
           Find(runtime, "cudaMallocManaged", &malloc_managed) &&
           Find(runtime, "cudaMallocAsync", &malloc_async) &&
           Find(runtime, "cudaFreeAsync", &free_async);
  }
};

// What the program did, and what a record must therefore say.
struct Expected {
  const char* call;
  DriverEventKind kind;
  uint8_t memory_kind;
  uint64_t address;
  uint64_t bytes;
  bool is_async;
};

class Check {
 public:
  explicit Check(const Cuda& cuda) : cuda_(cuda) {}

  void AllocateInEveryWay() {
    Pair("cudaMalloc", CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 8 * kMiB, false,
         cuda_.malloc, cuda_.free);
    Pair("cudaMallocHost", CUPTI_ACTIVITY_MEMORY_KIND_PINNED, 4 * kMiB, false,
         cuda_.malloc_host, cuda_.free_host);
    Pair(
        "cudaMallocManaged", CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, 2 * kMiB,
        false,
        [this](void** address, size_t bytes) {
          return cuda_.malloc_managed(address, bytes, cudaMemAttachGlobal);
        },
        cuda_.free);
    Pair(
        "cudaMallocAsync", CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 16 * kMiB, true,
        [this](void** address, size_t bytes) {
          return cuda_.malloc_async(address, bytes, nullptr);
        },
        [this](void* address) { return cuda_.free_async(address, nullptr); });
    cuda_.synchronize();
  }

  // Prints one row per expected record; how many differ.
  int Compare(const std::vector<DriverEvent>& events) const {
    std::printf("| call | record | kind | bytes | result |\n");
    std::printf("| --- | --- | --- | --- | --- |\n");
    int different = 0;
    size_t next = 0;
    for (const Expected& expected : expected_) {
      while (next < events.size() &&
             events[next].kind == DriverEventKind::kPool) {
        ++next;
      }
      const bool equal = next < events.size() && Equal(expected, events[next]);
      if (!equal) ++different;
      std::printf("| %s | %s | %d | %llu | %s |\n", expected.call,
                  expected.kind == DriverEventKind::kAlloc ? "alloc" : "free",
                  expected.memory_kind,
                  static_cast<unsigned long long>(expected.bytes),
                  equal ? "equal" : "DIFFERENT");
      ++next;
    }
    for (; next < events.size(); ++next) {
      if (events[next].kind != DriverEventKind::kPool) ++different;
    }
    return different;
  }

  bool all_calls_worked() const { return worked_; }

 private:
  template <typename Allocate, typename Free>
  void Pair(const char* call, CUpti_ActivityMemoryKind kind, size_t bytes,
            bool is_async, Allocate allocate, Free free) {
    void* address = nullptr;
    worked_ = worked_ && allocate(&address, bytes) == cudaSuccess;
    Expected expected{call,
                      DriverEventKind::kAlloc,
                      static_cast<uint8_t>(kind),
                      reinterpret_cast<uint64_t>(address),
                      bytes,
                      is_async};
    expected_.push_back(expected);
    worked_ = worked_ && free(address) == cudaSuccess;
    expected.kind = DriverEventKind::kFree;
    expected_.push_back(expected);
  }

  static bool Equal(const Expected& expected, const DriverEvent& event) {
    return event.kind == expected.kind &&
           event.memory_kind == expected.memory_kind &&
           event.address == expected.address && event.bytes == expected.bytes &&
           event.is_async == expected.is_async;
  }

  const Cuda& cuda_;
  std::vector<Expected> expected_;
  bool worked_ = true;
};

// What cuBLAS takes for itself: counted, for only cuBLAS knows how much.
void PrintLibraryWorkspace(OwnCupti* own, DeviceLog* log) {
  void* const cublas =
      OpenAny({"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  if (cublas == nullptr || !Find(cublas, "cublasCreate_v2", &create) ||
      !Find(cublas, "cublasDestroy_v2", &destroy)) {
    std::printf("\ncuBLAS: not installed\n");
    return;
  }
  log->Clear();
  void* handle = nullptr;
  if (create(&handle) == 0) destroy(handle);
  own->Flush();
  uint64_t count = 0;
  uint64_t bytes = 0;
  for (const DriverEvent& event : log->Read().events) {
    if (event.kind != DriverEventKind::kAlloc) continue;
    ++count;
    bytes += event.bytes;
  }
  std::printf("\ncuBLAS: %llu allocations, %llu bytes\n",
              static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(bytes));
}

// Median time of a cudaMalloc and its cudaFree, in microseconds.
double MedianPairUs(const Cuda& cuda) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    const Clock::time_point begin = Clock::now();
    void* address = nullptr;
    cuda.malloc(&address, 4 * kMiB);
    cuda.free(address);
    times.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - begin)
            .count());
  }
  std::nth_element(times.begin(), times.begin() + 100, times.end());
  return times[100];
}

// Recording against not recording, in turns, in one run.
void PrintOverhead(const Cuda& cuda, const CuptiLibrary& cupti, OwnCupti* own) {
  std::vector<double> ratios;
  for (int round = 0; round < 5; ++round) {
    own->Yield();
    const double without_us = MedianPairUs(cuda);
    own->Start(cupti, /*allocation_source=*/false);
    const double with_us = MedianPairUs(cuda);
    ratios.push_back(with_us / without_us);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("\noverhead of a cudaMalloc and cudaFree: %.3f (%.3f to %.3f)\n",
              ratios[2], ratios.front(), ratios.back());
}

int Main() {
  Cuda cuda;
  int devices = 0;
  if (!cuda.Open() || cuda.device_count(&devices) != cudaSuccess ||
      devices == 0) {
    std::printf("skipped: no CUDA device\n");
    return 0;
  }
  std::string why;
  const auto cupti = CuptiLibrary::Open(&why);
  if (!cupti.has_value()) {
    std::printf("CUDA device, but no CUPTI: %s\n", why.c_str());
    return 1;
  }
  // Makes the context, whose own memory is not compared.
  cuda.free(nullptr);
  static DeviceLog log;
  OwnCupti own(&log);
  why = own.Start(*cupti, /*allocation_source=*/false);
  if (!why.empty()) {
    std::printf("CUPTI does not record: %s\n", why.c_str());
    return 1;
  }
  int driver = 0;
  cuda.driver_version(&driver);
  std::printf("%d device(s), CUDA driver %d, CUPTI API %u\n\n", devices, driver,
              cupti->version());
  Check check(cuda);
  check.AllocateInEveryWay();
  own.Flush();
  const DeviceLog::Contents contents = log.Read();
  const int different = check.Compare(contents.events);
  std::printf("\ndifferent: %d, unreadable: %llu, clock error: %lld ns\n",
              different,
              static_cast<unsigned long long>(contents.unreadable_records),
              static_cast<long long>(own.clock().error_ns()));
  PrintLibraryWorkspace(&own, &log);
  PrintOverhead(cuda, *cupti, &own);
  own.Yield();
  return different == 0 && check.all_calls_worked() ? 0 : 1;
}

}  // namespace
}  // namespace oom_forensics::cupti

int main() { return oom_forensics::cupti::Main(); }
