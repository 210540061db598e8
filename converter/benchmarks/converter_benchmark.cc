// How parsing, replay and queries grow with the trace: the time of the first
// two in proportion to its events, that of queries hardly at all.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "converter/benchmarks/synthetic_trace.h"
#include "converter/datasets/dataset.h"
#include "converter/reader/trace_reader.h"
#include "converter/run/run.h"

namespace oom_forensics {
namespace {

constexpr int64_t kSmall = 10'000;
constexpr int64_t kLarge = 1'000'000;

std::string Trace(const benchmark::State& state) {
  benchmarks::SyntheticTraceOptions options;
  options.events = static_cast<uint64_t>(state.range(0));
  options.live = 2000;
  return benchmarks::MakeSyntheticTrace(options);
}

std::unique_ptr<const HostTrace> Read(const std::string& bytes) {
  return *ReadTraceFromBytes(bytes, "benchmark.xplane.pb", ReadOptions());
}

std::unique_ptr<Run> OpenTrace(const std::string& bytes) {
  std::vector<std::unique_ptr<HostAnalysis>> hosts;
  hosts.push_back(std::make_unique<HostAnalysis>(Read(bytes)));
  return std::make_unique<Run>(std::move(hosts));
}

void BM_Parse(benchmark::State& state) {
  const std::string bytes = Trace(state);
  for (auto _ : state) benchmark::DoNotOptimize(Read(bytes));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(bytes.size()));
}
BENCHMARK(BM_Parse)->Range(kSmall, kLarge)->Unit(benchmark::kMillisecond);

void BM_Replay(benchmark::State& state) {
  const auto trace = Read(Trace(state));
  for (auto _ : state) {
    const AllocatorReplay replay(*trace, trace->allocators.front());
    benchmark::DoNotOptimize(replay.peak_position());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Replay)->Range(kSmall, kLarge)->Unit(benchmark::kMillisecond);

void Ask(benchmark::State& state, const Query& query) {
  const auto run = OpenTrace(Trace(state));
  for (auto _ : state) {
    benchmark::DoNotOptimize(AnswerQuery({*run, nullptr, query}));
  }
}

void BM_Timeline(benchmark::State& state) {
  Query query;
  query.set_dataset(MEMORY_TIMELINE);
  query.set_columns(2000);
  Ask(state, query);
}
BENCHMARK(BM_Timeline)->Range(kSmall, kLarge)->Unit(benchmark::kMillisecond);

void BM_LiveSet(benchmark::State& state) {
  Query query;
  query.set_dataset(ALLOCATIONS);
  query.mutable_at()->set_event(state.range(0) / 2);
  Ask(state, query);
}
BENCHMARK(BM_LiveSet)->Range(kSmall, kLarge)->Unit(benchmark::kMillisecond);

void BM_OomWindow(benchmark::State& state) {
  Query query;
  query.set_dataset(OOM_WINDOW);
  Ask(state, query);
}
BENCHMARK(BM_OomWindow)->Range(kSmall, kLarge)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace oom_forensics

BENCHMARK_MAIN();
