// What the hook itself costs for one allocation and its free, without
// TensorFlow: interning the site, recording both events, keeping the live set.
//
//   bazel run --config=release //collector/recording:recorder_benchmark
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "collector/recording/recorder.h"
#include "collector/recording/thread_state.h"

namespace oom_forensics::collector {
namespace {

// As many live tensors and different ops as a training step of a mid-size model
// has.
constexpr uint64_t kLive = 4096;
constexpr int kOps = 300;

Recorder& TheRecorder() {
  static auto* const recorder = new Recorder(Settings{});
  return *recorder;
}

const std::vector<std::string>& OpNames() {
  static auto* const names = [] {
    auto* names = new std::vector<std::string>;
    for (int i = 0; i < kOps; ++i) {
      names->push_back("StatefulPartitionedCall/sequential_1/conv2d_" +
                       std::to_string(i) + "/convolution");
    }
    return names;
  }();
  return *names;
}

void BM_AllocAndFree(benchmark::State& state) {
  Recorder& recorder = TheRecorder();
  if (state.range(0) != 0 && state.thread_index() == 0)
    recorder.StartCapture(CaptureOwner::kProfiler);
  const auto thread = static_cast<uint32_t>(state.thread_index() + 1);
  uint64_t i = 0;
  for (auto _ : state) {
    const auto* address = reinterpret_cast<const void*>(uint64_t{thread} << 36 |
                                                        (i % kLive + 1) << 8);
    SiteKey key;
    key.op = OpNames()[i % kOps];
    key.shape = "[32,64,64,128]";
    key.region_type = "output";
    key.dtype = 1;
    key.requested_bytes = 1 << 20;
    key.allocated_bytes = 1 << 20;
    const Site* site = CurrentThread().sites.Intern(key, &recorder.sites());
    recorder.RecordAlloc(0, address, site->id, 42, thread);
    recorder.RecordFree(0, address, thread);
    ++i;
  }
  if (state.range(0) != 0 && state.thread_index() == 0)
    recorder.StopCapture(CaptureOwner::kProfiler);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_AllocAndFree)
    ->ArgName("capturing")
    ->Arg(0)
    ->Arg(1)
    ->ThreadRange(1, 8)
    ->UseRealTime();

void BM_InternKnownSite(benchmark::State& state) {
  SiteInterner& sites = TheRecorder().sites();
  SiteKey key;
  key.shape = "[32,64,64,128]";
  key.region_type = "output";
  key.dtype = 1;
  key.requested_bytes = 1 << 20;
  uint64_t i = 0;
  for (auto _ : state) {
    key.op = OpNames()[i++ % kOps];
    benchmark::DoNotOptimize(sites.Intern(key));
  }
}
BENCHMARK(BM_InternKnownSite);

}  // namespace
}  // namespace oom_forensics::collector

BENCHMARK_MAIN();
