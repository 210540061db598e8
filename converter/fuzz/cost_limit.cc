#include "converter/fuzz/cost_limit.h"

#include <malloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>

namespace {

// What operator new has given and not got back, and the most of it.
std::atomic<int64_t> g_live_bytes{0};
std::atomic<int64_t> g_peak_bytes{0};

void Count(int64_t bytes) {
  const int64_t live = g_live_bytes.fetch_add(bytes) + bytes;
  int64_t peak = g_peak_bytes.load();
  while (live > peak && !g_peak_bytes.compare_exchange_weak(peak, live)) {
  }
}

}  // namespace

// Both forms end in the operator delete below: AddressSanitizer has its own of
// each, and checks that they belong together.
void* operator new(size_t size_bytes, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(size_bytes);
  if (memory == nullptr) return nullptr;
  Count(static_cast<int64_t>(malloc_usable_size(memory)));
  return memory;
}

void* operator new(size_t size_bytes) {
  void* const memory = operator new(size_bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  Count(-static_cast<int64_t>(malloc_usable_size(memory)));
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace oom_forensics {
namespace {

// All datasets of an input are asked for, under sanitizers and in debug builds,
// which take some ten times as long as the program.
constexpr double kBaseS = 5.0;
constexpr double kSPerByte = 200e-6;
constexpr int64_t kBaseBytes = int64_t{192} << 20;
constexpr int64_t kBytesPerByte = 500;

double ProcessorTimeS() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

CostLimit::CostLimit(size_t input_bytes)
    : input_bytes_(input_bytes),
      began_s_(ProcessorTimeS()),
      began_bytes_(g_live_bytes.load()) {
  g_peak_bytes = began_bytes_;
}

CostLimit::~CostLimit() {
  const double seconds = ProcessorTimeS() - began_s_;
  const int64_t bytes = g_peak_bytes.load() - began_bytes_;
  const auto size = static_cast<int64_t>(input_bytes_);
  if (seconds <= kBaseS + kSPerByte * static_cast<double>(size) &&
      bytes <= kBaseBytes + kBytesPerByte * size) {
    return;
  }
  std::fprintf(stderr,
               "An input of %zu bytes took %.1f s of processor time and %lld "
               "bytes of memory: more than in proportion.\n",
               input_bytes_, seconds, static_cast<long long>(bytes));
  std::abort();
}

}  // namespace oom_forensics
