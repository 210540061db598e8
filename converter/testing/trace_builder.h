// Traces as the collector writes them, from a sequence of allocations.
//
//   TraceBuilder trace;
//   trace.BaselineRegion(0x10000, 1 << 20);
//   trace.Alloc(0x10000, {"dense/MatMul", "[64]", 1, 256});
//   trace.Free(0x10000);
//   auto run = trace.Open();                 // read and replayed
//
// Each event is 1 µs after the one before, the first at kStartNs + 1 µs.
#ifndef OOM_FORENSICS_CONVERTER_TESTING_TRACE_BUILDER_H_
#define OOM_FORENSICS_CONVERTER_TESTING_TRACE_BUILDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "converter/run/run.h"
#include "converter/testing/xspace_builder.h"

namespace oom_forensics::test {

// When every built session began.
inline constexpr int64_t kStartNs = 1'700'000'000'000'000'000;

// Who asks for how much.
struct Ask {
  std::string op = "op";
  std::string shape = "";
  int64_t dtype = 1;
  uint64_t requested_bytes = 256;
  // 0: rounded up to a multiple of 256.
  uint64_t allocated_bytes = 0;
  // Whether the op ran by itself; nullopt: not recorded.
  std::optional<bool> eager = std::nullopt;
  // As Stack() returns it; 0: none.
  int64_t stack = 0;
};

// What a failed event states of the allocator.
struct Failure {
  bool is_oom = true;
  uint64_t limit_bytes = 0;
  std::string memory_dump;
  int64_t waited_ns = 0;
};

class TraceBuilder {
 public:
  explicit TraceBuilder(const std::string& allocator = "bfc#0");

  TraceBuilder& BaselineRegion(uint64_t address, uint64_t size_bytes);
  TraceBuilder& BaselineChunk(uint64_t address, const Ask& ask,
                              uint64_t age_ns);
  TraceBuilder& Region(uint64_t address, uint64_t size_bytes);
  TraceBuilder& RegionGone(uint64_t address, uint64_t size_bytes);
  TraceBuilder& Alloc(uint64_t address, const Ask& ask);
  TraceBuilder& Free(uint64_t address);
  TraceBuilder& Fail(const Ask& ask, const Failure& failure);
  // Any event, for what the others cannot say. `site` as AddEventMetadata
  // returns it.
  TraceBuilder& Raw(const Event& event);
  // A training step from the next event on, ended by the next Step or EndStep.
  TraceBuilder& Step(int64_t number);
  TraceBuilder& EndStep();
  // Sticky from the next event on.
  TraceBuilder& Thread(uint64_t thread);
  TraceBuilder& StepId(int64_t step_id);
  // The next event is so much later than the last one.
  TraceBuilder& Wait(int64_t duration_ns);
  // The forecast of a run of a function that met an OOM, in so many orders: one
  // request of so many bytes by `op`. 0: without an order. Each order has a
  // site of its own, as in runs of earlier versions.
  TraceBuilder& Forecast(const std::string& function, int64_t step_id,
                         uint64_t requested_bytes = 0,
                         const std::string& op = "op", int orders = 1);
  // Adds a step whose forecast is not made yet, for that reason.
  TraceBuilder& Step(const std::string& function, int64_t step_id,
                     const std::string& reason);
  // A stack of frames, innermost first: "f:<file>:<line>:<function>" the
  // user's, "l:..." a library's. Returns its id.
  int64_t Stack(const std::vector<std::string>& frames);
  // Any other record of the plane of source lines.
  TraceBuilder& SourceRecord(std::string_view kind, const std::string& name,
                             const std::vector<Stat>& stats);
  // A fact of that plane.
  TraceBuilder& SourceStat(const Stat& stat);
  TraceBuilder& AllocatorStat(const Stat& stat);
  TraceBuilder& SessionStat(const Stat& stat);

  PlaneBuilder& plane() { return plane_; }
  // The time of the last event, since the epoch.
  int64_t now_ns() const { return kStartNs + now_ps_ / 1000; }

  // The file's bytes; the plane of this builder with those of `others`.
  std::string Serialize(const std::vector<TraceBuilder*>& others = {});
  // Read, replayed, and ready for questions. Aborts the test's process where
  // the trace cannot be read.
  std::unique_ptr<Run> Open(const std::vector<TraceBuilder*>& others = {});

 private:
  int64_t SiteId(const std::string& kind, const Ask& ask);
  int64_t KindId(const std::string& kind);
  Event& AddEvent(int64_t metadata_id, std::vector<Stat> stats);
  std::string SerializePlane();
  void FlushSticky(Event* event);

  std::string allocator_;
  PlaneBuilder plane_;
  PlaneBuilder source_;
  std::vector<PlaneBuilder> forecasts_;
  std::vector<Stat> session_stats_;
  std::map<std::tuple<std::string, std::string, std::string, int64_t, uint64_t,
                      uint64_t, std::optional<bool>, int64_t>,
           int64_t>
      sites_;
  std::map<std::string, int64_t> kinds_;
  Line baseline_;
  Line events_;
  std::vector<Event> steps_;
  std::vector<std::pair<int64_t, int64_t>> step_begins_;  // Number, offset.
  int64_t now_ps_ = 0;
  uint64_t thread_ = 0;
  int64_t step_id_ = 0;
  bool thread_changed_ = false;
  bool step_id_changed_ = false;
};

// A run of the bytes of its hosts' files, in memory: host0, host1, ...
std::unique_ptr<Run> OpenBytes(const std::vector<std::string>& files);

}  // namespace oom_forensics::test

#endif  // OOM_FORENSICS_CONVERTER_TESTING_TRACE_BUILDER_H_
