// The hosts of a run, read when they are asked for. What does not fit into the
// limit is dropped, the one that was not used for longest first, and read again
// when it is needed; what somebody uses stays.
#ifndef OOM_FORENSICS_CONVERTER_RUN_HOST_STORE_H_
#define OOM_FORENSICS_CONVERTER_RUN_HOST_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "converter/reader/trace_reader.h"
#include "converter/run/host_analysis.h"
#include "converter/run/memory_budget.h"

namespace oom_forensics {

using SharedHost = std::shared_ptr<const HostAnalysis>;

class HostStore {
 public:
  // Reads files when they are asked for. max_resident_bytes of `options` is for
  // all hosts together; its progress is not used.
  HostStore(std::vector<std::string> paths, const ReadOptions& options);
  // Keeps hosts that are in memory there.
  explicit HostStore(std::vector<std::unique_ptr<HostAnalysis>> hosts);

  using Progress = std::function<void(double)>;

  size_t size() const { return slots_.size(); }

  // The bytes of the hosts that are in memory.
  uint64_t ResidentBytes();

  // The host of that number. By any thread; a host must not be asked for by two
  // at a time. `progress` (0..1) is called while it is read; may be null.
  absl::StatusOr<SharedHost> Get(size_t index, const Progress& progress);

  // The same for one look at it, after which it may go at once.
  absl::Status Visit(size_t index, const Progress& progress,
                     const std::function<void(const HostAnalysis&)>& look);

 private:
  struct Slot {
    std::string path;
    // Null: not in memory.
    SharedHost host;
    // Keeps the host's columns for the next opening until it is dropped, which
    // must be before the host is; null: nothing is to be kept.
    std::shared_ptr<void> keeping;
    // Once it was read: what it takes.
    uint64_t resident_bytes = 0;
    // Higher: used later.
    uint64_t last_use = 0;
  };

  // What is done with a host before it may be dropped again.
  using Use = std::function<void(const SharedHost&)>;

  absl::Status With(size_t index, const Progress& progress, const Use& use);
  absl::Status Read(size_t index, uint64_t estimate_bytes, uint64_t* room_bytes,
                    const Progress& progress, const Use& use);
  SharedHost Find(size_t index);
  // Counts the answers that `host` keeps since it was last asked for; drops
  // them where they are too much.
  void CountAnswers(size_t index, const HostAnalysis& host);
  uint64_t LetGo(uint64_t bytes);

  const ReadOptions options_;
  // Guards slots_ and uses_ (memory_budget.h says why not Abseil's); never held
  // while budget_ is called.
  std::mutex mutex_;
  std::vector<Slot> slots_;
  uint64_t uses_ = 0;
  MemoryBudget budget_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_HOST_STORE_H_
