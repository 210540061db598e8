// Writes a trace with a CUDA device in it, for machines that have none:
//
//   make_cupti_fixture FILE.xplane.pb
//
// The trace is CONSTRUCTED, not recorded on hardware. CUPTI records are filled
// in by hand as the headers declare them, and pass through the collector's own
// reader, log and writers; the allocator's events pass through its recorder. So
// it shows that what the collector writes is what the converter reads, and
// nothing about a GPU. It tells this story of a device with 24 GiB:
//
//   start   the context alone takes 512 MiB
//   growth  TensorFlow's pool takes a region of 2 GiB, later one of 4 GiB
//   others  512 MiB for cuDNN; 32 MiB for cuBLAS, given back; 128 MiB managed;
//           256 MiB pinned host memory; 64 MiB from a cudaMallocAsync pool
//   oom     another process has taken 16 GiB: the pool asks for 1 GiB more, is
//           allowed to hold 22 GiB, and the device has 480 MiB left
#include <cupti.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "collector/cupti/device_plane_writer.h"
#include "collector/cupti/record_reader.h"
#include "collector/recording/clock.h"
#include "collector/recording/recorder.h"
#include "collector/trace/trace_writer.h"

namespace oom_forensics {
namespace {

using collector::RecordedKind;
using cupti::DriverEvent;
using cupti::DriverEventKind;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kPoolAddress = 0x5000'0000;
constexpr uint32_t kThread = 4711;

class Fixture {
 public:
  std::string Make() {
    start_ns_ = collector::WallClockNs();
    recorder_.StartCapture(collector::CaptureOwner::kProfiler);
    AddSample("session start", 24 * kGiB - 512 * kMiB, 512 * kMiB);
    GrowPool(0x7f00'0000'0000, 2 * kGiB, 24 * kGiB - 2560 * kMiB);
    const collector::SiteId site = MakeSite("model/conv2d/Conv2D", kGiB + 256);
    recorder_.RecordAlloc(0, Address(0x7f00'0000'0000), site, 7, kThread);
    Allocate(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 0x7f20'0000'0000, 512 * kMiB,
             "/usr/lib/libcudnn.so.9");
    Allocate(CUPTI_ACTIVITY_MEMORY_KIND_PINNED, 0x7e00'0000'0000, 256 * kMiB,
             "/usr/lib/libtensorflow_cc.so.2");
    Allocate(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, 0x7d00'0000'0000, 128 * kMiB,
             "/usr/lib/libmy_kernels.so");
    AddPool(CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED, 0, 0);
    AllocateFromPool(0x7c00'0000'0000, 64 * kMiB);
    AddPool(CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED, 64 * kMiB,
            64 * kMiB);
    Allocate(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 0x7f21'0000'0000, 32 * kMiB,
             "/usr/lib/libcublas.so.12");
    Release(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 0x7f21'0000'0000, 32 * kMiB);
    GrowPool(0x7f01'0000'0000, 4 * kGiB, 24 * kGiB - 7360 * kMiB);
    recorder_.RecordAlloc(0, Address(0x7f01'0000'0000),
                          MakeSite("model/dense/MatMul", 4 * kGiB), 7, kThread);
    FailRequest(kGiB);
    AddSample("oom", 480 * kMiB, 7360 * kMiB);
    return Write();
  }

 private:
  static const void* Address(uint64_t address) {
    return reinterpret_cast<const void*>(address);
  }

  collector::SiteId MakeSite(const char* op, uint64_t bytes) {
    collector::SiteKey key;
    key.op = op;
    key.shape = "[64,224,224,64]";
    key.region_type = "output";
    key.dtype = 1;
    key.requested_bytes = bytes;
    key.allocated_bytes = bytes;
    return recorder_.sites().Intern(key)->id;
  }

  static CUpti_ActivityMemory4 MemoryRecord(CUpti_ActivityMemoryKind kind,
                                            uint64_t address, uint64_t bytes) {
    CUpti_ActivityMemory4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    record.memoryOperationType =
        CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    record.memoryKind = kind;
    record.address = address;
    record.bytes = bytes;
    record.timestamp = static_cast<uint64_t>(collector::WallClockNs());
    record.streamId = CUPTI_INVALID_STREAM_ID;
    return record;
  }

  template <typename Record>
  void Read(const Record& record) {
    cupti::ReadRecord(reinterpret_cast<const CUpti_Activity*>(&record),
                      sizeof(record), /*read_source=*/true, log_);
  }

  void Allocate(CUpti_ActivityMemoryKind kind, uint64_t address, uint64_t bytes,
                const char* source) {
    CUpti_ActivityMemory4 record = MemoryRecord(kind, address, bytes);
    record.source = source;
    Read(record);
  }

  void Release(CUpti_ActivityMemoryKind kind, uint64_t address,
               uint64_t bytes) {
    CUpti_ActivityMemory4 record = MemoryRecord(kind, address, bytes);
    record.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    Read(record);
  }

  void AllocateFromPool(uint64_t address, uint64_t bytes) {
    CUpti_ActivityMemory4 record =
        MemoryRecord(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, address, bytes);
    record.isAsync = 1;
    record.streamId = 7;
    record.memoryPoolConfig.memoryPoolType =
        CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
    record.memoryPoolConfig.address = kPoolAddress;
    record.memoryPoolConfig.pool.size = bytes;
    record.memoryPoolConfig.utilizedSize = bytes;
    Read(record);
  }

  void AddPool(CUpti_ActivityMemoryPoolOperationType operation, uint64_t size,
               uint64_t utilized) {
    CUpti_ActivityMemoryPool2 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
    record.memoryPoolOperationType = operation;
    record.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
    record.address = kPoolAddress;
    record.size = size;
    record.utilizedSize = utilized;
    record.timestamp = static_cast<uint64_t>(collector::WallClockNs());
    Read(record);
  }

  // The driver gives TensorFlow's pool a region; the collector looks.
  void GrowPool(uint64_t address, uint64_t bytes, uint64_t free_after) {
    Allocate(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, address, bytes,
             "/usr/lib/libtensorflow_framework.so.2");
    recorder_.RecordRegion(RecordedKind::kRegionAdd, 0, Address(address), bytes,
                           kThread);
    AddSample("region growth", free_after, 0);
  }

  void AddSample(const char* reason, uint64_t free_bytes,
                 uint64_t process_bytes) {
    DriverEvent sample;
    sample.kind = DriverEventKind::kSample;
    sample.time_base = cupti::TimeBase::kCollector;
    sample.time_ns = collector::WallClockNs();
    sample.total_bytes = 24 * kGiB;
    sample.free_bytes = free_bytes;
    sample.process_bytes = process_bytes;
    sample.text = log_.Intern(reason);
    log_.Add(sample);
  }

  void FailRequest(uint64_t bytes) {
    collector::Failure failure;
    failure.sequence = recorder_.RecordFailure(
        0, MakeSite("model/dense_1/MatMul", bytes), 8, kThread);
    collector::AllocatorStatistics statistics{};
    statistics.num_allocs = 2;
    statistics.bytes_in_use = 5 * kGiB;
    statistics.peak_bytes_in_use = 5 * kGiB;
    statistics.limit_bytes = 22 * kGiB;
    failure.statistics = statistics;
    failure.reserved_bytes = 6 * kGiB;
    failure.largest_free_bytes = kGiB - 256;
    recorder_.failures().Add(failure);
  }

  std::string Write() {
    const auto recording =
        recorder_.StopCapture(collector::CaptureOwner::kProfiler);
    collector::SessionFacts session;
    session.origin = "profile";
    session.hooks = "constructed by tests/gpu/make_cupti_fixture, not recorded";
    session.attribution = "on";
    session.cupti_mode = "tee";
    session.cupti_reason = session.hooks;
    collector::AllocatorInfo info;
    info.name = "GPU_0_bfc";
    info.kind = "bfc";
    info.complete = true;
    cupti::DeviceFacts device;
    device.mode = session.cupti_mode;
    device.reason = session.cupti_reason;
    device.cupti_version = CUPTI_API_VERSION;
    device.name_of = [](int) { return std::string("constructed device"); };
    return collector::WriteTrace(session, {info}, *recording,
                                 recorder_.sites().Snapshot(),
                                 recorder_.stacks().Snapshot()) +
           cupti::WriteDevicePlanes(log_.Read(), device, start_ns_);
  }

  int64_t start_ns_ = 0;
  collector::Recorder recorder_{collector::Settings{}};
  cupti::DeviceLog log_;
};

}  // namespace
}  // namespace oom_forensics

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE.xplane.pb\n", argv[0]);
    return 2;
  }
  const std::string trace = oom_forensics::Fixture().Make();
  std::ofstream file(argv[1], std::ios::binary);
  file.write(trace.data(), static_cast<std::streamsize>(trace.size()));
  file.close();
  if (!file) {
    std::fprintf(stderr, "cannot write %s\n", argv[1]);
    return 1;
  }
  return 0;
}
