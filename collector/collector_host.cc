// The part of the collector that watches the memory of the host.
#include <unistd.h>

#include <string>
#include <vector>

#include "collector/black_box/host_hooks.h"
#include "collector/collector.h"
#include "collector/diagnostics.h"
#include "collector/tensorflow/cpu_allocator.h"
#include "core/pool_name.h"

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
    Say("if this process is killed, nothing is left of it: " + why_not);
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
  parts.python_bytes = host_blocks_.BytesOf(black_box::Owner::kPython);
  for (const Region& region : recorder_.Regions()) {
    const AllocatorInfo info =
        recorder_.allocators().Describe(region.allocator);
    if (GpuOrdinalOf(info.name, info.device_name) < 0) {
      parts.pool_bytes += region.size_bytes;
    }
  }
  return parts;
}

void Collector::LearnLogdir(const std::string& logdir) {
  flight_recorder_.LearnLogdir(logdir);
  if (!IsUrl(logdir) && CurrentSettings().logdir.empty()) {
    black_box_.LearnLogdir(logdir);
  }
}

}  // namespace oom_forensics::collector
