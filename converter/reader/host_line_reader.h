// What a line of /host:CPU tells of memory, of training steps and of Python's
// calls. Such a line may hold millions of other events: it is cut into pieces,
// which threads read side by side.
#ifndef OOM_FORENSICS_CONVERTER_READER_HOST_LINE_READER_H_
#define OOM_FORENSICS_CONVERTER_READER_HOST_LINE_READER_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "converter/quality/quality_log.h"
#include "converter/reader/event_reader.h"
#include "converter/reader/python_calls.h"
#include "converter/reader/xplane_layout.h"

namespace oom_forensics {

// A MemoryAllocation or MemoryDeallocation (BFCAllocator::AddTraceMe). Texts
// are views into the file.
struct StockMemoryEvent {
  bool is_alloc = false;
  // Since the line's start.
  int64_t offset_ps = 0;
  // 0: the event has none.
  uint64_t address = 0;
  std::string_view allocator;
  std::string_view op;
  std::string_view shape;
  std::string_view region_type;
  int32_t dtype = 0;
  uint64_t requested_bytes = 0;
  uint64_t allocated_bytes = 0;
  int64_t step_id = 0;
  // The allocator's own totals after it.
  uint64_t in_use_bytes = 0;
  uint64_t reserved_bytes = 0;
  uint64_t available_bytes = 0;
};

// A TraceMe with a step number.
struct StockStep {
  int64_t number = 0;
  int64_t offset_ps = 0;
  int64_t duration_ps = 0;
};

// XLA's compiler at work on a module.
struct StockCompilation {
  std::string_view module;
  int64_t duration_ps = 0;
};

// A piece of a line, read.
struct HostLinePart {
  // As far as it is said in this piece.
  LineHeader header;
  std::vector<StockMemoryEvent> events;
  std::vector<StockStep> steps;
  std::vector<StockCompilation> compilations;
  // Functions are indices into HostLineReader::python_functions().
  std::vector<PythonCall> calls;
  QualityLog quality;
  // Where the piece ends in the file.
  const char* end = nullptr;
};

class HostLineReader {
 public:
  explicit HostLineReader(const PlaneLayout& plane);

  // Whether any event of the plane can be of interest.
  bool HasAnything() const;
  // Whose calls the plane has; empty as a rule.
  const std::vector<PythonFunction>& python_functions() const {
    return python_functions_;
  }

  // Reads a serialized XLine with that many threads beside the caller's, and
  // calls `take` in the caller's for its parts, in their order. 0 threads:
  // none.
  void Read(std::string_view line, uint32_t threads,
            const std::function<void(HostLinePart)>& take) const;

 private:
  enum class EventKind : uint8_t {
    kNone,
    kAllocation,
    kDeallocation,
    kCompilation,
    kPythonCall,
  };

  HostLinePart ReadPart(std::string_view piece) const;
  StockMemoryEvent MemoryEvent(const EventFields& event) const;
  std::string_view TextOf(const StatSet& stats, StatKind kind) const;

  PlaneVocabulary vocabulary_;
  IdMap<EventKind> kinds_;
  bool has_compilations_ = false;
  // By the id of an event's name: index into python_functions_.
  IdMap<uint32_t> function_of_;
  std::vector<PythonFunction> python_functions_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_HOST_LINE_READER_H_
