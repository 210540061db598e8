#include "converter/testing/box_builder.h"

#include <cstring>
#include <string_view>
#include <vector>

namespace oom_forensics::test {

using black_box::Box;

std::string MakeBox(const std::function<void(Box*)>& change) {
  constexpr int64_t kStartNs = 1'700'000'000'000'000'000;
  constexpr int64_t kTickNs = 100'000'000;
  constexpr int kTicks = 100;
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  constexpr std::string_view kText =
      "NumPy or another library\t"
      "\nl88\tones\t/usr/lib/numpy/numeric.py"
      "\nu7\tstep\ttrain.py";
  std::vector<uint64_t> storage((sizeof(Box) + 7) / 8);
  auto* const box = reinterpret_cast<Box*>(storage.data());
  black_box::Header& header = box->header;
  std::memcpy(header.magic, black_box::kMagic, sizeof(header.magic));
  header.version = black_box::kVersion;
  header.file_bytes = sizeof(Box);
  header.process_id = 1234;
  header.started_ns = kStartNs;
  header.machine_bytes = 8192 * kMiB;
  header.limit_bytes = 250 * kMiB;
  header.sampling_bytes = kMiB / 2;
  header.watches_malloc = 1;
  std::strcpy(header.host, "worker");
  std::strcpy(header.tensorflow_version, "2.21.0");
  std::strcpy(header.cgroup, "/sys/fs/cgroup/jobs");
  std::strcpy(header.command, "python train.py");
  std::strcpy(header.logdir, "/logs");
  for (int i = 0; i < kTicks; ++i) {
    black_box::Sample& sample = box->rings[0].samples[i];
    sample.rss_anon_bytes = (40 + 2 * static_cast<uint64_t>(i)) * kMiB;
    sample.rss_file_bytes = 5 * kMiB;
    sample.used_bytes = sample.rss_anon_bytes + 10 * kMiB;
    sample.native_bytes = 2 * static_cast<uint64_t>(i) * kMiB;
    sample.malloc_used_bytes = sample.native_bytes + 25 * kMiB;
    sample.step = i;
    sample.time_ns = kStartNs + i * kTickNs;
  }
  box->rings[0].count = kTicks;
  std::memcpy(box->texts, kText.data(), kText.size());
  header.text_bytes = kText.size();
  box->sites[0] = {0, kText.size(), black_box::Owner::kNative, 0};
  header.site_count = 1;
  for (int i = 0; i < 2 * kTicks; ++i) {
    black_box::Block& block = box->blocks[i * 64];
    block.address = 0x7f0000000000 + static_cast<uint64_t>(i) * 2 * kMiB;
    block.bytes = kMiB;
    block.born_ns = kStartNs + i * kTickNs / 2;
    block.weight_thousandths = 1000;
  }
  change(box);
  return {reinterpret_cast<const char*>(box), sizeof(Box)};
}

}  // namespace oom_forensics::test
