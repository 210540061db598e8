#include "converter/black_box/box_planes.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/line_builder.h"
#include "core/plane_builder.h"
#include "core/text_field.h"
#include "proto/event_schema.h"
#include "protozero/pbf_writer.hpp"

namespace oom_forensics {
namespace {

using black_box::Activity;
using black_box::ActivityKind;
using black_box::Block;
using black_box::Box;
using black_box::Sample;
using protozero::pbf_writer;
namespace xevent = schema::xevent;
namespace xevent_metadata = schema::xevent_metadata;
namespace xplane = schema::xplane;

// No block is larger.
constexpr uint64_t kMaxBlockBytes = uint64_t{1} << 46;
// The collector keeps fewer of a stack.
constexpr size_t kMaxFrames = 64;

// Ids of stacks: sites come first, then the activities, then lines of source.
constexpr uint64_t kFirstActivityStack = uint64_t{black_box::kMaxSites} + 1;
constexpr uint64_t kFirstLineText =
    kFirstActivityStack + black_box::kMaxActivities;

// Empty: there is none.
std::string_view KindOf(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kTrace:
      return schema::kTraceActivity;
    case ActivityKind::kBuffer:
      return schema::kBufferActivity;
    case ActivityKind::kSave:
      return schema::kSaveActivity;
    case ActivityKind::kCompile:
      return schema::kCompileActivity;
    case ActivityKind::kHolder:
      return schema::kHolderActivity;
    case ActivityKind::kStack:
      return schema::kStackActivity;
    default:
      return "";
  }
}

struct Quantity {
  std::string_view name;
  uint64_t Sample::*value;
};
constexpr Quantity kQuantities[] = {
    {schema::kRssAnon, &Sample::rss_anon_bytes},
    {schema::kRssFile, &Sample::rss_file_bytes},
    {schema::kRssShmem, &Sample::rss_shmem_bytes},
    {schema::kHostUsed, &Sample::used_bytes},
    {schema::kHostCache, &Sample::cache_bytes},
    {schema::kHostTensors, &Sample::tensorflow_bytes},
    {schema::kHostPools, &Sample::pool_bytes},
    {schema::kHostNative, &Sample::native_bytes},
    {schema::kHostPython, &Sample::python_bytes},
    {schema::kHostMallocUsed, &Sample::malloc_used_bytes},
    {schema::kHostMallocFree, &Sample::malloc_free_bytes},
};

int64_t TimeOf(const Sample& sample) {
  return sample.time_ns.load(std::memory_order_relaxed);
}

// Pieces of a text between separators.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class BoxPlanes {
 public:
  BoxPlanes(const Box& box, const std::vector<const Sample*>& samples,
            const Ending& ending, const ReadBox::LineText& line_text)
      : line_text_(line_text),
        box_(box),
        samples_(samples),
        ending_(ending),
        texts_(TextsOf(box, SiteCount())),
        start_ns_(box.header.started_ns),
        stop_ns_(samples.empty()
                     ? start_ns_
                     : std::max(start_ns_, TimeOf(*samples.back()))) {}

  std::string Write() {
    std::string space;
    WriteTaskEnvironment(start_ns_, stop_ns_, &space);
    WriteSession(&space);
    WriteMemory(&space);
    WriteBlocks(&space);
    WriteSource(&space);
    return space;
  }

 private:
  void WriteSession(std::string* space) const {
    const black_box::Header& header = box_.header;
    PlaneBuilder plane(space, schema::kSessionPlane);
    const auto add = [&](std::string_view name, std::string_view text) {
      plane.AddString(plane.plane(), xplane::kStats, name, text);
    };
    const auto add_number = [&](std::string_view name, uint64_t number) {
      plane.AddUint(plane.plane(), xplane::kStats, name, number);
    };
    add_number(schema::kVersion, schema::kSchemaVersion);
    add_number(schema::kProcessId, header.process_id);
    add_number(schema::kStartNs, static_cast<uint64_t>(start_ns_));
    add_number(schema::kStopNs, static_cast<uint64_t>(stop_ns_));
    add(schema::kCollectorVersion, TextOf(header.collector_version));
    add(schema::kTensorFlowVersion, TextOf(header.tensorflow_version));
    add(schema::kOrigin, "death");
    plane.Finish();
  }

  void WriteMemory(std::string* space) const {
    PlaneBuilder plane(space, schema::kHostMemoryPlane);
    std::string sample_name;
    pbf_writer(sample_name)
        .add_string(xevent_metadata::kName, View(schema::kHostSample));
    const int64_t sample_id = plane.AddEventMetadata(sample_name);
    int64_t line_id = 0;
    for (const Quantity& quantity : kQuantities) {
      const auto known = [&](const Sample* sample) {
        return sample->*quantity.value != 0;
      };
      if (std::none_of(samples_.begin(), samples_.end(), known)) continue;
      LineBuilder line(plane.plane(), ++line_id, quantity.name, 0);
      for (const Sample* const sample : samples_) {
        line.BeginEvent(sample_id, OffsetPs(TimeOf(*sample)));
        plane.AddUint(line.event(), xevent::kStats, schema::kBytes,
                      sample->*quantity.value);
        line.EndEvent();
      }
    }
    AddFacts(++line_id, &plane);
    AddActivities(++line_id, &plane);
    plane.Finish();
  }

  void AddActivities(int64_t line_id, PlaneBuilder* plane) const {
    LineBuilder line(plane->plane(), line_id, schema::kActivitiesLine, 0);
    for (const Activity& activity : box_.activities) {
      const std::string_view kind = KindOf(activity.kind.load());
      if (kind.empty()) continue;
      std::string fields;
      pbf_writer(fields).add_string(xevent_metadata::kName, View(kind));
      line.BeginEvent(plane->AddEventMetadata(fields),
                      OffsetPs(activity.first_ns));
      const auto add_text = [&](std::string_view name, std::string_view text) {
        plane->AddString(line.event(), xevent::kStats, name, text);
      };
      const auto add = [&](std::string_view name, uint64_t number) {
        plane->AddUint(line.event(), xevent::kStats, name, number);
      };
      add_text(schema::kOp, TextOf(activity.name));
      add_text(schema::kText, TextOf(activity.what));
      const uint64_t index =
          static_cast<uint64_t>(&activity - &box_.activities[0]);
      add(schema::kStack, kFirstActivityStack + index);
      add(schema::kTimes, activity.count);
      add(schema::kLastNs, static_cast<uint64_t>(activity.last_ns));
      add(schema::kUnderWay, activity.under_way);
      add(schema::kLive, activity.live);
      add(schema::kSizeBytes, activity.element_bytes);
      add(schema::kBytes, activity.grown_bytes);
      add(schema::kBeginBytes, activity.begin_anon_bytes);
      line.EndEvent();
    }
  }

  void AddFacts(int64_t line_id, PlaneBuilder* plane) const {
    const black_box::Header& header = box_.header;
    LineBuilder line(plane->plane(), line_id, schema::kFactsLine, 0);
    const auto begin = [&](std::string_view name) {
      std::string fields;
      pbf_writer(fields).add_string(xevent_metadata::kName, View(name));
      line.BeginEvent(plane->AddEventMetadata(fields), 0);
    };
    const auto add = [&](std::string_view name, std::string_view text) {
      if (text.empty()) return;
      begin(name);
      plane->AddString(line.event(), xevent::kStats, schema::kText, text);
      line.EndEvent();
    };
    const auto add_number = [&](std::string_view name, uint64_t number) {
      if (number == 0) return;
      begin(name);
      plane->AddUint(line.event(), xevent::kStats, schema::kBytes, number);
      line.EndEvent();
    };
    add(schema::kHostEnd, ending_.end);
    add_number(schema::kHostSignal, static_cast<uint64_t>(ending_.signal));
    add(schema::kHostExitCode, ending_.exit_code);
    add(schema::kHostEndSeen, ending_.seen);
    add_number(schema::kHostWholeGroup, ending_.whole_group ? 1 : 0);
    add(schema::kHostCommand, TextOf(header.command));
    add(schema::kHostCgroup, TextOf(header.cgroup));
    add_number(schema::kHostLimit, header.limit_bytes.load());
    add_number(schema::kHostMachine, header.machine_bytes);
    const black_box::OwnLimit own = header.own_limit.load();
    if (own == black_box::OwnLimit::kAddressSpace ||
        own == black_box::OwnLimit::kData) {
      add(schema::kHostOwnLimitName,
          own == black_box::OwnLimit::kData ? "RLIMIT_DATA" : "RLIMIT_AS");
      add_number(schema::kHostOwnLimit, header.own_limit_bytes.load());
      add_number(schema::kHostOwnUsed, header.own_used_bytes.load());
    }
    add_number(schema::kHostSampling, header.sampling_bytes.load());
    add_number(schema::kHostWatched, header.watches_malloc.load());
  }

  // The live blocks, each at the time when it was made.
  void WriteBlocks(std::string* space) {
    PlaneBuilder plane(space, "/oom_forensics:host#0");
    plane.AddString(plane.plane(), xplane::kStats, schema::kAllocatorName,
                    "host");
    plane.AddString(plane.plane(), xplane::kStats, schema::kAllocatorKind,
                    "host");
    plane.AddString(plane.plane(), xplane::kStats, schema::kDeviceName,
                    "/device:CPU:0");
    plane.AddUint(plane.plane(), xplane::kStats, schema::kHasLayout, 0);
    plane.AddUint(plane.plane(), xplane::kStats, schema::kBaselineComplete, 1);
    plane.AddUint(plane.plane(), xplane::kStats, schema::kDroppedEvents,
                  box_.header.lost_blocks.load());
    std::vector<const Block*> blocks;
    for (const Block& block : box_.blocks) {
      if (block.address.load(std::memory_order_relaxed) > 1 &&
          block.bytes - 1 < kMaxBlockBytes && block.site < SiteCount()) {
        blocks.push_back(&block);
      }
    }
    std::sort(blocks.begin(), blocks.end(), [](const Block* a, const Block* b) {
      return std::pair(a->born_ns, a->address.load()) <
             std::pair(b->born_ns, b->address.load());
    });
    WriteEvents(blocks, &plane);
    plane.Finish();
  }

  void WriteEvents(const std::vector<const Block*>& blocks,
                   PlaneBuilder* plane) {
    LineBuilder line(plane->plane(), 2, schema::kEventsLine, 0);
    for (const Block* const block : blocks) {
      line.BeginEvent(MetadataOf(*block, plane), OffsetPs(block->born_ns));
      plane->AddUint(line.event(), xevent::kStats, schema::kAddress,
                     block->address.load());
      if (block->weight_thousandths > 1000) {
        plane->AddDouble(line.event(), xevent::kStats, schema::kWeight,
                         block->weight_thousandths / 1000.0);
      }
      line.EndEvent();
    }
  }

  uint32_t SiteCount() const {
    return std::min(box_.header.site_count.load(), black_box::kMaxSites);
  }

  // Empty where the file does not have it. Texts do not overlap, so all of them
  // are no longer than their room; those of a file that was tampered with are
  // left out from there on.
  static std::vector<std::string_view> TextsOf(const Box& box, uint32_t sites) {
    std::vector<std::string_view> texts(sites);
    size_t left = black_box::kTextBytes;
    for (uint32_t i = 0; i < sites; ++i) {
      const black_box::Site& site = box.sites[i];
      if (site.text > black_box::kTextBytes ||
          site.text_bytes > black_box::kTextBytes - site.text ||
          site.text_bytes > left) {
        continue;
      }
      left -= site.text_bytes;
      texts[i] = {box.texts + site.text, site.text_bytes};
    }
    return texts;
  }

  // What comes before the first line of Python.
  static std::string_view FirstLine(std::string_view text) {
    return text.substr(0, text.find('\n'));
  }

  // The XEventMetadata of blocks of this site and size.
  int64_t MetadataOf(const Block& block, PlaneBuilder* plane) {
    const auto [known, is_new] =
        metadata_ids_.emplace(uint64_t{block.site} << 48 | block.bytes, 0);
    if (!is_new) return known->second;
    const black_box::Site& site = box_.sites[block.site];
    const std::string_view text = texts_[block.site];
    const std::string_view first_line = FirstLine(text);
    const size_t shape_at = first_line.find('\t');
    const std::string_view op = first_line.substr(0, shape_at);
    std::string fields;
    pbf_writer writer(fields);
    writer.add_string(xevent_metadata::kName, View(schema::kAlloc));
    if (!op.empty()) AddText(&writer, xevent_metadata::kDisplayName, op);
    if (shape_at != std::string_view::npos &&
        shape_at + 1 < first_line.size()) {
      plane->AddRef(&writer, xevent_metadata::kStats, schema::kShape,
                    first_line.substr(shape_at + 1));
    }
    if (site.dtype != 0) {
      plane->AddInt(&writer, xevent_metadata::kStats, schema::kDtype,
                    site.dtype);
    }
    if (first_line.size() < text.size()) {
      stacks_.insert(block.site);
      plane->AddUint(&writer, xevent_metadata::kStats, schema::kStack,
                     uint64_t{block.site} + 1);
    }
    plane->AddUint(&writer, xevent_metadata::kStats, schema::kRequestedBytes,
                   block.bytes);
    plane->AddUint(&writer, xevent_metadata::kStats, schema::kAllocatedBytes,
                   block.bytes);
    return known->second = plane->AddEventMetadata(fields);
  }

  // The stacks of the sites that have blocks.
  void WriteSource(std::string* space) {
    PlaneBuilder plane(space, schema::kSourcePlane);
    for (const uint32_t site : stacks_) {
      AddStack(uint64_t{site} + 1, texts_[site], &plane);
    }
    for (uint32_t i = 0; i < black_box::kMaxActivities; ++i) {
      const Activity& activity = box_.activities[i];
      if (KindOf(activity.kind.load()).empty()) continue;
      // The text of a site has a line before its frames.
      AddStack(kFirstActivityStack + i, "\n" + TextOf(activity.where), &plane);
    }
    AddLineTexts(&plane);
    plane.AddString(plane.plane(), xplane::kStats, schema::kSourceLines, "on");
    plane.Finish();
  }

  void AddStack(uint64_t id, std::string_view text, PlaneBuilder* plane) {
    const std::vector<std::string_view> lines = Split(text, '\n');
    std::string fields;
    pbf_writer writer(fields);
    writer.add_string(xevent_metadata::kName, View(schema::kStackRecord));
    const size_t end = std::min(lines.size(), kMaxFrames + 1);
    for (size_t i = 1; i < end; ++i) {
      // "u12<tab>function<tab>file"
      const std::vector<std::string_view> parts = Split(lines[i], '\t');
      if (parts.size() != 3 || parts[0].empty()) continue;
      if (parts[0][0] == 'u') {
        user_lines_.emplace(parts[2], parts[0].substr(1));
      }
      const std::string frame = std::string(parts[2]) +
                                schema::kFrameSeparator +
                                std::string(parts[0].substr(1)) +
                                schema::kFrameSeparator + std::string(parts[1]);
      plane->AddString(
          &writer, xevent_metadata::kStats,
          parts[0][0] == 'u' ? schema::kFrame : schema::kLibraryFrame, frame);
    }
    plane->AddEventMetadataWithId(static_cast<int64_t>(id), fields);
  }

  void AddLineTexts(PlaneBuilder* plane) const {
    auto id = static_cast<int64_t>(kFirstLineText);
    for (const auto& [file, number] : user_lines_) {
      const std::string text = line_text_(
          file,
          static_cast<uint32_t>(std::strtoul(number.c_str(), nullptr, 10)));
      if (text.empty()) continue;
      std::string fields;
      pbf_writer writer(fields);
      writer.add_string(xevent_metadata::kName, View(schema::kLineRecord));
      AddText(&writer, xevent_metadata::kDisplayName,
              file + schema::kFrameSeparator + number);
      plane->AddString(&writer, xevent_metadata::kStats, schema::kText, text);
      plane->AddEventMetadataWithId(id++, fields);
    }
  }

  int64_t OffsetPs(int64_t time_ns) const {
    constexpr int64_t kMost = INT64_MAX / 4000;
    if (time_ns <= start_ns_) return 0;
    // Both are read from a box that may say anything: in unsigned, no
    // difference is too large.
    const uint64_t since =
        static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(start_ns_);
    return static_cast<int64_t>(std::min<uint64_t>(since, kMost)) * 1000;
  }

  const ReadBox::LineText& line_text_;
  const Box& box_;
  const std::vector<const Sample*>& samples_;
  const Ending& ending_;
  // The text of each site.
  const std::vector<std::string_view> texts_;
  const int64_t start_ns_;
  const int64_t stop_ns_;
  std::unordered_map<uint64_t, int64_t> metadata_ids_;
  // File and line of the user's frames.
  std::set<std::pair<std::string, std::string>> user_lines_;
  // Sites of blocks that have lines of Python.
  std::set<uint32_t> stacks_;
};

}  // namespace

std::string WriteBoxPlanes(const Box& box,
                           const std::vector<const Sample*>& samples,
                           const Ending& ending,
                           const ReadBox::LineText& line_text) {
  return BoxPlanes(box, samples, ending, line_text).Write();
}

}  // namespace oom_forensics
