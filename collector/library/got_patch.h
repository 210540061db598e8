// GotPatch: functions that loaded libraries import, redirected in the
// libraries' own tables (global offset tables). A slot is written only where it
// holds the function that is expected, or is not bound yet; a page that was
// read-only is read-only again after it. A library that another thread is still
// loading is left to the next look: its loader writes to the same pages.
#ifndef OOM_FORENSICS_COLLECTOR_LIBRARY_GOT_PATCH_H_
#define OOM_FORENSICS_COLLECTOR_LIBRARY_GOT_PATCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <vector>

namespace oom_forensics::collector {

struct ImportHook {
  std::string_view symbol;
  // What the symbol is bound to where nobody has touched it.
  void* original = nullptr;
  void* replacement = nullptr;
};

class GotPatch {
 public:
  // Which of the hooks a library gets, by its path; empty of the program. The
  // hooks must live as long as the process.
  using HooksOf =
      std::function<const std::vector<ImportHook>*(std::string_view path)>;

  explicit GotPatch(HooksOf hooks_of) : hooks_of_(std::move(hooks_of)) {}

  // Patches what was loaded since the last call. Cheap where nothing was.
  void PatchNew();

  // Slots that were redirected so far.
  size_t slot_count() const { return slot_count_; }

  // fork() must not meet a thread that has the loader's lock.
  void BeforeFork() { mutex_.lock(); }
  void AfterForkInParent() { mutex_.unlock(); }
  void AfterForkInChild() { new (&mutex_) std::mutex; }

 private:
  const HooksOf hooks_of_;
  std::mutex mutex_;
  // The loader's count of libraries that were ever loaded.
  uint64_t seen_loads_ = 0;
  // Where the libraries begin that were looked at.
  std::set<uintptr_t> seen_;
  // And those that were not ready yet, by how often they were met.
  std::map<uintptr_t, int> unready_;
  size_t slot_count_ = 0;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_LIBRARY_GOT_PATCH_H_
