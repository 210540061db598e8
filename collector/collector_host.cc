// The part of the collector that watches the memory of the host.
#include <unistd.h>

#include <string>
#include <vector>

#include "collector/black_box/host_hooks.h"
#include "collector/black_box/python_arenas.h"
#include "collector/black_box/touched_memory.h"
#include "collector/collector.h"
#include "collector/diagnostics.h"
#include "collector/no_throw.h"
#include "collector/python/gil.h"
#include "collector/tensorflow/cpu_allocator.h"

namespace oom_forensics::collector {

void Collector::StartBlackBox() {
  const Settings settings = CurrentSettings();
  if (!settings.black_box || !hooked_.allocators_hooked()) return;
  const std::string temporary = DefaultLogdirPath();
  std::string logdir = temporary;
  std::vector<BoxFolder> folders;
  if (!settings.logdir.empty() && !IsUrl(settings.logdir)) {
    logdir = settings.logdir;
    folders.push_back({logdir});
  }
  folders.push_back({temporary, /*is_ours=*/true});
  // Where the folder for temporary files is memory.
  folders.push_back({"/var/tmp/oom_forensics-" + std::to_string(getuid()),
                     /*is_ours=*/true});
  const std::string why_not =
      black_box_.Start(folders, logdir, hooked_.version());
  if (!why_not.empty()) {
    Say("if this process is killed, it leaves no black box: " + why_not);
    return;
  }
  host_blocks_.Begin(black_box_.box());
  host_hooks_ = InstallHostHooks(&host_blocks_, &stacks_, black_box_.box(),
                                 {&BlackBox::EndWell, &BlackBox::EndAsAsked},
                                 settings.host);
}

HostParts Collector::PartsOfHost() {
  HostParts parts;
  if (const auto statistics = StatisticsOfCpuAllocator()) {
    parts.tensorflow_bytes = statistics->bytes_in_use;
  }
  parts.native_bytes = host_blocks_.BytesOf(black_box::Owner::kNative);
  parts.python_bytes = PythonArenaBytes();
  for (const Region& region : recorder_.Regions()) {
    if (recorder_.allocators().Describe(region.allocator).in_host_memory) {
      parts.pool_bytes += region.size_bytes;
    }
  }
  return parts;
}

HostParts Collector::UntouchedPartsOfHost() {
  HostParts untouched;
  std::vector<Region> regions;
  for (const Region& region : recorder_.Regions()) {
    if (recorder_.allocators().Describe(region.allocator).in_host_memory) {
      untouched.pool_bytes += UntouchedBytes(region.address, region.size_bytes);
      regions.push_back(region);
    }
  }
  const auto by_owner = host_blocks_.Untouched(regions);
  const auto of = [&](black_box::Owner owner) {
    return by_owner[static_cast<size_t>(owner)];
  };
  untouched.tensorflow_bytes = of(black_box::Owner::kTensorFlow);
  untouched.native_bytes = of(black_box::Owner::kNative);
  return untouched;
}

void Collector::OnCompiled(const XlaModule& module, uint64_t alive) noexcept {
  if (black_box_.box() == nullptr) return;
  NoThrow([&] {
    std::string where;
    if (const void* const thread = python::ThisThreadState()) {
      host_blocks_.AppendFrames(stacks_.Take(thread), &where);
      // There is no line before the first one.
      where.erase(0, 1);
    }
    black_box_.EndActivity(
        black_box_.BeginActivity(black_box::ActivityKind::kCompile,
                                 module.function, where),
        alive, 0, "");
  });
}

void Collector::LearnLogdir(const std::string& logdir) {
  flight_recorder_.LearnLogdir(logdir);
  if (!IsUrl(logdir) && CurrentSettings().logdir.empty()) {
    black_box_.LearnLogdir(logdir);
  }
}

}  // namespace oom_forensics::collector
