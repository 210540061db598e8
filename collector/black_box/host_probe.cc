#include "collector/black_box/host_probe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace oom_forensics::collector {
namespace {

// The number after `key` at the begin of a line; 0 where there is none.
uint64_t NumberAfter(const char* text, const char* key) {
  const size_t length = std::strlen(key);
  for (const char* line = text; line != nullptr && *line != '\0';) {
    if (std::strncmp(line, key, length) == 0) {
      return std::strtoull(line + length, nullptr, 10);
    }
    line = std::strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return 0;
}

uint64_t NumberIn(const std::string& path) {
  KernelFile file;
  char text[64];
  if (!file.Open(path)) return 0;
  // "max" is none.
  return std::strtoull(file.Read(text), nullptr, 10);
}

bool Exists(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

// The path of the process's group in a hierarchy, as a line of
// /proc/self/cgroup tells it: "4:memory:/jobs/1" or, of version 2,
// "0::/jobs/1".
bool PathIn(const std::string& member_of, bool version_2, std::string* path) {
  size_t begin = 0;
  while (begin < member_of.size()) {
    size_t end = member_of.find('\n', begin);
    if (end == std::string::npos) end = member_of.size();
    const std::string line = member_of.substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string kinds =
        "," + line.substr(first + 1, second - first - 1) + ",";
    if (version_2 ? kinds == ",,"
                  : kinds.find(",memory,") != std::string::npos) {
      *path = line.substr(second + 1);
      if (*path == "/") path->clear();
      return true;
    }
  }
  return false;
}

using Mallinfo2 = struct mallinfo2 (*)();

// Null where another malloc is in use, of which it would tell nothing.
Mallinfo2 FindMallinfo() {
  Dl_info allocates;
  Dl_info tells;
  void* const malloc = dlsym(RTLD_DEFAULT, "malloc");
  void* const mallinfo = dlsym(RTLD_DEFAULT, "mallinfo2");
  if (malloc == nullptr || mallinfo == nullptr ||
      dladdr(malloc, &allocates) == 0 || dladdr(mallinfo, &tells) == 0 ||
      allocates.dli_fbase != tells.dli_fbase) {
    return nullptr;
  }
  return reinterpret_cast<Mallinfo2>(mallinfo);
}

}  // namespace

KernelFile::~KernelFile() {
  if (file_ >= 0) close(file_);
}

bool KernelFile::Open(const std::string& path) {
  if (file_ >= 0) close(file_);
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return file_ >= 0;
}

const char* KernelFile::ReadInto(char* buffer, size_t size) const {
  const ssize_t bytes = file_ < 0 ? -1 : pread(file_, buffer, size - 1, 0);
  buffer[std::max<ssize_t>(0, bytes)] = '\0';
  return buffer;
}

HostProbe::HostProbe(const std::string& cgroups, const std::string& membership)
    : cgroups_(cgroups),
      page_bytes_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {
  statm_.Open("/proc/self/statm");
  status_.Open("/proc/self/status");
  membership_.Open(membership);
  meminfo_.Open("/proc/meminfo");
  char text[4096];
  machine_bytes_ = NumberAfter(meminfo_.Read(text), "MemTotal:") * 1024;
  FindCgroup();
}

void HostProbe::FindCgroup() {
  char text[4096];
  member_of_ = membership_.Read(text);
  cgroup_.clear();
  limit_bytes_ = 0;
  struct {
    const char* folder;
    bool version_2;
    const char* usage;
    const char* limit;
  } static constexpr kHierarchies[] = {
      {"/memory", false, "/memory.usage_in_bytes", "/memory.limit_in_bytes"},
      {"", true, "/memory.current", "/memory.max"},
  };
  for (const auto& hierarchy : kHierarchies) {
    const std::string mount = cgroups_ + hierarchy.folder;
    std::string path;
    if (!PathIn(member_of_, hierarchy.version_2, &path)) continue;
    // In a container the group may be its root, whatever its path is outside.
    if (!Exists(mount + path + hierarchy.usage)) path.clear();
    // The smallest limit on the way to the root is the one that is met.
    while (true) {
      const std::string folder = mount + path;
      const uint64_t limit = NumberIn(folder + hierarchy.limit);
      if (limit != 0 && limit < machine_bytes_ &&
          (limit_bytes_ == 0 || limit < limit_bytes_) &&
          Exists(folder + hierarchy.usage)) {
        limit_bytes_ = limit;
        cgroup_ = folder;
        is_version_2_ = hierarchy.version_2;
      }
      if (path.empty()) break;
      path.resize(path.rfind('/'));
    }
    if (limit_bytes_ != 0) {
      usage_.Open(cgroup_ + hierarchy.usage);
      cgroup_stat_.Open(cgroup_ + "/memory.stat");
      return;
    }
  }
}

uint64_t HostProbe::Kills() const {
  if (cgroup_.empty()) return 0;
  KernelFile events;
  char text[1024];
  events.Open(cgroup_ +
              (is_version_2_ ? "/memory.events" : "/memory.oom_control"));
  return NumberAfter(events.Read(text), "oom_kill ");
}

HostProbe::Resident HostProbe::ReadResident() const {
  char text[256];
  char* end;
  std::strtoull(statm_.Read(text), &end, 10);
  const uint64_t resident = std::strtoull(end, &end, 10) * page_bytes_;
  const uint64_t shared = std::strtoull(end, &end, 10) * page_bytes_;
  return {resident - std::min(resident, shared), shared};
}

HostProbe::OwnLimit HostProbe::ReadOwnLimit() const {
  char text[256];
  char* end = nullptr;
  // "size resident shared text lib data dt", in pages.
  uint64_t pages[6] = {};
  const char* at = statm_.Read(text);
  for (uint64_t& each : pages) {
    each = std::strtoull(at, &end, 10);
    at = end;
  }
  const struct {
    int resource;
    black_box::OwnLimit kind;
    uint64_t used_bytes;
  } limits[] = {
      {RLIMIT_AS, black_box::OwnLimit::kAddressSpace, pages[0] * page_bytes_},
      {RLIMIT_DATA, black_box::OwnLimit::kData, pages[5] * page_bytes_},
  };
  OwnLimit nearest;
  uint64_t least_left = UINT64_MAX;
  for (const auto& each : limits) {
    rlimit limit;
    if (getrlimit(each.resource, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY) {
      continue;
    }
    const uint64_t left =
        limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, each.used_bytes);
    if (left >= least_left) continue;
    least_left = left;
    nearest = {each.kind, limit.rlim_cur, each.used_bytes};
  }
  return nearest;
}

uint64_t HostProbe::OwnBytes() const { return ReadResident().own_bytes; }

void HostProbe::LookCheaply(HostLook* look) const {
  char text[256];
  const auto [own_bytes, shared_bytes] = ReadResident();
  look->rss_anon_bytes = own_bytes;
  look->rss_file_bytes =
      shared_bytes - std::min(shared_bytes, look->rss_shmem_bytes);
  if (cgroup_.empty()) {
    char info[512];
    const uint64_t available =
        NumberAfter(meminfo_.Read(info), "MemAvailable:") * 1024;
    look->used_bytes = machine_bytes_ - std::min(machine_bytes_, available);
  } else {
    look->used_bytes = std::strtoull(usage_.Read(text), nullptr, 10);
  }
}

void HostProbe::LookAtCgroup(HostLook* look) const {
  if (cgroup_.empty()) return;
  char text[8192];
  const char* const stat = cgroup_stat_.Read(text);
  look->cache_bytes = is_version_2_
                          ? NumberAfter(stat, "active_file ") +
                                NumberAfter(stat, "inactive_file ")
                          : NumberAfter(stat, "total_active_file ") +
                                NumberAfter(stat, "total_inactive_file ");
}

void HostProbe::LookDeeply(HostLook* look) {
  char text[4096];
  if (member_of_ != membership_.Read(text)) FindCgroup();
  const char* const status = status_.Read(text);
  look->rss_shmem_bytes = NumberAfter(status, "RssShmem:") * 1024;
  LookCheaply(look);
  LookAtCgroup(look);
  static const Mallinfo2 mallinfo = FindMallinfo();
  if (mallinfo != nullptr) {
    const struct mallinfo2 info = mallinfo();
    look->malloc_used_bytes = info.uordblks + info.hblkhd;
    look->malloc_free_bytes = info.fordblks;
  }
}

}  // namespace oom_forensics::collector
