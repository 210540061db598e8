// What a snapshot costs, by how many allocations are live: the standstill in
// which they are copied, and the trace that is written of them.
//
//   bazel run --config=release //collector/trace:snapshot_benchmark
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <memory>
#include <string>

#include "collector/recording/recorder.h"
#include "collector/trace/trace_writer.h"

namespace oom_forensics::collector {
namespace {

int64_t PeakBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

void BM_Snapshot(benchmark::State& state) {
  const auto live = static_cast<uint64_t>(state.range(0));
  Recorder recorder{Settings{}};
  for (uint64_t i = 0; i < live; ++i) {
    SiteKey key;
    key.op = "sequential/dense/MatMul";
    key.requested_bytes = 256 + i % 1000;
    key.allocated_bytes = 1280;
    recorder.RecordAlloc(0, reinterpret_cast<const void*>((i + 1) << 11),
                         recorder.sites().Intern(key)->id, 42, 1);
  }
  AllocatorInfo info;
  info.name = "bfc";
  info.kind = "bfc";
  const int64_t before = PeakBytes();
  for (auto _ : state) {
    const auto recording = recorder.Recent();
    benchmark::DoNotOptimize(WriteTrace({}, {info}, *recording,
                                        recorder.sites().Snapshot(),
                                        recorder.stacks().Snapshot()));
  }
  state.counters["bytes_each"] =
      static_cast<double>(PeakBytes() - before) / static_cast<double>(live);
}
BENCHMARK(BM_Snapshot)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Arg(4'000'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace oom_forensics::collector

BENCHMARK_MAIN();
