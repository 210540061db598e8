// Reads "/oom_forensics:source" (proto/event_schema.h, "Source lines").
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/reader/plane_reader.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

// Stacks of one trace that are kept, and links of a chain.
constexpr size_t kMaxFrames = 256;
constexpr size_t kMaxLinks = 64;

// The part before the next separator; takes it off `text`.
std::string_view NextPart(std::string_view* text) {
  const size_t end =
      std::min(text->find(schema::kFrameSeparator), text->size());
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return part;
}

class SourcePlaneReader {
 public:
  SourcePlaneReader(const PlaneLayout& plane, ReadContext* context)
      : plane_(plane),
        context_(context),
        vocabulary_(plane, StatVocabulary::kCollector) {}

  void ReadStacks() {
    ReadFacts();
    ForEachRecord([this](const Record& record) {
      if (record.kind == schema::kStackRecord) {
        source().AddStack(static_cast<uint64_t>(record.id), record.frames);
      } else if (record.kind == schema::kLineRecord) {
        AddText(record);
      }
    });
  }

  void ReadReferences() {
    ForEachRecord([this](const Record& record) {
      const auto stack = [&](StatKind kind) {
        return record.stats.Has(kind)
                   ? source().StackOf(record.stats.Get(kind).AsUint64())
                   : kNoStack;
      };
      if (record.kind == schema::kOpRecord) {
        OpSource op;
        op.called = stack(StatKind::kStack);
        op.made_at = stack(StatKind::kMadeAtStack);
        op.object = TextStat(record, StatKind::kObject);
        op.of_optimizer = record.stats.Uint64Or(StatKind::kOfOptimizer, 0) != 0;
        source().AddOp(context_->Intern(record.display_name), op);
      } else if (record.kind == schema::kSizeRecord) {
        source().AddSize(record.stats.Uint64Or(StatKind::kBytes, 0),
                         stack(StatKind::kStack));
      } else if (record.kind == schema::kKeeperRecord) {
        RecordedKeeper keeper;
        keeper.addresses = record.addresses;
        std::sort(keeper.addresses.begin(), keeper.addresses.end());
        keeper.bytes = record.stats.Uint64Or(StatKind::kBytes, 0);
        keeper.chain = record.chain;
        keeper.stack = stack(StatKind::kStack);
        source().AddKeeper(std::move(keeper));
      }
    });
  }

 private:
  // An XEventMetadata. What stats repeat stands in vectors.
  struct Record {
    int64_t id = 0;
    std::string_view kind;
    std::string_view display_name;
    StatSet stats;
    std::vector<StackFrame> frames;
    std::vector<uint64_t> addresses;
    std::vector<std::string> chain;
  };

  SourceTable& source() { return context_->trace().source; }

  void ReadFacts() {
    QualityLog& quality = context_->trace().quality;
    const StatSet stats = ReadPlaneStats(plane_, vocabulary_, &quality);
    if (stats.Has(StatKind::kSourceLines)) {
      const std::string_view state =
          vocabulary_.TextOf(stats.Get(StatKind::kSourceLines));
      if (state == "off: switched off") {
        quality.Add(QualityCounter::kSourceLinesSwitchedOff);
      } else if (StartsWith(state, "off")) {
        quality.Add(QualityCounter::kNoSourceLines);
      }
    }
    quality.Add(QualityCounter::kDroppedStacks,
                stats.Uint64Or(StatKind::kDroppedStacks, 0));
  }

  template <typename OnRecord>
  void ForEachRecord(OnRecord on_record) {
    for (const auto& [id, metadata] : plane_.event_metadata) {
      Record record;
      record.id = id;
      StopIfCancelled();
      const bool whole = ForEachField(metadata, [&](FieldReader& reader) {
        switch (reader.tag()) {
          case schema::xevent_metadata::kName:
            record.kind = View(reader.get_view());
            break;
          case schema::xevent_metadata::kDisplayName:
            record.display_name = View(reader.get_view());
            break;
          case schema::xevent_metadata::kStats:
            AddStat(View(reader.get_view()), &record);
            break;
          default:
            reader.skip();
        }
      });
      if (!whole) {
        context_->trace().quality.Add(QualityCounter::kMalformedMessages);
      }
      on_record(record);
    }
  }

  void AddStat(std::string_view bytes, Record* record) {
    stat_.Clear();
    ReadStat(bytes, vocabulary_, &stat_);
    if (stat_.Has(StatKind::kFrame)) {
      AddFrame(StatKind::kFrame, record);
    } else if (stat_.Has(StatKind::kLibraryFrame)) {
      AddFrame(StatKind::kLibraryFrame, record);
    } else if (stat_.Has(StatKind::kAddress)) {
      record->addresses.push_back(stat_.AddressOr0(StatKind::kAddress));
    } else if (stat_.Has(StatKind::kChain)) {
      if (record->chain.size() < kMaxLinks) {
        record->chain.push_back(
            context_->Text(vocabulary_.TextOf(stat_.Get(StatKind::kChain))));
      }
    } else {
      ReadStat(bytes, vocabulary_, &record->stats);
    }
  }

  void AddFrame(StatKind kind, Record* record) {
    if (record->frames.size() == kMaxFrames) return;
    const std::string_view text = vocabulary_.TextOf(stat_.Get(kind));
    auto& known = lines_[{text.data(), text.size()}];
    if (known == kNoLine) known = LineOf(text);
    record->frames.push_back({known, kind == StatKind::kLibraryFrame});
  }

  LineId LineOf(std::string_view text) {
    CodeLine line;
    line.file = context_->Intern(NextPart(&text));
    ParseInteger(NextPart(&text), &line.line);
    line.function = context_->Intern(text);
    return source().InternLine(line);
  }

  void AddText(const Record& record) {
    std::string_view place = record.display_name;
    const StringId file = context_->Intern(NextPart(&place));
    uint32_t line = 0;
    if (!ParseInteger(place, &line)) return;
    source().AddText(file, line, TextStat(record, StatKind::kText));
  }

  StringId TextStat(const Record& record, StatKind kind) {
    return record.stats.Has(kind)
               ? context_->Intern(vocabulary_.TextOf(record.stats.Get(kind)))
               : kEmptyString;
  }

  const PlaneLayout& plane_;
  ReadContext* context_;
  PlaneVocabulary vocabulary_;
  // Lines of frames, by where they stand in the file.
  absl::flat_hash_map<std::pair<const char*, size_t>, LineId> lines_;
  // The stat in hand.
  StatSet stat_;
};

}  // namespace

void ReadSourcePlanes(const SpaceLayout& layout, ReadContext* context) {
  std::vector<SourcePlaneReader> readers;
  for (const PlaneLayout& plane : layout.planes) {
    if (plane.name == schema::kSourcePlane)
      readers.emplace_back(plane, context);
  }
  // An op may refer to a stack of another plane.
  for (SourcePlaneReader& reader : readers) reader.ReadStacks();
  for (SourcePlaneReader& reader : readers) reader.ReadReferences();
}

}  // namespace oom_forensics
