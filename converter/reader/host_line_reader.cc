#include "converter/reader/host_line_reader.h"

#include <deque>
#include <future>
#include <utility>

#include "converter/cancellation/beside.h"
#include "converter/text/text.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kMemoryAllocation = "MemoryAllocation";
constexpr std::string_view kMemoryDeallocation = "MemoryDeallocation";
// "CpuCompiler::RunBackend", "GpuCompiler::RunBackend"
constexpr std::string_view kRunBackend = "Compiler::RunBackend";

// Long enough that it does not matter what a thread costs.
constexpr size_t kPieceBytes = size_t{1} << 20;

// Cuts whole fields off the front of a message. What is damaged stays in one
// piece with all that follows.
std::string_view CutPiece(std::string_view* rest) {
  const char* const begin = rest->data();
  try {
    FieldReader reader(*rest);
    while (reader.next()) {
      reader.skip();
      const std::string_view behind = View(reader.data());
      const auto size = static_cast<size_t>(behind.data() - begin);
      if (size >= kPieceBytes) {
        *rest = behind;
        return {begin, size};
      }
    }
  } catch (const protozero::exception&) {
    // The reader of the piece comes upon it, too, and counts it.
  }
  return std::exchange(*rest, std::string_view());
}

}  // namespace

HostLineReader::HostLineReader(const PlaneLayout& plane)
    : vocabulary_(plane, StatVocabulary::kStock) {
  for (const auto& [id, metadata] : plane.event_metadata) {
    const std::string_view name =
        TextField(metadata, schema::xevent_metadata::kName);
    if (name == kMemoryAllocation) kinds_.Set(id, EventKind::kAllocation);
    if (name == kMemoryDeallocation) kinds_.Set(id, EventKind::kDeallocation);
    if (EndsWith(name, kRunBackend)) {
      kinds_.Set(id, EventKind::kCompilation);
      has_compilations_ = true;
    }
    if (const auto function = ParsePythonFunction(name); function.has_value()) {
      kinds_.Set(id, EventKind::kPythonCall);
      function_of_.Set(id, static_cast<uint32_t>(python_functions_.size()));
      python_functions_.push_back(*function);
    }
  }
}

bool HostLineReader::HasAnything() const {
  return has_compilations_ || vocabulary_.Speaks(StatKind::kStepNum) ||
         vocabulary_.Speaks(StatKind::kStockAddress);
}

void HostLineReader::Read(std::string_view line, uint32_t threads,
                          const std::function<void(HostLinePart)>& take) const {
  std::deque<std::future<HostLinePart>> running;
  while (!line.empty()) {
    const std::string_view piece = CutPiece(&line);
    if (threads == 0 || (running.empty() && line.empty())) {
      take(ReadPart(piece));
      continue;
    }
    if (running.size() == threads) {
      take(running.front().get());
      running.pop_front();
    }
    running.push_back(StartBeside([this, piece] { return ReadPart(piece); }));
  }
  for (std::future<HostLinePart>& part : running) take(part.get());
}

HostLinePart HostLineReader::ReadPart(std::string_view piece) const {
  HostLinePart part;
  part.end = piece.data() + piece.size();
  part.header = ForEachEvent(
      piece, vocabulary_,
      // Calls have no stats.
      python_functions_.empty() ? EventsToRead::kWithKnownStats
                                : EventsToRead::kAll,
      &part.quality, [&](const EventFields& event, const char*) {
        if (event.stats.Has(StatKind::kStepNum)) {
          part.steps.push_back({event.stats.Get(StatKind::kStepNum).AsInt64(),
                                event.offset_ps, event.duration_ps});
        }
        switch (kinds_.Get(event.metadata_id)) {
          case EventKind::kAllocation:
          case EventKind::kDeallocation:
            part.events.push_back(MemoryEvent(event));
            break;
          case EventKind::kCompilation:
            part.compilations.push_back(
                {TextOf(event.stats, StatKind::kStockName), event.duration_ps});
            break;
          case EventKind::kPythonCall:
            part.calls.push_back({event.offset_ps, event.duration_ps,
                                  function_of_.Get(event.metadata_id)});
            break;
          case EventKind::kNone:
            break;
        }
      });
  return part;
}

StockMemoryEvent HostLineReader::MemoryEvent(const EventFields& event) const {
  const StatSet& stats = event.stats;
  StockMemoryEvent memory;
  memory.is_alloc = kinds_.Get(event.metadata_id) == EventKind::kAllocation;
  memory.offset_ps = event.offset_ps;
  memory.address = stats.AddressOr0(StatKind::kStockAddress);
  memory.allocator = TextOf(stats, StatKind::kStockAllocatorName);
  memory.op = TextOf(stats, StatKind::kStockOp);
  memory.shape = TextOf(stats, StatKind::kShape);
  memory.region_type = TextOf(stats, StatKind::kRegionType);
  memory.dtype = DtypeOf(stats.Int64Or(StatKind::kStockDtype, 0));
  memory.requested_bytes = stats.Uint64Or(StatKind::kRequestedBytes, 0);
  memory.allocated_bytes = stats.Uint64Or(StatKind::kStockAllocatedBytes, 0);
  memory.step_id = stats.Int64Or(StatKind::kStockStepId, 0);
  memory.in_use_bytes = stats.Uint64Or(StatKind::kStockBytesInUse, 0);
  memory.reserved_bytes = stats.Uint64Or(StatKind::kBytesReserved, 0);
  memory.available_bytes = stats.Uint64Or(StatKind::kStockBytesAvailable, 0);
  return memory;
}

std::string_view HostLineReader::TextOf(const StatSet& stats,
                                        StatKind kind) const {
  return stats.Has(kind) ? vocabulary_.TextOf(stats.Get(kind))
                         : std::string_view();
}

}  // namespace oom_forensics
