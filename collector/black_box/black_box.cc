#include "collector/black_box/black_box.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <thread>

#include "collector/no_throw.h"
#include "collector/recording/clock.h"
#include "collector/version.h"

namespace oom_forensics::collector {
namespace {

using black_box::Box;

constexpr int64_t kCheapLookNs = 100'000'000;
constexpr int64_t kDeepLookNs = 1'000'000'000;
// A deep look takes at most this share of the time: malloc holds its lock while
// it counts.
constexpr int64_t kDeepLookShare = 500;
// A deep look comes early when use has grown by this share of the limit.
constexpr uint64_t kGrowthShare = 50;

// So much is in use, in percent, when Python looks. It has to have looked
// before the end: near it the kernel takes away the pages of its code.
constexpr int kShortages[] = {50, 85, 93, 97};
// Where others use up memory, there is nothing to see in a process that has
// less than this share of it.
constexpr uint64_t kOwnShare = 10;

// Python's end waits so long for a look that is under way.
constexpr std::chrono::seconds kLastWait{5};

// For the handler of the process's end, which takes no argument.
BoxFile* g_file = nullptr;

// Cuts the text where the field ends.
template <size_t kBytes>
void SetText(char (&field)[kBytes], const std::string& text) {
  const size_t length = std::min(kBytes - 1, text.size());
  std::memcpy(field, text.data(), length);
  field[length] = '\0';
}

std::string ReadAll(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string CommandLine() {
  std::string command = ReadAll("/proc/self/cmdline");
  std::replace(command.begin(), command.end(), '\0', ' ');
  while (!command.empty() && command.back() == ' ') command.pop_back();
  return command;
}

uint64_t StartTicks() {
  // The name before it may have spaces and parentheses.
  const std::string stat = ReadAll("/proc/self/stat");
  size_t at = stat.rfind(')');
  // Fields 3 to 21 follow.
  for (int field = 3; field <= 22 && at != std::string::npos; ++field) {
    at = stat.find(' ', at + 1);
  }
  return at == std::string::npos
             ? 0
             : std::strtoull(stat.c_str() + at, nullptr, 10);
}

uint64_t Less(uint64_t all, uint64_t part) { return all - std::min(all, part); }

// Of what malloc gives out.
uint64_t BlocksOf(const HostParts& parts) {
  return parts.tensorflow_bytes + parts.pool_bytes + parts.native_bytes;
}

// Estimates how much of each part is touched by now. A deep look counted the
// untouched bytes. Since then the process has touched as many of them as it has
// grown by, less its new blocks.
class TouchedParts {
 public:
  void Count(const HostParts& parts, const HostParts& untouched,
             uint64_t own_bytes) {
    untouched_ = untouched;
    // Beyond its blocks, that is.
    rest_bytes_ = Less(own_bytes, Less(BlocksOf(parts), BlocksOf(untouched)));
  }

  HostParts Of(const HostParts& parts, uint64_t own_bytes) const {
    const uint64_t untouched = BlocksOf(untouched_);
    if (untouched == 0) return parts;
    const uint64_t touched = Less(own_bytes, rest_bytes_);
    const double share =
        std::min(1.0, static_cast<double>(Less(BlocksOf(parts), touched)) /
                          static_cast<double>(untouched));
    const auto left = [share](uint64_t all, uint64_t untouched_bytes) {
      return Less(all, static_cast<uint64_t>(
                           share * static_cast<double>(untouched_bytes)));
    };
    return {left(parts.tensorflow_bytes, untouched_.tensorflow_bytes),
            left(parts.pool_bytes, untouched_.pool_bytes),
            left(parts.native_bytes, untouched_.native_bytes),
            parts.python_bytes};
  }

 private:
  HostParts untouched_;
  uint64_t rest_bytes_ = 0;
};

// What the calling thread has run so far: on a busy machine a look takes
// longer, but no more than it does else.
int64_t ThreadTimeNs() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

void Sleep(int64_t duration_ns) {
  timespec duration = {duration_ns / 1'000'000'000,
                       duration_ns % 1'000'000'000};
  nanosleep(&duration, nullptr);
}

std::string WholePath(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) == nullptr ? path : resolved;
}

}  // namespace

std::string BlackBox::Start(const std::vector<BoxFolder>& folders,
                            const std::string& logdir,
                            const std::string& tensorflow_version) {
  std::string why_not;
  file_ = BoxFile::Make(folders, &why_not);
  if (file_ == nullptr) {
    state_ = "off: " + why_not;
    return why_not;
  }
  probe_ = std::make_unique<HostProbe>();
  box_.store(file_->box(), std::memory_order_release);
  WriteHeader(WholePath(logdir), tensorflow_version);
  g_file = file_.get();
  std::atexit(&BlackBox::EndWell);
  // Signals are for the threads of the program.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool watched =
      NoThrow([this] { std::thread([this] { Watch(); }).detach(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!watched) {
    file_->Remove();
    state_ = "off: no thread could be started";
    return "no thread could be started";
  }
  state_ = file_->path();
  return "";
}

void BlackBox::NoteOwnLimit() noexcept {
  const HostProbe::OwnLimit own = probe_->ReadOwnLimit();
  black_box::Header& header = box()->header;
  header.own_limit = own.kind;
  header.own_limit_bytes = own.limit_bytes;
  header.own_used_bytes = own.used_bytes;
}

void BlackBox::EndByMemoryError() noexcept {
  if (box() == nullptr) return;
  NoteOwnLimit();
  box()->header.end = black_box::End::kMemoryError;
  // Else what an ending Python lets go of would be missing in it.
  file_->Freeze();
}

void BlackBox::EndWell() {
  if (g_file == nullptr ||
      g_file->box()->header.end == black_box::End::kMemoryError) {
    return;
  }
  g_file->Remove();
}

void BlackBox::EndAsAsked() {
  if (g_file == nullptr) return;
  Box& box = *g_file->box();
  const black_box::Ring& ring = box.rings[0];
  const uint64_t count = ring.count.load(std::memory_order_acquire);
  const uint64_t limit = box.header.limit_bytes.load();
  const uint64_t whole = limit == 0 ? box.header.machine_bytes : limit;
  const uint64_t used =
      count == 0
          ? 0
          : ring.samples[(count - 1) % black_box::kRingSamples].used_bytes;
  if (static_cast<double>(used) >
      black_box::kShort * static_cast<double>(whole)) {
    box.header.end = black_box::End::kAsked;
  } else {
    g_file->Remove();
  }
}

void BlackBox::WriteHeader(const std::string& logdir,
                           const std::string& tensorflow_version) {
  black_box::Header& header = box()->header;
  header.version = black_box::kVersion;
  header.file_bytes = sizeof(Box);
  header.process_id = static_cast<uint64_t>(getpid());
  header.start_ticks = StartTicks();
  struct stat pid_namespace;
  if (stat("/proc/self/ns/pid", &pid_namespace) == 0) {
    header.pid_namespace = pid_namespace.st_ino;
  }
  header.started_ns = WallClockNs();
  header.machine_bytes = probe_->machine_bytes();
  header.limit_bytes = probe_->limit_bytes();
  header.kills_at_start = probe_->Kills();
  gethostname(header.host, sizeof(header.host) - 1);
  SetText(header.tensorflow_version, tensorflow_version);
  SetText(header.collector_version, std::string(kCollectorVersion));
  SetText(header.cgroup, probe_->cgroup());
  SetText(header.command, CommandLine());
  SetText(header.logdir, logdir);
  // Last: what has no magic is no box yet.
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(header.magic, black_box::kMagic, sizeof(header.magic));
}

void BlackBox::LearnLogdir(const std::string& logdir) noexcept {
  NoThrow([&] {
    if (box() != nullptr) SetText(box()->header.logdir, WholePath(logdir));
  });
}

void BlackBox::LearnOomRun(const std::string& run) noexcept {
  NoThrow([&] {
    if (box() == nullptr) return;
    SetText(box()->header.oom_run, WholePath(run));
    box()->header.oom_run_ns = WallClockNs();
  });
}

int BlackBox::BeginActivity(black_box::ActivityKind kind, std::string_view name,
                            std::string_view where) noexcept {
  Box* const box = this->box();
  if (box == nullptr) return -1;
  return NoThrow(
      [&] {
        return activities_.Begin(box, kind, name, where, probe_->OwnBytes());
      },
      -1);
}

void BlackBox::EndActivity(int index, uint64_t live, uint64_t element_bytes,
                           std::string_view what) noexcept {
  Box* const box = this->box();
  if (box == nullptr) return;
  NoThrow([&] {
    Activities::End(box, index, live, element_bytes, what, probe_->OwnBytes());
  });
}

void BlackBox::OnShortage(ShortageLook look) noexcept {
  std::unique_lock<std::mutex> lock(look_mutex_);
  look_ = look;
  if (look == nullptr) {
    look_ended_.wait_for(lock, kLastWait, [this] { return !is_looking_; });
  }
}

void BlackBox::TellOfShortage(const HostLook& look) noexcept {
  const uint64_t whole = probe_->limit_bytes() == 0 ? probe_->machine_bytes()
                                                    : probe_->limit_bytes();
  // The kernel gives back what it keeps of files.
  const uint64_t used =
      look.used_bytes - std::min(look.used_bytes, look.cache_bytes);
  int percent = 0;
  for (const int shortage : kShortages) {
    if (used / 100 >= whole / 10'000 * static_cast<uint64_t>(shortage)) {
      percent = shortage;
    }
  }
  if (percent <= told_percent_ || look.rss_anon_bytes < whole / kOwnShare) {
    told_percent_ = std::min(told_percent_, percent);
    return;
  }
  const std::lock_guard<std::mutex> lock(look_mutex_);
  // The next look of this thread tries again.
  if (is_looking_ || look_ == nullptr) return;
  told_percent_ = percent;
  const uint64_t left = whole - std::min(whole, used);
  is_looking_ = NoThrow([&] {
    std::thread([this, look = look_, percent, left] {
      // No lock meanwhile, nor a frame that an ending Python could not end this
      // thread through.
      look(percent, left);
      const std::lock_guard<std::mutex> ended(look_mutex_);
      is_looking_ = false;
      look_ended_.notify_all();
    }).detach();
  });
}

void BlackBox::AfterForkInChild() noexcept {
  // Who looks, if anyone does, is in the parent.
  new (&look_mutex_) std::mutex;
  new (&look_ended_) std::condition_variable;
  is_looking_ = false;
  if (file_ == nullptr) return;
  box_.store(nullptr, std::memory_order_release);
  file_->AfterForkInChild();
}

void BlackBox::Watch() noexcept {
  HostLook look;
  TouchedParts touched;
  int64_t next_deep_ns = 0;
  uint64_t used_at_deep_bytes = 0;
  uint64_t pools_at_deep_bytes = 0;
  while (true) {
    NoThrow([&] {
      const int64_t begin_ns = CoarseClockNs();
      probe_->LookCheaply(&look);
      const uint64_t whole = probe_->limit_bytes() == 0
                                 ? probe_->machine_bytes()
                                 : probe_->limit_bytes();
      sources_.at_each_look();
      HostParts parts = sources_.parts();
      const bool has_grown =
          look.used_bytes > used_at_deep_bytes + whole / kGrowthShare ||
          parts.pool_bytes > pools_at_deep_bytes;
      if (begin_ns >= next_deep_ns - (has_grown ? kDeepLookNs : 0)) {
        const int64_t start_ns = ThreadTimeNs();
        probe_->LookDeeply(&look);
        // Those of the same moment.
        parts = sources_.parts();
        const HostParts untouched = sources_.untouched_parts();
        touched.Count(parts, untouched, look.rss_anon_bytes);
        // malloc gives out what nothing has touched, too.
        look.malloc_used_bytes =
            Less(look.malloc_used_bytes, BlocksOf(untouched));
        const int64_t took_ns = ThreadTimeNs() - start_ns;
        next_deep_ns =
            begin_ns + std::max(kDeepLookNs, took_ns * kDeepLookShare);
        used_at_deep_bytes = look.used_bytes;
        pools_at_deep_bytes = parts.pool_bytes;
        black_box::Header& header = box()->header;
        if (header.limit_bytes != probe_->limit_bytes()) {
          header.limit_bytes = probe_->limit_bytes();
          header.kills_at_start = probe_->Kills();
          SetText(header.cgroup, probe_->cgroup());
        }
      }
      NoteOwnLimit();
      AddSample(look, touched.Of(parts, look.rss_anon_bytes));
      TellOfShortage(look);
    });
    Sleep(kCheapLookNs);
  }
}

void BlackBox::AddSample(const HostLook& look,
                         const HostParts& parts) noexcept {
  const int64_t now_ns = WallClockNs();
  for (uint32_t i = 0; i < black_box::kRings; ++i) {
    // A tick that comes a little early is not left out.
    if (i != 0 && now_ns - last_in_ring_ns_[i] <
                      black_box::kRingIntervalNs[i] - kCheapLookNs / 2) {
      continue;
    }
    last_in_ring_ns_[i] = now_ns;
    black_box::Ring& ring = box()->rings[i];
    const uint64_t count = ring.count.load(std::memory_order_relaxed);
    black_box::Sample& sample = ring.samples[count % black_box::kRingSamples];
    sample.time_ns.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    sample.rss_anon_bytes = look.rss_anon_bytes;
    sample.rss_file_bytes = look.rss_file_bytes;
    sample.rss_shmem_bytes = look.rss_shmem_bytes;
    sample.used_bytes = look.used_bytes;
    sample.cache_bytes = look.cache_bytes;
    sample.tensorflow_bytes = parts.tensorflow_bytes;
    sample.pool_bytes = parts.pool_bytes;
    sample.native_bytes = parts.native_bytes;
    sample.python_bytes = parts.python_bytes;
    sample.malloc_used_bytes = look.malloc_used_bytes;
    sample.malloc_free_bytes = look.malloc_free_bytes;
    sample.step = step_.load(std::memory_order_relaxed);
    sample.time_ns.store(now_ns, std::memory_order_release);
    ring.count.store(count + 1, std::memory_order_release);
  }
}

}  // namespace oom_forensics::collector
