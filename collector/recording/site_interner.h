// SiteInterner: everything about an allocation that repeats from step to step,
// interned. A training step asks for the same few thousand (op, shape, dtype,
// size) again and again; each becomes one Site, and an event only names its id.
//
// Finding a known site takes no lock: readers walk a table that only ever gets
// more entries, and a larger copy replaces it when it fills up. Replaced tables
// are kept, because a reader may still be in one; together they are smaller
// than the last.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_SITE_INTERNER_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_SITE_INTERNER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "collector/recording/compiled_origin.h"
#include "collector/recording/event.h"

namespace oom_forensics::collector {

// How the op of a site ran.
enum class ExecutionMode : uint8_t {
  kUnknown,
  // By itself, in the thread that asked for it.
  kEager,
  // As a node of a graph.
  kGraph,
};

// What distinguishes one site from another.
struct SiteKey {
  // Empty: not known. As TensorFlow writes them: "sequential/dense/MatMul",
  // "[8,16]", "output".
  std::string_view op;
  std::string_view shape;
  std::string_view region_type;
  // tensorflow.DataType; 0: not known.
  int32_t dtype = 0;
  ExecutionMode mode = ExecutionMode::kUnknown;
  // Where in the user's program the op was run.
  StackId stack = 0;
  uint64_t requested_bytes = 0;
  // 0 for a failed request.
  uint64_t allocated_bytes = 0;
  // Set where XLA asked.
  CompiledOrigin compiled;

  bool operator==(const SiteKey& other) const;
  uint64_t Hash() const;
};

struct Site {
  SiteId id = 0;
  uint64_t hash = 0;
  // Its strings live as long as the table.
  SiteKey key;
};

class SiteInterner {
 public:
  // Holds at most `max_sites` sites.
  explicit SiteInterner(size_t max_sites = size_t{1} << 20);
  ~SiteInterner();
  SiteInterner(const SiteInterner&) = delete;
  SiteInterner& operator=(const SiteInterner&) = delete;

  // The site of `key`, made if it is new. When the table is full that of its op
  // and sizes, without shape and stack; then that of its sizes alone. A part of
  // the table is reserved for each: without a size nothing could be told of an
  // allocation. Null when all is full, or memory is short.
  const Site* Intern(const SiteKey& key) noexcept;

  // How often a site that says less stood in, or none.
  uint64_t unnamed() const { return unnamed_.load(std::memory_order_relaxed); }

  // All sites so far; the site with id N is at [N - 1].
  std::vector<const Site*> Snapshot() const;

  // The bytes of the site with this id; 0 if there is none.
  uint64_t AllocatedBytesOf(SiteId id) const;

  // Held over fork(), so that the child finds the table whole.
  std::mutex& mutex() { return mutex_; }

 private:
  struct Slots;

  const Site* Find(const Slots& slots, const SiteKey& key,
                   uint64_t hash) const noexcept;
  // The known site; else a new one, as long as there are fewer than `limit`.
  const Site* FindOrInsert(const SiteKey& key, size_t limit) noexcept;
  const Site* Insert(const SiteKey& key, uint64_t hash, size_t limit);
  std::string_view InternString(std::string_view text);

  const size_t max_sites_;
  // How many of these are for sites with a name and sizes, or sizes only.
  const size_t reserved_sites_;
  // As many as sites_ has, to be read without the lock.
  std::atomic<size_t> size_{0};
  std::atomic<uint64_t> unnamed_{0};
  std::atomic<Slots*> slots_;
  mutable std::mutex mutex_;
  // Guarded by mutex_; elements never move.
  std::deque<Site> sites_;
  std::unordered_set<std::string> strings_;
  std::vector<std::unique_ptr<Slots>> all_slots_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_SITE_INTERNER_H_
