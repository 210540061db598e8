// Field numbers of messages of TensorFlow's: those that a trace is made of, and
// the dump of an allocator. They are read and written by number, because the
// collector may not link protobuf (TensorFlow brings another version of it into
// the process) and the converter streams.

#ifndef OOM_FORENSICS_PROTO_TENSORFLOW_FIELDS_H_
#define OOM_FORENSICS_PROTO_TENSORFLOW_FIELDS_H_

#include <cstdint>

namespace oom_forensics::schema {

// Of the messages of tsl/profiler/protobuf/xplane.proto that are read or
// written.
namespace xspace {
enum Field : uint32_t {
  kPlanes = 1,
  kErrors = 2,
  kWarnings = 3,
  kHostnames = 4
};
}
namespace xplane {
enum Field : uint32_t {
  kId = 1,
  kName = 2,
  kLines = 3,
  kEventMetadata = 4,  // map<int64, XEventMetadata>
  kStatMetadata = 5,   // map<int64, XStatMetadata>
  kStats = 6,
};
}
namespace map_entry {
enum Field : uint32_t { kKey = 1, kValue = 2 };
}
namespace xline {
enum Field : uint32_t {
  kId = 1,
  kName = 2,
  kTimestampNs = 3,
  kEvents = 4,
  kDurationPs = 9,
  kDisplayId = 10,
  kDisplayName = 11,
};
}
namespace xevent {
enum Field : uint32_t {
  kMetadataId = 1,
  kOffsetPs = 2,
  kDurationPs = 3,
  kStats = 4,
  kNumOccurrences = 5,
};
}
namespace xstat {
enum Field : uint32_t {
  kMetadataId = 1,
  kDoubleValue = 2,
  kUint64Value = 3,
  kInt64Value = 4,
  kStrValue = 5,
  kBytesValue = 6,
  kRefValue = 7,  // id of the XStatMetadata whose name is the value
};
}
namespace xevent_metadata {
enum Field : uint32_t {
  kId = 1,
  kName = 2,
  kMetadata = 3,
  kDisplayName = 4,
  kStats = 5,
};
}
namespace xstat_metadata {
enum Field : uint32_t { kId = 1, kName = 2, kDescription = 3 };
}

// Of tensorflow.MemoryDump (tsl/protobuf/bfc_memory_map.proto).
namespace memory_dump {
enum Field : uint32_t {
  kAllocatorName = 1,
  kBinSummary = 2,
  kChunk = 3,
  kSnapShot = 4,
  kStats = 5,
};
}
namespace mem_chunk {
enum Field : uint32_t {
  kAddress = 1,
  kSize = 2,
  kRequestedSize = 3,
  kBin = 4,
  kOpName = 5,
  kFreedAtCount = 6,
  kActionCount = 7,
  kInUse = 8,
  kStepId = 9,
};
}
namespace mem_allocator_stats {
enum Field : uint32_t {
  kNumAllocs = 1,
  kBytesInUse = 2,
  kPeakBytesInUse = 3,
  kLargestAllocSize = 4,
  kFragmentationMetric = 5,  // float
};
}

}  // namespace oom_forensics::schema

#endif  // OOM_FORENSICS_PROTO_TENSORFLOW_FIELDS_H_
