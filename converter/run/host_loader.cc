#include "converter/run/host_loader.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/run/memory_budget.h"

namespace oom_forensics {
namespace {

// An event takes a few dozen bytes in the file, and less than four times that
// once it is read and replayed.
constexpr uint64_t kResidentBytesPerFileByte = 4;

uint64_t EstimateBytes(const std::string& path) {
  std::error_code error;
  const uintmax_t file_bytes = std::filesystem::file_size(path, error);
  return error ? 0 : file_bytes * kResidentBytesPerFileByte;
}

class HostLoader {
 public:
  HostLoader(const std::vector<std::string>& paths, const RunOptions& options)
      : paths_(paths),
        options_(options),
        budget_(options.read.max_resident_bytes),
        parts_(paths.size(), 0.0),
        hosts_(paths.size()),
        statuses_(paths.size()) {}

  absl::StatusOr<std::vector<std::unique_ptr<HostAnalysis>>> Load() {
    std::vector<std::thread> threads;
    for (size_t i = 1; i < ThreadCount(); ++i) {
      threads.emplace_back([this] { Work(); });
    }
    Work();
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& status : statuses_) {
      if (status.ok()) continue;
      // Its message names what was left for that host, not the limit.
      if (absl::IsResourceExhausted(status) && paths_.size() > 1) {
        return OverLimit();
      }
      return status;
    }
    if (!budget_.IsKept()) return OverLimit();
    return std::move(hosts_);
  }

 private:
  absl::Status OverLimit() const {
    return absl::ResourceExhaustedError(absl::StrCat(
        "This run's ", paths_.size(), " hosts need more than the limit of ",
        options_.read.max_resident_bytes >> 20,
        " MiB; open one of its files, or raise --max-memory-mb."));
  }

  size_t ThreadCount() const {
    const uint32_t wanted = options_.threads > 0
                                ? options_.threads
                                : std::thread::hardware_concurrency();
    return std::clamp<size_t>(wanted, 1, std::max<size_t>(1, paths_.size()));
  }

  void Work() {
    while (true) {
      size_t index = 0;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (failed_ || next_ == paths_.size()) return;
        index = next_++;
      }
      // Each index is one thread's own.
      statuses_[index] = LoadHost(index);
      if (statuses_[index].ok()) continue;
      const std::lock_guard<std::mutex> lock(mutex_);
      failed_ = true;
    }
  }

  absl::Status LoadHost(size_t index) {
    const uint64_t estimate_bytes = EstimateBytes(paths_[index]);
    ReadOptions read = options_.read;
    read.max_resident_bytes = budget_.Reserve(estimate_bytes);
    if (options_.progress) {
      read.progress = [this, index](double part) { Report(index, part); };
    }
    auto trace = ReadTrace(paths_[index], read);
    if (trace.ok()) {
      hosts_[index] = std::make_unique<HostAnalysis>(*std::move(trace));
      if (options_.progress) Report(index, 1.0);
    }
    budget_.Settle(estimate_bytes, hosts_[index] == nullptr
                                       ? 0
                                       : hosts_[index]->ResidentBytes());
    return trace.status();
  }

  void Report(size_t index, double part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ += part - parts_[index];
    parts_[index] = part;
    options_.progress(done_ / static_cast<double>(paths_.size()));
  }

  const std::vector<std::string>& paths_;
  const RunOptions& options_;
  MemoryBudget budget_;
  // Guards what follows, down to parts_ (memory_budget.h says why not
  // Abseil's).
  std::mutex mutex_;
  size_t next_ = 0;
  bool failed_ = false;
  double done_ = 0;
  // By index of the path.
  std::vector<double> parts_;
  std::vector<std::unique_ptr<HostAnalysis>> hosts_;
  std::vector<absl::Status> statuses_;
};

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<HostAnalysis>>> LoadHosts(
    const std::vector<std::string>& paths, const RunOptions& options) {
  return HostLoader(paths, options).Load();
}

}  // namespace oom_forensics
