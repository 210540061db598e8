#include "collector/cupti/record_reader.h"

#include <cupti.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace oom_forensics::cupti {
namespace {

// The walk over a buffer is the real CUPTI's own: it needs no GPU.
CUptiResult RealNextRecord(void* self, uint8_t* buffer, size_t valid_bytes,
                           CUpti_Activity** record) {
  return reinterpret_cast<decltype(&cuptiActivityGetNextRecord)>(self)(
      buffer, valid_bytes, record);
}

NextRecord RealCupti() {
  void* library = dlopen(std::getenv("LIBCUPTI"), RTLD_NOW | RTLD_LOCAL);
  return {&RealNextRecord, dlsym(library, "cuptiActivityGetNextRecord")};
}

// A buffer as CUPTI fills it: records of any kind, one behind the other.
class Buffer {
 public:
  template <typename Record>
  Buffer& Append(const Record& record) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&record);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(record));
    return *this;
  }

  DeviceLog::Contents Read(bool read_source = false) {
    DeviceLog log;
    ReadBuffer(RealCupti(), bytes_.data(), bytes_.size(), read_source, log);
    return log.Read();
  }

 private:
  std::vector<uint8_t> bytes_;
};

CUpti_ActivityMemory4 DeviceAllocation() {
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.correlationId = 17;
  record.address = 0x7f00'0000'0000;
  record.bytes = 2 << 20;
  record.timestamp = 1'700'000'000'000'000'123;
  record.deviceId = 1;
  record.contextId = 3;
  record.streamId = CUPTI_INVALID_STREAM_ID;
  record.memoryPoolConfig.memoryPoolType =
      CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID;
  return record;
}

CUpti_ActivityMemory4 PoolAllocation() {
  CUpti_ActivityMemory4 record = DeviceAllocation();
  record.isAsync = 1;
  record.streamId = 7;
  record.memoryPoolConfig.memoryPoolType =
      CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.memoryPoolConfig.address = 0x5000;
  record.memoryPoolConfig.releaseThreshold = 1 << 30;
  record.memoryPoolConfig.pool.size = 64 << 20;
  record.memoryPoolConfig.utilizedSize = 48 << 20;
  return record;
}

CUpti_ActivityMemoryPool2 Pool() {
  CUpti_ActivityMemoryPool2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  record.memoryPoolOperationType =
      CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
  record.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.correlationId = 18;
  record.deviceId = 1;
  record.address = 0x5000;
  record.size = 64 << 20;
  record.releaseThreshold = 1 << 30;
  record.timestamp = 1'700'000'000'000'000'456;
  record.utilizedSize = 16 << 20;
  return record;
}

TEST(RecordReaderTest, ReadsAnAllocation) {
  const DeviceLog::Contents contents =
      Buffer().Append(DeviceAllocation()).Read();
  ASSERT_EQ(contents.events.size(), 1u);
  const DriverEvent& event = contents.events[0];
  EXPECT_EQ(event.kind, DriverEventKind::kAlloc);
  EXPECT_EQ(event.time_base, TimeBase::kCupti);
  EXPECT_EQ(event.memory_kind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  EXPECT_EQ(event.address, 0x7f00'0000'0000u);
  EXPECT_EQ(event.bytes, 2u << 20);
  EXPECT_EQ(event.time_ns, 1'700'000'000'000'000'123);
  EXPECT_EQ(event.device, 1u);
  EXPECT_EQ(event.context, 3u);
  EXPECT_EQ(event.correlation_id, 17u);
  EXPECT_EQ(event.stream, kNoStream);
  EXPECT_FALSE(event.is_async);
  EXPECT_EQ(event.pool_address, 0u);
  EXPECT_EQ(contents.unreadable_records, 0u);
}

TEST(RecordReaderTest, ReadsARelease) {
  CUpti_ActivityMemory4 record = DeviceAllocation();
  record.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  const DeviceLog::Contents contents = Buffer().Append(record).Read();
  ASSERT_EQ(contents.events.size(), 1u);
  EXPECT_EQ(contents.events[0].kind, DriverEventKind::kFree);
}

TEST(RecordReaderTest, ReadsThePoolOfAnAsynchronousAllocation) {
  const DeviceLog::Contents contents = Buffer().Append(PoolAllocation()).Read();
  ASSERT_EQ(contents.events.size(), 1u);
  const DriverEvent& event = contents.events[0];
  EXPECT_TRUE(event.is_async);
  EXPECT_EQ(event.stream, 7u);
  EXPECT_EQ(event.pool_address, 0x5000u);
  EXPECT_EQ(event.pool_bytes, 64u << 20);
  EXPECT_EQ(event.pool_release_threshold_bytes, 1u << 30);
  EXPECT_TRUE(event.has_pool_utilized);
  EXPECT_EQ(event.pool_utilized_bytes, 48u << 20);
}

TEST(RecordReaderTest, OfAnImportedPoolItKnowsTheAddressOnly) {
  CUpti_ActivityMemory4 record = PoolAllocation();
  record.memoryPoolConfig.memoryPoolType =
      CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED;
  record.memoryPoolConfig.pool.processId = 4711;
  const DeviceLog::Contents contents = Buffer().Append(record).Read();
  ASSERT_EQ(contents.events.size(), 1u);
  EXPECT_EQ(contents.events[0].pool_address, 0x5000u);
  EXPECT_EQ(contents.events[0].pool_bytes, 0u);
  EXPECT_FALSE(contents.events[0].has_pool_utilized);
}

TEST(RecordReaderTest, ReadsAPool) {
  const DeviceLog::Contents contents = Buffer().Append(Pool()).Read();
  ASSERT_EQ(contents.events.size(), 1u);
  const DriverEvent& event = contents.events[0];
  EXPECT_EQ(event.kind, DriverEventKind::kPool);
  EXPECT_EQ(event.pool_operation,
            CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED);
  EXPECT_EQ(event.address, 0x5000u);
  EXPECT_EQ(event.bytes, 64u << 20);
  EXPECT_EQ(event.pool_utilized_bytes, 16u << 20);
  EXPECT_EQ(event.device, 1u);
}

TEST(RecordReaderTest, FindsItsRecordsBetweenThoseOfOthers) {
  CUpti_ActivityMemset4 memset{};
  memset.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  CUpti_ActivityKernel9 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  const DeviceLog::Contents contents = Buffer()
                                           .Append(kernel)
                                           .Append(DeviceAllocation())
                                           .Append(memset)
                                           .Append(Pool())
                                           .Append(kernel)
                                           .Read();
  ASSERT_EQ(contents.events.size(), 2u);
  EXPECT_EQ(contents.events[0].kind, DriverEventKind::kAlloc);
  EXPECT_EQ(contents.events[1].kind, DriverEventKind::kPool);
  EXPECT_EQ(contents.unreadable_records, 0u);
}

TEST(RecordReaderTest, FollowsTheSourceOnlyWhereItWasAskedFor) {
  const std::string library = "/usr/lib/libcublas.so.12";
  CUpti_ActivityMemory4 record = DeviceAllocation();
  record.source = library.c_str();
  EXPECT_EQ(Buffer().Append(record).Read(false).events.at(0).text, 0u);
  const DeviceLog::Contents contents = Buffer().Append(record).Read(true);
  EXPECT_EQ(contents.strings.at(contents.events.at(0).text - 1), library);
}

TEST(RecordReaderTest, DoesNotFollowASourceThatIsNotThere) {
  const DeviceLog::Contents contents =
      Buffer().Append(DeviceAllocation()).Read(/*read_source=*/true);
  EXPECT_EQ(contents.events.at(0).text, 0u);
}

// Records of older versions of CUPTI are shorter. They cannot be walked by this
// CUPTI, so they are read one by one.
TEST(RecordReaderTest, ReadsTheShorterRecordOfAnOlderCupti) {
  CUpti_ActivityMemory2 older{};
  const CUpti_ActivityMemory4 newest = PoolAllocation();
  std::memcpy(&older, &newest, sizeof(older));
  DeviceLog log;
  ReadRecord(reinterpret_cast<const CUpti_Activity*>(&older), sizeof(older),
             /*read_source=*/true, log);
  const DeviceLog::Contents contents = log.Read();
  ASSERT_EQ(contents.events.size(), 1u);
  EXPECT_EQ(contents.events[0].pool_bytes, 64u << 20);
  EXPECT_FALSE(contents.events[0].has_pool_utilized);
  EXPECT_EQ(contents.events[0].text, 0u);
}

TEST(RecordReaderTest, ReadsTheShorterPoolRecordOfAnOlderCupti) {
  CUpti_ActivityMemoryPool older{};
  const CUpti_ActivityMemoryPool2 newest = Pool();
  std::memcpy(&older, &newest, sizeof(older));
  DeviceLog log;
  ReadRecord(reinterpret_cast<const CUpti_Activity*>(&older), sizeof(older),
             /*read_source=*/false, log);
  const DeviceLog::Contents contents = log.Read();
  ASSERT_EQ(contents.events.size(), 1u);
  EXPECT_EQ(contents.events[0].bytes, 64u << 20);
  EXPECT_FALSE(contents.events[0].has_pool_utilized);
}

TEST(RecordReaderTest, CountsARecordThatEndsTooEarly) {
  const CUpti_ActivityMemory4 record = DeviceAllocation();
  for (const size_t size : {0, 2, 4, 60, 111}) {
    DeviceLog log;
    ReadRecord(reinterpret_cast<const CUpti_Activity*>(&record), size, false,
               log);
    EXPECT_TRUE(log.Read().events.empty()) << size;
    EXPECT_EQ(log.Read().unreadable_records, 1u) << size;
  }
}

TEST(RecordReaderTest, CountsAnOperationThatIsNotKnown) {
  CUpti_ActivityMemory4 memory = DeviceAllocation();
  memory.memoryOperationType =
      static_cast<CUpti_ActivityMemoryOperationType>(99);
  CUpti_ActivityMemoryPool2 pool = Pool();
  pool.memoryPoolOperationType =
      static_cast<CUpti_ActivityMemoryPoolOperationType>(99);
  const DeviceLog::Contents contents =
      Buffer().Append(memory).Append(pool).Append(DeviceAllocation()).Read();
  EXPECT_EQ(contents.events.size(), 1u);
  EXPECT_EQ(contents.unreadable_records, 2u);
}

TEST(RecordReaderTest, StopsBeforeAKindThatCuptiDoesNotKnow) {
  CUpti_ActivityMemory4 unknown{};
  unknown.kind = static_cast<CUpti_ActivityKind>(0x7FFF);
  const DeviceLog::Contents contents = Buffer()
                                           .Append(DeviceAllocation())
                                           .Append(DeviceAllocation())
                                           .Append(unknown)
                                           .Append(DeviceAllocation())
                                           .Read();
  // The record before it has no known end, so it is not read either.
  EXPECT_EQ(contents.events.size(), 1u);
  EXPECT_EQ(contents.unreadable_records, 1u);
}

TEST(RecordReaderTest, ReadsNothingFromAnEmptyBuffer) {
  DeviceLog log;
  uint8_t byte = 0;
  ReadBuffer(RealCupti(), &byte, 0, false, log);
  ReadBuffer(RealCupti(), nullptr, 16, false, log);
  EXPECT_TRUE(log.Read().events.empty());
  EXPECT_EQ(log.Read().unreadable_records, 0u);
}

}  // namespace
}  // namespace oom_forensics::cupti
