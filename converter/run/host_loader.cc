#include "converter/run/host_loader.h"

#include <algorithm>
#include <future>
#include <mutex>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "converter/cancellation/beside.h"
#include "converter/cancellation/cancellation.h"
#include "converter/run/memory_budget.h"

namespace oom_forensics {
namespace {

class HostLoader {
 public:
  HostLoader(HostStore* store, uint32_t threads,
             const std::function<void(double)>& progress)
      : store_(store),
        threads_(threads),
        progress_(progress),
        parts_(store->size(), 0.0),
        summaries_(store->size()),
        statuses_(store->size()) {}

  absl::StatusOr<std::vector<HostSummary>> Load() {
    std::vector<std::future<void>> others;
    for (size_t i = 1; i < ThreadCount(); ++i) {
      others.push_back(StartBeside([this] { Work(); }));
    }
    Work();
    for (std::future<void>& other : others) other.get();
    for (const absl::Status& status : statuses_) {
      if (!status.ok()) return status;
    }
    return std::move(summaries_);
  }

 private:
  size_t ThreadCount() const {
    return std::clamp<size_t>(threads_, 1, std::max<size_t>(1, store_->size()));
  }

  void Work() {
    while (true) {
      size_t index = 0;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (failed_ || next_ == store_->size()) return;
        index = next_++;
      }
      // Each index is one thread's own.
      try {
        statuses_[index] = LoadHost(index);
      } catch (const WorkCancelled& cancelled) {
        // The other threads are to be waited for.
        statuses_[index] = absl::CancelledError(cancelled.what());
      } catch (const std::bad_alloc&) {
        statuses_[index] = NoMemoryLeft();
      }
      if (statuses_[index].ok()) continue;
      const std::lock_guard<std::mutex> lock(mutex_);
      failed_ = true;
    }
  }

  absl::Status LoadHost(size_t index) {
    std::function<void(double)> report;
    if (progress_) {
      report = [this, index](double part) { Report(index, part); };
    }
    const absl::Status read =
        store_->Visit(index, report, [this, index](const HostAnalysis& host) {
          summaries_[index] = Summarize(host);
        });
    if (read.ok() && report) report(1.0);
    return read;
  }

  void Report(size_t index, double part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ += part - parts_[index];
    parts_[index] = part;
    progress_(done_ / static_cast<double>(parts_.size()));
  }

  HostStore* const store_;
  const uint32_t threads_;
  const std::function<void(double)>& progress_;
  // Guards what follows, down to parts_ (memory_budget.h says why not
  // Abseil's).
  std::mutex mutex_;
  size_t next_ = 0;
  bool failed_ = false;
  double done_ = 0;
  // By index of the host.
  std::vector<double> parts_;
  std::vector<HostSummary> summaries_;
  std::vector<absl::Status> statuses_;
};

}  // namespace

absl::StatusOr<std::vector<HostSummary>> SummarizeHosts(
    HostStore* store, uint32_t threads,
    const std::function<void(double)>& progress) {
  return HostLoader(store, threads, progress).Load();
}

}  // namespace oom_forensics
