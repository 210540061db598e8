// HostProbe: what the kernel and malloc say of the memory of this process. A
// cheap look costs two reads of open files, a deep one some ten microseconds
// more, and what malloc takes to count.
#ifndef OOM_FORENSICS_COLLECTOR_BLACK_BOX_HOST_PROBE_H_
#define OOM_FORENSICS_COLLECTOR_BLACK_BOX_HOST_PROBE_H_

#include <cstdint>
#include <string>

#include "core/black_box.h"

namespace oom_forensics::collector {

// A file of the kernel that is read again and again.
class KernelFile {
 public:
  KernelFile() = default;
  ~KernelFile();
  KernelFile(const KernelFile&) = delete;
  KernelFile& operator=(const KernelFile&) = delete;

  // False: it cannot be opened.
  bool Open(const std::string& path);
  // Its text, at most what `buffer` holds, ended by a 0; empty: it cannot be
  // read. Allocates nothing.
  template <size_t kBytes>
  const char* Read(char (&buffer)[kBytes]) const {
    return ReadInto(buffer, kBytes);
  }

 private:
  const char* ReadInto(char* buffer, size_t size) const;

  int file_ = -1;
};

struct HostLook {
  uint64_t rss_anon_bytes = 0;
  uint64_t rss_file_bytes = 0;
  uint64_t rss_shmem_bytes = 0;
  uint64_t used_bytes = 0;
  uint64_t cache_bytes = 0;
  uint64_t malloc_used_bytes = 0;
  uint64_t malloc_free_bytes = 0;
};

class HostProbe {
 public:
  // `cgroups` is where the cgroups' file systems are mounted, `membership` the
  // file that names those of this process.
  explicit HostProbe(const std::string& cgroups = "/sys/fs/cgroup",
                     const std::string& membership = "/proc/self/cgroup");

  // What the process has in memory for itself. Any thread may ask.
  uint64_t OwnBytes() const;
  // Brings what a cheap look can up to date.
  void LookCheaply(HostLook* look) const;
  // Brings all of it up to date. Finds the cgroup again if it has changed.
  void LookDeeply(HostLook* look);

  // The nearer one of the process's own limits (ulimit).
  struct OwnLimit {
    black_box::OwnLimit kind = black_box::OwnLimit::kNone;
    uint64_t limit_bytes = 0;
    uint64_t used_bytes = 0;
  };
  OwnLimit ReadOwnLimit() const;

  // Folder of the cgroup that limits the process; empty: none does.
  const std::string& cgroup() const { return cgroup_; }
  // 0: none.
  uint64_t limit_bytes() const { return limit_bytes_; }
  uint64_t machine_bytes() const { return machine_bytes_; }
  // How often the kernel has killed in the cgroup.
  uint64_t Kills() const;

 private:
  // What the process has in memory, for itself and of what it shares.
  struct Resident {
    uint64_t own_bytes;
    uint64_t shared_bytes;
  };
  Resident ReadResident() const;

  void FindCgroup();
  void LookAtCgroup(HostLook* look) const;

  const std::string cgroups_;
  const uint64_t page_bytes_;
  uint64_t machine_bytes_ = 0;
  KernelFile statm_;
  KernelFile status_;
  KernelFile membership_;
  KernelFile meminfo_;
  // As /proc/self/cgroup has it.
  std::string member_of_;
  std::string cgroup_;
  bool is_version_2_ = false;
  uint64_t limit_bytes_ = 0;
  KernelFile usage_;
  KernelFile cgroup_stat_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_BLACK_BOX_HOST_PROBE_H_
