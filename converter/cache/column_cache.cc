#include "converter/cache/column_cache.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "converter/cache/archive.h"
#include "converter/cache/column_file.h"
#include "converter/cache/host_fields.h"
#include "converter/cache/soundness.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kPrefix = "columns-";
// A file that was changed so lately may be changed again within one tick of the
// clock that its times are of.
constexpr time_t kSettledSeconds = 2;
constexpr std::chrono::minutes kLongestWrite(10);

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A file's content, as far as the system tells it without reading.
std::string Identity(const struct stat& file) {
  return absl::StrCat(file.st_dev, " ", file.st_ino, " ", file.st_size, " ",
                      file.st_mtim.tv_sec, ".", file.st_mtim.tv_nsec, " ",
                      file.st_ctim.tv_sec, ".", file.st_ctim.tv_nsec);
}

// This program: another one may keep other columns. Empty: not known.
std::string ProgramIdentity() {
  struct stat program = {};
  if (stat("/proc/self/exe", &program) != 0) return "";
  return Identity(program);
}

// Makes the folder where there is none. False where it is not the user's alone.
bool IsPrivateFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(
      std::filesystem::path(folder).parent_path(), error);
  mkdir(folder.c_str(), S_IRWXU);
  struct stat status = {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

bool HasRoom(const std::string& folder, uint64_t bytes,
             uint64_t min_free_bytes) {
  // Beyond it a write would end the process.
  rlimit most = {};
  if (getrlimit(RLIMIT_FSIZE, &most) != 0 || bytes > most.rlim_cur) {
    return false;
  }
  struct statvfs disk = {};
  return statvfs(folder.c_str(), &disk) == 0 &&
         uint64_t{disk.f_bavail} * disk.f_frsize > bytes + min_free_bytes;
}

// Removes what was used longest ago until `bytes` more have their place, and
// what a process that was killed left half-written.
void MakeRoom(const std::string& folder, uint64_t bytes, uint64_t max_bytes) {
  struct Kept {
    std::filesystem::file_time_type last_use;
    std::filesystem::path path;
    uint64_t bytes = 0;
  };
  std::vector<Kept> kept;
  const auto now = std::filesystem::file_time_type::clock::now();
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (const auto end = std::filesystem::directory_iterator();
       !error && at != end; at.increment(error)) {
    if (!StartsWith(at->path().filename().string(), kPrefix)) continue;
    std::error_code gone;
    const auto last_use = at->last_write_time(gone);
    const uint64_t size = gone ? 0 : at->file_size(gone);
    if (gone) continue;
    if (at->path().string().find(kPartInfix) != std::string::npos &&
        last_use + kLongestWrite < now) {
      std::filesystem::remove(at->path(), gone);
      continue;
    }
    kept.push_back({last_use, at->path(), size});
    bytes += size;
  }
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) {
    return a.last_use < b.last_use;
  });
  for (const Kept& oldest : kept) {
    if (bytes <= max_bytes) break;
    std::filesystem::remove(oldest.path, error);
    bytes -= oldest.bytes;
  }
}

void Describe(ArchiveWriter* archive, const std::string& key,
              const ReplayedHost& host) {
  (*archive)(key, *host.trace);
  for (const auto& replay : host.allocators) (*archive)(*replay);
}

bool KeepUnlessStopped(const std::string& folder,
                       const ColumnCache::Limits& limits,
                       const ColumnCache::Entry& entry,
                       const ReplayedHost& host,
                       const std::atomic<bool>& stop) {
  ArchiveWriter archive;
  Describe(&archive, entry.key, host);
  const uint64_t bytes = ColumnFileBytes(archive);
  if (bytes > limits.max_bytes || !IsPrivateFolder(folder) ||
      !HasRoom(folder, bytes, limits.min_free_bytes) || !IsSound(host)) {
    return false;
  }
  MakeRoom(folder, bytes, limits.max_bytes);
  return WriteColumnFile(entry.path, archive, stop);
}

// A thread that ends soon after this does.
class Keeping {
 public:
  template <typename Work>
  explicit Keeping(Work work)
      : thread_([this, work = std::move(work)] {
#ifdef __linux__
          // Of this thread alone: the answer comes first.
          setpriority(PRIO_PROCESS, 0, 19);
#endif
          try {
            work(stop_);
          } catch (const std::bad_alloc&) {
            // Then it is not kept.
          }
        }) {
  }
  ~Keeping() {
    stop_ = true;
    thread_.join();
  }
  Keeping(const Keeping&) = delete;
  Keeping& operator=(const Keeping&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

ColumnCache ColumnCache::OfUser() {
  Limits limits;
  uint64_t max_mib = 0;
  if (absl::SimpleAtoi(Variable("OOM_FORENSICS_COLUMNS_MIB"), &max_mib)) {
    limits.max_bytes = std::min(max_mib, uint64_t{1} << 40) << 20;
  }
  std::string folder = Variable("OOM_FORENSICS_CACHE");
  if (folder.empty()) {
    std::string home = Variable("XDG_CACHE_HOME");
    if (home.empty() && !Variable("HOME").empty()) {
      home = Variable("HOME") + "/.cache";
    }
    if (!home.empty()) folder = home + "/oom-forensics";
  }
  return {limits.max_bytes == 0 ? "" : folder, limits};
}

std::optional<ColumnCache::Entry> ColumnCache::EntryOf(
    const std::string& trace_path, bool allow_truncated) const {
  struct stat trace = {};
  const std::string program = ProgramIdentity();
  if (folder_.empty() || program.empty() ||
      stat(trace_path.c_str(), &trace) != 0 || !S_ISREG(trace.st_mode) ||
      static_cast<uint64_t>(trace.st_size) < limits_.min_trace_bytes ||
      trace.st_mtim.tv_sec + kSettledSeconds > time(nullptr)) {
    return std::nullopt;
  }
  Entry entry;
  entry.trace_path = trace_path;
  entry.allow_truncated = allow_truncated;
  entry.path =
      absl::StrCat(folder_, "/", std::string(kPrefix), absl::Hex(trace.st_dev),
                   "-", absl::Hex(trace.st_ino));
  // A host is called as its file is.
  entry.key =
      absl::StrCat(program, "\n", Identity(trace), "\n",
                   std::filesystem::path(trace_path).filename().string(), "\n",
                   allow_truncated ? "also cut off" : "whole");
  return entry;
}

std::optional<ReplayedHost> ColumnCache::Find(const Entry& entry) const {
  MappedColumns mapped;
  if (!MapColumnFile(entry.path, &mapped)) return std::nullopt;
  ArchiveReader archive(mapped.archive, std::move(mapped.columns),
                        std::move(mapped.owner));
  std::string key;
  archive(key);
  if (key != entry.key) return std::nullopt;
  auto trace = std::make_unique<HostTrace>();
  archive(*trace);
  ReplayedHost host;
  for (const AllocatorTrace& allocator : trace->allocators) {
    host.allocators.push_back(
        std::make_unique<AllocatorReplay>(*trace, allocator, NotReplayed()));
    archive(*host.allocators.back());
  }
  host.trace = std::move(trace);
  if (!archive.IsComplete() || !IsSound(host)) return std::nullopt;
  return host;
}

bool ColumnCache::Keep(const Entry& entry, const ReplayedHost& host) const {
  const std::atomic<bool> never{false};
  return KeepUnlessStopped(folder_, limits_, entry, host, never);
}

std::shared_ptr<void> ColumnCache::KeepBeside(const Entry& entry,
                                              const ReplayedHost& host) const {
  // Read while it was changed, it may be of neither state.
  const auto now = EntryOf(entry.trace_path, entry.allow_truncated);
  if (!now.has_value() || now->key != entry.key) return nullptr;
  try {
    return std::make_shared<Keeping>([folder = folder_, limits = limits_, entry,
                                      &host](const std::atomic<bool>& stop) {
      KeepUnlessStopped(folder, limits, entry, host, stop);
    });
  } catch (const std::system_error&) {
    return nullptr;  // No thread can be had.
  }
}

}  // namespace oom_forensics
