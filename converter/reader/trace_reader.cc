#include "converter/reader/trace_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/compiled/compiled_blocks.h"
#include "converter/input/mapped_file.h"
#include "converter/input/trace_files.h"
#include "converter/reader/graph_tensors.h"
#include "converter/reader/plane_reader.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kTaskEnvironmentPlane = "Task Environment";
constexpr std::string_view kHostPlane = "/host:CPU";

// Given back at a time.
constexpr size_t kReleaseBytes = size_t{16} << 20;

using Consumed = std::function<void(const char* end)>;

void ReadTaskEnvironment(const PlaneLayout& plane, HostTrace* trace) {
  const PlaneVocabulary vocabulary(plane, StatVocabulary::kStock);
  const StatSet stats = ReadPlaneStats(plane, vocabulary, &trace->quality);
  const int64_t start_ns = stats.Int64Or(StatKind::kProfileStartTime, 0);
  const int64_t stop_ns = stats.Int64Or(StatKind::kProfileStopTime, 0);
  // Times are stated to the second century of the epoch at most, so that no
  // sum of them overflows.
  constexpr int64_t kMaxNs = std::numeric_limits<int64_t>::max() / 2;
  if (start_ns < 0 || start_ns > kMaxNs) {
    trace->quality.Add(QualityCounter::kTimeOutOfRange);
    return;
  }
  trace->origin_ns = start_ns;
  if (trace->facts.start_ns == 0) trace->facts.start_ns = start_ns;
  if (trace->facts.stop_ns == 0) trace->facts.stop_ns = stop_ns;
}

bool IsAllocatorPlane(std::string_view name) {
  return StartsWith(name, schema::kPlanePrefix) &&
         name != schema::kSessionPlane && name != schema::kSourcePlane &&
         name != schema::kEvidencePlane && name != schema::kForecastPlane &&
         name != schema::kStepPlane && name != schema::kHostMemoryPlane &&
         !StartsWith(name, schema::kCuptiPlanePrefix);
}

absl::Status ReadPlanes(const SpaceLayout& layout, ReadContext* context) {
  HostTrace& trace = context->trace();
  // The clock and the facts first: the events need them.
  for (const PlaneLayout& plane : layout.planes) {
    if (plane.name == schema::kSessionPlane) ReadSessionPlane(plane, context);
    if (plane.name == schema::kEvidencePlane) {
      trace.quality.Add(QualityCounter::kIncompleteEvidence);
    }
  }
  for (const PlaneLayout& plane : layout.planes) {
    if (plane.name == kTaskEnvironmentPlane) {
      ReadTaskEnvironment(plane, &trace);
    }
  }
  if (trace.origin_ns == 0 && trace.facts.start_ns > 0 &&
      trace.facts.start_ns < std::numeric_limits<int64_t>::max() / 2) {
    trace.origin_ns = trace.facts.start_ns;
  }
  // The stacks that sites refer to.
  ReadSourcePlanes(layout, context);
  for (const PlaneLayout& plane : layout.planes) {
    if (plane.name == schema::kModulesPlane) ReadModulePlane(plane, context);
  }
  for (const PlaneLayout& plane : layout.planes) {
    absl::Status read;
    if (IsAllocatorPlane(plane.name)) {
      read = ReadAllocatorPlane(plane, context);
    } else if (StartsWith(plane.name, schema::kCuptiPlanePrefix)) {
      read = ReadDevicePlane(plane, context);
    } else if (plane.name == schema::kForecastPlane) {
      read = ReadForecastPlane(plane, context);
    } else if (plane.name == schema::kHostMemoryPlane) {
      read = ReadHostMemoryPlane(plane, context);
    }
    if (!read.ok()) return read;
  }
  // After the forecasts: a step that has one needs no word about it.
  for (const PlaneLayout& plane : layout.planes) {
    if (plane.name != schema::kStepPlane) continue;
    const absl::Status read = ReadForecastPlane(plane, context);
    if (!read.ok()) return read;
  }
  for (const PlaneLayout& plane : layout.planes) {
    if (plane.name != kHostPlane) continue;
    const absl::Status read = ReadHostPlane(plane, context);
    if (!read.ok()) return read;
  }
  return ReadStockDevices(layout, context);
}

int64_t LastTimePs(const HostTrace& trace) {
  int64_t last_ps = 0;
  for (const AllocatorTrace& allocator : trace.allocators) {
    if (!allocator.time_ps.empty()) {
      last_ps = std::max(last_ps, allocator.time_ps.back() + 1);
    }
  }
  return last_ps;
}

absl::StatusOr<std::unique_ptr<const HostTrace>> Read(
    std::string_view bytes, const std::string& path, const ReadOptions& options,
    Consumed consumed) {
  auto trace = std::make_unique<HostTrace>();
  trace->host = HostOfFile(path);
  trace->file_name = trace->host + ".xplane.pb";
  trace->file_bytes = bytes.size();
  auto layout = ReadLayout(bytes, path, &trace->quality);
  if (!layout.ok()) return layout.status();
  if (layout->truncated) {
    if (!options.allow_truncated) {
      return absl::DataLossError(absl::StrCat(
          path,
          " is cut off or damaged: it ends in the middle of a message; record "
          "it again, or read what is whole by `oom-forensics report "
          "--allow-truncated`."));
    }
    trace->quality.Add(QualityCounter::kTruncatedFile);
  }
  ReadContext context(trace.get(), options, std::move(consumed));
  const absl::Status read = ReadPlanes(*layout, &context);
  if (!read.ok()) return read;
  NameGraphTensors(trace.get());
  NameCompiledBlocks(trace.get());
  trace->steps = context.steps().Finish(LastTimePs(*trace));
  if (trace->steps.empty()) trace->quality.Add(QualityCounter::kNoSteps);
  if (trace->facts.schema_version == 0) {
    trace->quality.Add(QualityCounter::kNoCollector);
  }
  return std::unique_ptr<const HostTrace>(std::move(trace));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const HostTrace>> ReadTrace(
    const std::string& path, const ReadOptions& options) {
  auto file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  const std::string_view bytes = (*file)->bytes();
  size_t released = 0;
  size_t done = 0;
  return Read(bytes, path, options, [&](const char* end) {
    // Planes are not read in the order in which they lie in the file.
    done = std::max(done, static_cast<size_t>(end - bytes.data()));
    // What is read need not stay in memory beside what was made of it.
    if (done > released + kReleaseBytes) {
      (*file)->Release(done);
      released = done;
    }
    if (options.progress) {
      options.progress(static_cast<double>(done) /
                       static_cast<double>(bytes.size()));
    }
  });
}

absl::StatusOr<std::unique_ptr<const HostTrace>> ReadTraceFromBytes(
    std::string_view bytes, const std::string& name,
    const ReadOptions& options) {
  return Read(bytes, name, options, nullptr);
}

}  // namespace oom_forensics
