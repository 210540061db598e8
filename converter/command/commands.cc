#include "converter/command/commands.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/command/fail_on.h"
#include "converter/command/page.h"
#include "converter/command/recover.h"
#include "converter/datasets/address_map.h"
#include "converter/datasets/dataset.h"
#include "converter/datasets/info.h"
#include "converter/datasets/selection.h"
#include "converter/datasets/source_messages.h"
#include "converter/input/trace_files.h"
#include "converter/render/forecast_text.h"
#include "converter/render/layout_picture.h"
#include "converter/render/opening_text.h"
#include "converter/render/render.h"
#include "converter/render/report.h"
#include "converter/render/terminal_style.h"
#include "converter/render/what_if_text.h"
#include "converter/run/memory_budget.h"
#include "converter/run/run.h"
#include "converter/service/serve.h"

namespace oom_forensics {
namespace {

int Fail(int code, const absl::Status& status) {
  std::cerr << "oom-forensics: " << std::string(status.message()) << "\n";
  return code;
}

int WrongUsage(const std::string& sentence) {
  return Fail(kExitUsage, absl::InvalidArgumentError(sentence));
}

RunOptions ToRunOptions(const Options& options) {
  RunOptions run;
  run.read.allow_truncated = options.allow_truncated;
  run.read.max_resident_bytes = options.max_memory_mb << 20;
  return run;
}

// Tells a person at a terminal how much has been read; wiped away at the end.
class ReadingProgress {
 public:
  ReadingProgress() : shown_(isatty(STDERR_FILENO) != 0) {}
  ~ReadingProgress() {
    if (percent_ >= 0) std::cerr << "\r\033[K";
  }
  ReadingProgress(const ReadingProgress&) = delete;
  ReadingProgress& operator=(const ReadingProgress&) = delete;

  void Show(double progress) {
    const int percent = static_cast<int>(progress * 100);
    if (!shown_ || percent == percent_) return;
    percent_ = percent;
    std::cerr << "\rreading the trace: " << percent << " %" << std::flush;
  }

 private:
  const bool shown_;
  int percent_ = -1;
};

absl::StatusOr<std::unique_ptr<Run>> OpenRun(const std::string& path,
                                             const std::string& run_name,
                                             const Options& options) {
  RecoverQuietly(path);
  const auto files = FindTraceFiles(path, run_name);
  if (!files.ok()) return files.status();
  ReadingProgress shown;
  RunOptions run = ToRunOptions(options);
  run.progress = [&shown](double progress) { shown.Show(progress); };
  return Run::Open(*files, run);
}

// A question that makes no sense for this input is wrong usage; the rest is
// the input's fault.
int CodeOf(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                 absl::IsUnimplemented(status)
             ? kExitUsage
             : kExitUnreadable;
}

bool GoesToTerminal(const Options& options) {
  return options.output.empty() && isatty(STDOUT_FILENO) != 0;
}

int WriteOutput(const std::string& bytes, const Options& options) {
  if (options.output.empty() || options.output == "-") {
    std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    std::cout.flush();
    return std::cout ? kExitDone : kExitUnreadable;
  }
  std::ofstream file(options.output, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    return Fail(kExitUnreadable,
                absl::UnavailableError(
                    absl::StrCat("Cannot write ", options.output, ": ",
                                 std::generic_category().message(errno), ".")));
  }
  return kExitDone;
}

absl::StatusOr<std::string> Render(const google::protobuf::Message& message,
                                   const DatasetEntry& dataset,
                                   OutputFormat format) {
  switch (format) {
    case OutputFormat::kProtobuf:
      return RenderProtobuf(message);
    case OutputFormat::kCsv:
      return RenderCsv(message, dataset.csv_rows);
    case OutputFormat::kText:
    case OutputFormat::kJson:
      break;
  }
  auto json = RenderJson(message);
  if (json.ok()) *json += "\n";
  return json;
}

// Bytes that no terminal shows. "-o -" has them all the same.
absl::Status CheckTerminal(const Options& options) {
  const bool binary = options.export_format != nullptr
                          ? options.export_format->binary
                          : options.format == OutputFormat::kProtobuf;
  if (!binary || !GoesToTerminal(options)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "This format is not for a terminal: name a file with -o FILE.");
}

absl::StatusOr<DatasetMessage> Ask(const Run& run, const Options& options,
                                   DatasetKind dataset) {
  Query query = options.query;
  query.set_dataset(dataset);
  return AnswerQuery({run, nullptr, query});
}

// Two moments, of one run or of two.
absl::StatusOr<DatasetMessage> AskToCompare(const Run& run,
                                            const Options& options) {
  Query query = options.query;
  if (options.other_path.empty()) return AnswerQuery({run, nullptr, query});
  const auto other = OpenRun(options.other_path, options.other_run, options);
  if (!other.ok()) {
    // Not the question's fault but the input's.
    return absl::DataLossError(other.status().message());
  }
  return AnswerQuery({run, other->get(), query});
}

// The exit code, once the command has done its work.
int CheckFailOn(const Options& options, const Run& run) {
  const auto met =
      FirstMetCondition(options.fail_on, run, options.query.filter());
  if (!met.ok()) return Fail(CodeOf(met.status()), met.status());
  if (met->empty()) return kExitDone;
  std::cerr << "oom-forensics: --fail-on=" << *met << " is met.\n";
  return kExitFailOn;
}

int Export(const Options& options, const Run& run) {
  const auto bytes = options.export_format->write(run, options.query);
  if (const absl::Status lost = run.TakeLoadFailure(); !lost.ok()) {
    return Fail(kExitUnreadable, lost);
  }
  if (!bytes.ok()) return Fail(CodeOf(bytes.status()), bytes.status());
  return WriteOutput(*bytes, options);
}

int WritePage(const absl::StatusOr<std::string>& page, const Options& options) {
  if (!page.ok()) return Fail(CodeOf(page.status()), page.status());
  const int code = WriteOutput(*page, options);
  const bool is_file = !options.output.empty() && options.output != "-";
  if (code == kExitDone && is_file) {
    std::cerr << options.output << ": " << PageSizeText(page->size(), options)
              << "\n";
  }
  return code;
}

int Convert(const Options& options, const Run& run) {
  if (options.export_format != nullptr) return Export(options, run);
  const DatasetEntry* dataset = FindDataset(options.query.dataset());
  if (dataset == nullptr) {
    return WrongUsage(
        absl::StrCat("convert needs --dataset, one of ", DatasetNames(), "."));
  }
  const auto answer = dataset->kind == COMPARE
                          ? AskToCompare(run, options)
                          : Ask(run, options, dataset->kind);
  if (!answer.ok()) return Fail(CodeOf(answer.status()), answer.status());
  const auto bytes = Render(**answer, *dataset, options.format);
  if (!bytes.ok()) return Fail(kExitUnreadable, bytes.status());
  return WriteOutput(*bytes, options);
}

// Pictures of the first OOMs; of any more the text says enough.
std::vector<std::string> DrawLayouts(const OomWindow& window, const Run& run,
                                     const TerminalStyle& style) {
  constexpr size_t kDrawn = 8;
  const std::vector<OomRef> ooms = ListOoms(run);
  std::vector<std::string> layouts;
  for (const Oom& oom : window.ooms()) {
    if (layouts.size() == kDrawn) break;
    const OomRef& ref = ooms[static_cast<size_t>(oom.index())];
    AddressMap map;
    FillAddressMap(LoadAllocator(run, ref.allocator), ref.row, Query(), &map);
    layouts.push_back(DrawLayout(map, oom.request().rounded_bytes(), style));
  }
  return layouts;
}

// What keeps what a filter's allocators hold in the end.
google::protobuf::RepeatedPtrField<Keeper> KeptInTheEnd(const Run& run,
                                                        const Filter& filter) {
  google::protobuf::RepeatedPtrField<Keeper> keepers;
  const auto selected = SelectAllocators(run, filter);
  if (!selected.ok()) return keepers;
  for (const SelectedAllocator& allocator : *selected) {
    const AllocatorReplay& replay = *allocator.replay;
    AddKeepers(allocator, replay.LiveAt(replay.end_position()), &keepers);
  }
  return keepers;
}

// Who held most at the peaks of the allocators that came closest to their
// limit.
absl::StatusOr<std::vector<ReportParts::Peak>> AskAboutPeaks(
    const Run& run, const Options& options, const Info& info) {
  constexpr size_t kTold = 3;
  std::vector<ReportParts::Peak> peaks;
  for (const HostInfo& host : info.hosts()) {
    for (const AllocatorInfo& allocator : host.allocators()) {
      if (peaks.size() == kTold) return peaks;
      if (allocator.peak_in_use_bytes() == 0) continue;
      Options at_peak = options;
      Query& query = at_peak.query;
      query.mutable_filter()->set_host(host.host());
      query.mutable_filter()->set_allocator(allocator.allocator());
      query.mutable_at()->set_peak(true);
      query.set_group_by(GROUP_OP);
      query.set_limit(1);
      const auto live = Ask(run, at_peak, ALLOCATIONS);
      if (!live.ok()) return live.status();
      query.set_group_by(GROUP_LINE);
      const auto lines = Ask(run, at_peak, ALLOCATIONS);
      if (!lines.ok()) return lines.status();
      peaks.push_back({allocator.allocator(),
                       static_cast<const Allocations&>(**live),
                       static_cast<const Allocations&>(**lines),
                       KeptInTheEnd(run, query.filter())});
    }
  }
  return peaks;
}

absl::StatusOr<ReportParts> AskForReport(const Run& run, const Options& options,
                                         const Info& info) {
  ReportParts parts;
  parts.info = info;
  const auto window = Ask(run, options, OOM_WINDOW);
  if (!window.ok()) return window.status();
  parts.window = static_cast<const OomWindow&>(**window);
  const bool to_terminal = GoesToTerminal(options);
  parts.layouts =
      DrawLayouts(parts.window, run, StyleFromEnvironment(to_terminal));
  if (parts.window.ooms().empty()) {
    auto peaks = AskAboutPeaks(run, options, info);
    if (!peaks.ok()) return peaks.status();
    parts.peaks = *std::move(peaks);
  }
  const auto forecasts = Ask(run, options, FORECAST);
  if (!forecasts.ok()) return forecasts.status();
  parts.forecasts = static_cast<const Forecasts&>(**forecasts);
  const auto leaks = Ask(run, options, LEAKS);
  if (!leaks.ok()) return leaks.status();
  parts.leaks = static_cast<const Leaks&>(**leaks);
  const auto memory = Ask(run, options, HOST_MEMORY);
  if (!memory.ok()) return memory.status();
  parts.host_memory = static_cast<const HostMemory&>(**memory);
  return parts;
}

// The forecast of a run's steps as text, or as the dataset.
int Forecast(const Options& options, const Run& run) {
  const auto answer = Ask(run, options, FORECAST);
  if (!answer.ok()) return Fail(CodeOf(answer.status()), answer.status());
  if (options.format != OutputFormat::kText) {
    const auto bytes = Render(**answer, *FindDataset(FORECAST), options.format);
    if (!bytes.ok()) return Fail(kExitUnreadable, bytes.status());
    return WriteOutput(*bytes, options);
  }
  const bool to_terminal = GoesToTerminal(options);
  return WriteOutput(
      RenderForecasts(run.name(), static_cast<const Forecasts&>(**answer),
                      StyleFromEnvironment(to_terminal)),
      options);
}

int ReportOrInfo(const Options& options, const Run& run) {
  const bool report = options.command == "report";
  const DatasetEntry& dataset = *FindDataset(report ? OOM_WINDOW : INFO);
  const auto info = Ask(run, options, INFO);
  if (!info.ok()) return Fail(CodeOf(info.status()), info.status());
  if (options.format != OutputFormat::kText) {
    const auto answer = Ask(run, options, dataset.kind);
    if (!answer.ok()) return Fail(CodeOf(answer.status()), answer.status());
    const auto bytes = Render(**answer, dataset, options.format);
    if (!bytes.ok()) return Fail(kExitUnreadable, bytes.status());
    return WriteOutput(*bytes, options);
  }
  const auto& facts = static_cast<const Info&>(**info);
  if (!report) return WriteOutput(RenderInfo(run.name(), facts), options);
  const auto parts = AskForReport(run, options, facts);
  if (!parts.ok()) return Fail(CodeOf(parts.status()), parts.status());
  return WriteOutput(options.full ? RenderReport(run.name(), *parts)
                                  : RenderShortReport(*parts),
                     options);
}

int AskWhatIf(const Options& options, const Run& run) {
  const DatasetEntry& dataset = *FindDataset(WHAT_IF);
  Options asked = options;
  asked.query.mutable_what_if()->set_maps(options.format !=
                                          OutputFormat::kText);
  const auto answer = Ask(run, asked, WHAT_IF);
  if (!answer.ok()) return Fail(CodeOf(answer.status()), answer.status());
  if (options.format == OutputFormat::kText) {
    return WriteOutput(RenderWhatIf(static_cast<const WhatIfAnswer&>(**answer)),
                       options);
  }
  const auto bytes = Render(**answer, dataset, options.format);
  if (!bytes.ok()) return Fail(kExitUnreadable, bytes.status());
  return WriteOutput(*bytes, options);
}

int Answer(const Options& options, const Run& run) {
  if (options.command == "convert") return Convert(options, run);
  if (options.command == "html") return WritePage(MakePage(options), options);
  if (options.command == "forecast") return Forecast(options, run);
  if (options.command == "what-if") return AskWhatIf(options, run);
  return ReportOrInfo(options, run);
}

int Perform(const std::vector<std::string>& arguments) {
  const auto options = ParseOptions(arguments);
  if (!options.ok()) return Fail(kExitUsage, options.status());
  if (!options->answer.empty()) {
    std::cout << options->answer;
    return kExitDone;
  }
  if (options->command == "recover") {
    return Recover(options->path, options->ended);
  }
  if (options->command == "viewer") {
    return WritePage(MakeViewer(*options), *options);
  }
  if (const absl::Status shown = CheckTerminal(*options); !shown.ok()) {
    return Fail(kExitUsage, shown);
  }
  if (options->command == "serve") {
    if (isatty(STDIN_FILENO) != 0 || isatty(STDOUT_FILENO) != 0) {
      return WrongUsage(
          "serve speaks a protocol of programs (proto/service.proto), not with "
          "a terminal; see report, info and html.");
    }
    return Serve(options->path, options->run, ToRunOptions(*options), stdin,
                 stdout);
  }
  const auto run = OpenRun(options->path, options->run, *options);
  if (!run.ok()) return Fail(kExitUnreadable, run.status());
  const int code = Answer(*options, **run);
  return code == kExitDone ? CheckFailOn(*options, **run) : code;
}

}  // namespace

int RunCommand(const std::vector<std::string>& arguments) {
  try {
    return Perform(arguments);
  } catch (const std::bad_alloc&) {
    return Fail(kExitUnreadable, NoMemoryLeft());
  }
}

}  // namespace oom_forensics
