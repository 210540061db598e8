#include "converter/run/run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "converter/cancellation/cancellation.h"
#include "converter/run/host_loader.h"

namespace oom_forensics {
namespace {

std::unique_ptr<const HostTrace> WithoutEvents(const HostSummary& summary) {
  auto trace = std::make_unique<HostTrace>();
  trace->host = summary.host;
  for (const AllocatorSummary& allocator : summary.allocators) {
    trace->allocators.emplace_back().name = allocator.name;
  }
  return trace;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Run>> Run::Open(const TraceFiles& files,
                                               const RunOptions& options) {
  const uint32_t threads =
      options.threads > 0 ? options.threads
                          : std::max(1u, std::thread::hardware_concurrency());
  ReadOptions read = options.read;
  // Each of several hosts has a thread of its own.
  if (files.paths.size() == 1 && threads > 1) read.threads = threads;
  auto store = std::make_unique<HostStore>(files.paths, read);
  auto hosts = SummarizeHosts(store.get(), threads, options.progress);
  if (!hosts.ok()) return hosts.status();
  auto run = std::unique_ptr<Run>(new Run);
  run->name_ = files.run_name;
  run->store_ = std::move(store);
  run->hosts_ = *std::move(hosts);
  return run;
}

Run::Run(std::vector<std::unique_ptr<HostAnalysis>> hosts) {
  for (const auto& host : hosts) hosts_.push_back(Summarize(*host));
  store_ = std::make_unique<HostStore>(std::move(hosts));
}

SharedHost Run::Load(size_t host) const {
  StopIfCancelled();
  auto loaded = store_->Get(host, nullptr);
  if (loaded.ok()) return *std::move(loaded);
  load_failure_.Update(loaded.status());
  return std::make_shared<const HostAnalysis>(WithoutEvents(hosts_[host]));
}

}  // namespace oom_forensics
