#include "converter/run/host_store.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/cache/column_cache.h"

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

// Null where its columns were not kept, or take more room than there is; 0: no
// limit.
SharedHost FindKept(const ColumnCache& cache,
                    const std::optional<ColumnCache::Entry>& entry,
                    uint64_t room_bytes) {
  if (!entry.has_value()) return nullptr;
  std::optional<ReplayedHost> kept = cache.Find(*entry);
  if (!kept.has_value()) return nullptr;
  auto host = std::make_shared<const HostAnalysis>(*std::move(kept));
  const bool fits = room_bytes == 0 || host->ResidentBytes() <= room_bytes;
  return fits ? host : nullptr;
}

}  // namespace

HostStore::HostStore(std::vector<std::string> paths, const ReadOptions& options)
    : options_(options),
      slots_(paths.size()),
      budget_(options.max_resident_bytes,
              [this](uint64_t bytes) { return LetGo(bytes); }) {
  for (size_t i = 0; i < paths.size(); ++i) {
    slots_[i].path = std::move(paths[i]);
  }
}

HostStore::HostStore(std::vector<std::unique_ptr<HostAnalysis>> hosts)
    : slots_(hosts.size()), budget_(0, nullptr) {
  for (size_t i = 0; i < hosts.size(); ++i) {
    slots_[i].host = std::move(hosts[i]);
  }
}

uint64_t HostStore::ResidentBytes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t bytes = 0;
  for (const Slot& slot : slots_) {
    if (slot.host != nullptr) bytes += slot.host->ResidentBytes();
  }
  return bytes;
}

absl::StatusOr<SharedHost> HostStore::Get(size_t index,
                                          const Progress& progress) {
  SharedHost kept;
  absl::Status read =
      With(index, progress, [&kept](const SharedHost& host) { kept = host; });
  if (!read.ok()) return read;
  return kept;
}

absl::Status HostStore::Visit(
    size_t index, const Progress& progress,
    const std::function<void(const HostAnalysis&)>& look) {
  return With(index, progress,
              [&look](const SharedHost& host) { look(*host); });
}

absl::Status HostStore::With(size_t index, const Progress& progress,
                             const Use& use) {
  if (const SharedHost found = Find(index)) {
    CountAnswers(index, *found);
    use(found);
    return absl::OkStatus();
  }
  const uint64_t known_bytes = slots_[index].resident_bytes;
  const uint64_t estimate_bytes =
      known_bytes > 0 ? known_bytes : EstimateBytes(slots_[index].path);
  uint64_t room_bytes = 0;
  absl::Status read = Read(index, estimate_bytes, &room_bytes, progress, use);
  if (!absl::IsResourceExhausted(read) || room_bytes == budget_.limit_bytes()) {
    return read;
  }
  // The room was less than the limit because of others: with all that can be
  // had.
  read = Read(index, budget_.limit_bytes(), &room_bytes, progress, use);
  if (absl::IsResourceExhausted(read) && room_bytes < budget_.limit_bytes()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "This needs several of the run's ", slots_.size(),
        " hosts at a time, and they take more than the limit of ",
        budget_.limit_bytes() >> 20,
        " MiB; choose one with --host, or raise --max-memory-mb."));
  }
  return read;
}

absl::Status HostStore::Read(size_t index, uint64_t estimate_bytes,
                             uint64_t* room_bytes, const Progress& progress,
                             const Use& use) {
  Reservation reservation(&budget_, estimate_bytes);
  *room_bytes = reservation.room_bytes();
  ReadOptions options = options_;
  options.max_resident_bytes = *room_bytes;
  options.progress = progress;
  const ColumnCache cache = ColumnCache::OfUser();
  const auto entry = cache.EntryOf(slots_[index].path, options.allow_truncated);
  SharedHost host = FindKept(cache, entry, *room_bytes);
  std::shared_ptr<void> keeping;
  if (host == nullptr) {
    auto trace = ReadTrace(slots_[index].path, options);
    if (!trace.ok()) return trace.status();
    host = std::make_shared<const HostAnalysis>(*std::move(trace));
    if (entry.has_value()) keeping = cache.KeepBeside(*entry, host->replayed());
  }
  const uint64_t resident_bytes = host->ResidentBytes();
  use(host);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    slots_[index].host = std::move(host);
    slots_[index].keeping = std::move(keeping);
    slots_[index].resident_bytes = resident_bytes;
  }
  reservation.set_held_bytes(resident_bytes);
  return absl::OkStatus();
}

SharedHost HostStore::Find(size_t index) {
  const std::lock_guard<std::mutex> lock(mutex_);
  slots_[index].last_use = ++uses_;
  return slots_[index].host;
}

void HostStore::CountAnswers(size_t index, const HostAnalysis& host) {
  const auto count = [&] {
    const uint64_t now_bytes = host.ResidentBytes();
    uint64_t before_bytes = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      before_bytes = std::exchange(slots_[index].resident_bytes, now_bytes);
    }
    return before_bytes == now_bytes || budget_.Adjust(before_bytes, now_bytes);
  };
  if (count()) return;
  host.DropAnswers();
  count();
}

uint64_t HostStore::LetGo(uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t released_bytes = 0;
  while (released_bytes < bytes) {
    Slot* oldest = nullptr;
    for (Slot& slot : slots_) {
      if (slot.host == nullptr || slot.host.use_count() > 1) continue;
      if (oldest == nullptr || slot.last_use < oldest->last_use) {
        oldest = &slot;
      }
    }
    if (oldest == nullptr) break;
    oldest->keeping.reset();
    oldest->host.reset();
    released_bytes += oldest->resident_bytes;
  }
  return released_bytes;
}

}  // namespace oom_forensics
