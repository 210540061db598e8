#include "converter/command/flags.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "converter/command/fail_on.h"
#include "converter/command/values.h"
#include "converter/datasets/dataset.h"
#include "converter/datasets/selection.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

constexpr char kWhich[] = "Which allocations";
constexpr char kOutput[] = "Output";

template <typename Integer, typename Set>
void AddNumber(CLI::App* command, const std::string& name,
               const std::string& help, Set set) {
  AddValue(command, name, "N", help, [set](const std::string& value) {
    Integer number = 0;
    if (!ParseInteger(value, &number)) return NotA(value, "a number in range");
    set(number);
    return absl::OkStatus();
  });
}

template <typename Set>
CLI::Option* AddText(CLI::App* command, const std::string& name,
                     const std::string& value_name, const std::string& help,
                     Set set) {
  return AddValue(command, name, value_name, help,
                  [set](const std::string& value) {
                    set(value);
                    return absl::OkStatus();
                  });
}

template <typename Set>
void AddTime(CLI::App* command, const std::string& name,
             const std::string& help, Set set) {
  AddValue(command, name, "TIME", help, [set](const std::string& value) {
    const auto time_ns = ParseTimeNs(value);
    if (!time_ns.has_value()) {
      return NotA(value,
                  "a time, as \"2026-11-22 00:33:32.5 UTC\" or in ns since the "
                  "epoch");
    }
    set(*time_ns);
    return absl::OkStatus();
  });
}

// The values of a protobuf enum without their prefix and in lower case:
// "op_type" for GROUP_OP_TYPE.
template <typename Enum, typename Set>
void AddEnum(CLI::App* command, const std::string& name,
             const std::string& prefix, const std::string& help, Set set) {
  const auto* type = google::protobuf::GetEnumDescriptor<Enum>();
  std::vector<std::string> choices;
  for (int i = 0; i < type->value_count(); ++i) {
    choices.push_back(
        absl::AsciiStrToLower(type->value(i)->name().substr(prefix.size())));
  }
  AddChoice(command, name, choices, help,
            [type, prefix, set](const std::string& value) {
              set(static_cast<Enum>(
                  type->FindValueByName(prefix + absl::AsciiStrToUpper(value))
                      ->number()));
              return absl::OkStatus();
            });
}

absl::Status SetFormat(const std::string& value, Options* options) {
  if (value == "json") {
    options->format = OutputFormat::kJson;
  } else if (value == "pb") {
    options->format = OutputFormat::kProtobuf;
  } else if (value == "csv") {
    options->format = OutputFormat::kCsv;
  } else if (value == "text") {
    options->format = OutputFormat::kText;
  } else {
    options->export_format = FindExportFormat(value);
  }
  return absl::OkStatus();
}

void AddFormat(CLI::App* command, std::vector<std::string> choices,
               const std::string& help, Options* options) {
  CLI::Option* format = AddChoice(
      command, "--format", choices, help,
      [options](const std::string& v) { return SetFormat(v, options); });
  command
      ->add_flag_callback(
          "--json", [options] { options->format = OutputFormat::kJson; },
          "The same as --format=json")
      ->excludes(format)
      ->group(kOutput);
  format->group(kOutput);
  AddOutputFile(command, options);
}

void AddFailOn(CLI::App* command, Options* options) {
  AddValue(command, "--fail-on", "LIST",
           "End with exit code 3 if one of these is found: oom, probe, leak, "
           "near-limit, lost",
           [options](const std::string& v) {
             options->fail_on = absl::StrSplit(v, ',', absl::SkipEmpty());
             return CheckFailConditions(options->fail_on);
           })
      ->group(kOutput);
}

void AddHost(CLI::App* command, Options* options) {
  Filter* filter = options->query.mutable_filter();
  AddText(command, "--host", "NAME", "Only this host",
          [filter](const std::string& v) { filter->set_host(v); })
      ->group(kWhich);
}

// The flags of convert that apply to some datasets alone.
struct DatasetFlag {
  const char* name;
  std::vector<DatasetKind> datasets;
};

const std::vector<DatasetFlag>& DatasetFlags() {
  static const auto* flags = new std::vector<DatasetFlag>{
      {"--other", {COMPARE}},
      {"--other-path", {COMPARE}},
      {"--other-run", {COMPARE}},
      {"--group-by", {ALLOCATIONS, MEMORY_TIMELINE, COMPARE}},
      {"--sort", {ALLOCATIONS}},
      {"--ascending", {ALLOCATIONS}},
      {"--range", {ALLOCATIONS}},
      {"--offset", {ALLOCATIONS, COMPARE, LEAKS, STEPS}},
      {"--rows", {ALLOCATIONS, COMPARE, LEAKS, STEPS, ADDRESS_HISTORY}},
      {"--columns",
       {MEMORY_TIMELINE, ADDRESS_HISTORY, DRIVER_MEMORY, FRAGMENTATION,
        FORECAST, COMPILED_MODULES}},
      {"--top", {MEMORY_TIMELINE}},
      {"--oom", {OOM_WINDOW, FORECAST}},
      {"--pin-cost", {OOM_WINDOW}},
      {"--request-bytes", {FRAGMENTATION}},
      {"--limit", {FORECAST}},
      {"--from-address", {ADDRESS_HISTORY}},
      {"--to-address", {ADDRESS_HISTORY}},
      {"--module", {COMPILED_MODULES, FRAGMENTATION}},
      {"--module-allocation", {COMPILED_MODULES}},
      {"--program-point", {COMPILED_MODULES, FRAGMENTATION}},
      {"--allocation", {ALLOCATION_LIFE}},
  };
  return *flags;
}

void AddCompareFlags(CLI::App* command, Options* options) {
  Query* query = &options->query;
  AddMoment(command, "--other", "The moment to compare with (compare)",
            [query] { return query->mutable_other(); });
  AddText(command, "--other-path", "PATH", "The run to compare with (compare)",
          [options](const std::string& v) { options->other_path = v; });
  AddText(command, "--other-run", "NAME", "Its name, if PATH is a logdir",
          [options](const std::string& v) { options->other_run = v; });
}

void AddListFlags(CLI::App* command, Query* query) {
  AddEnum<GroupBy>(command, "--group-by", "GROUP_", "Group by this",
                   [query](GroupBy v) { query->set_group_by(v); });
  AddEnum<SortKey>(command, "--sort", "SORT_", "Sort by this, largest first",
                   [query](SortKey v) { query->set_sort(v); });
  command->add_flag_callback(
      "--ascending", [query] { query->set_ascending(true); }, "Smallest first");
  command->add_flag_callback(
      "--range", [query] { query->set_range(true); },
      "All allocations of the time range, not only those live at --at");
  AddNumber<uint32_t>(command, "--offset", "Leave out the first N rows",
                      [query](uint32_t v) { query->set_offset(v); });
  // The rows of a list, or of the picture of addresses over time.
  AddNumber<uint32_t>(command, "--rows", "At most N rows", [query](uint32_t v) {
    query->set_limit(v);
    query->set_rows(v);
  });
  AddNumber<uint32_t>(command, "--columns", "At most N points in time",
                      [query](uint32_t v) { query->set_columns(v); });
  AddNumber<uint32_t>(command, "--top", "Show N groups (memory_timeline)",
                      [query](uint32_t v) { query->set_top(v); });
}

void AddDetailFlags(CLI::App* command, Query* query) {
  AddEnum<PinCost>(command, "--pin-cost", "PIN_COST_",
                   "How to weigh the tensors in the way (oom_window)",
                   [query](PinCost v) { query->set_pin_cost(v); });
  AddSize(command, "--request-bytes",
          "The request that holes are measured by (fragmentation)",
          [query](uint64_t v) { query->set_request_bytes(v); });
  AddNumber<uint64_t>(command, "--from-address",
                      "The lowest address (address_history)",
                      [query](uint64_t v) { query->set_from_address(v); });
  AddNumber<uint64_t>(command, "--to-address",
                      "The end of the addresses (address_history)",
                      [query](uint64_t v) { query->set_to_address(v); });
  AddText(command, "--module", "NAME", "A module that XLA compiled",
          [query](const std::string& v) { query->set_module(v); });
  AddNumber<int64_t>(command, "--module-allocation", "An allocation of it",
                     [query](int64_t v) { query->set_module_allocation(v); });
  AddNumber<uint32_t>(command, "--program-point", "A point of its program",
                      [query](uint32_t v) { query->set_program_point(v); });
  AddNumber<int64_t>(command, "--allocation", "Its id (allocation_life)",
                     [query](int64_t v) { query->set_allocation_id(v); });
}

}  // namespace

absl::Status NotA(const std::string& value, const std::string& expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", value, "\" is not ", expected, "."));
}

CLI::Option* AddValue(CLI::App* command, const std::string& names,
                      const std::string& value_name, const std::string& help,
                      ValueSetter set) {
  const std::string name = names.substr(names.rfind(',') + 1);
  return command
      ->add_option_function<std::string>(
          names,
          [name, set = std::move(set)](const std::string& value) {
            const absl::Status done = set(value);
            if (!done.ok()) {
              throw CLI::ValidationError(name, std::string(done.message()));
            }
          },
          help)
      ->type_name(value_name)
      ->take_last();
}

CLI::Option* AddChoice(CLI::App* command, const std::string& names,
                       const std::vector<std::string>& choices,
                       const std::string& help, ValueSetter set) {
  return AddValue(
      command, names, absl::StrJoin(choices, "|"), help,
      [choices, set = std::move(set)](const std::string& value) {
        if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
          return NotA(value,
                      absl::StrCat("one of ", absl::StrJoin(choices, ", ")));
        }
        return set(value);
      });
}

CLI::Option* AddSize(CLI::App* command, const std::string& name,
                     const std::string& help,
                     std::function<void(uint64_t)> set) {
  return AddValue(command, name, "SIZE", help,
                  [set = std::move(set)](const std::string& value) {
                    const auto bytes = ParseBytes(value);
                    if (!bytes.has_value()) {
                      return NotA(value, "a size, as 1048576, 1MiB or 1.5GiB");
                    }
                    set(*bytes);
                    return absl::OkStatus();
                  });
}

void AddTraceFlags(CLI::App* command, Options* options) {
  command
      ->add_option("PATH", options->path,
                   "An .xplane.pb, a run's folder, or a logdir (its newest "
                   "run)")
      ->required()
      ->type_name("");
  AddText(command, "--run", "NAME", "Another run of the logdir",
          [options](const std::string& v) { options->run = v; });
  command->add_flag("--allow-truncated", options->allow_truncated,
                    "Read a truncated file as far as it goes");
  AddNumber<uint64_t>(command, "--max-memory-mb",
                      "Stop rather than use more memory than this",
                      [options](uint64_t v) { options->max_memory_mb = v; });
}

void AddAllocatorFlags(CLI::App* command, Options* options) {
  Filter* filter = options->query.mutable_filter();
  AddHost(command, options);
  AddText(command, "--allocator", "NAME", "Only this allocator",
          [filter](const std::string& v) { filter->set_allocator(v); })
      ->group(kWhich);
}

void AddFilterFlags(CLI::App* command, Options* options) {
  AddAllocatorFlags(command, options);
  const size_t before = command->get_options().size();
  Filter* filter = options->query.mutable_filter();
  AddTime(command, "--from", "From this time on",
          [filter](int64_t v) { filter->set_from_ns(v); });
  AddTime(command, "--to", "Before this time",
          [filter](int64_t v) { filter->set_to_ns(v); });
  AddNumber<int64_t>(command, "--from-step", "From this training step on",
                     [filter](int64_t v) { filter->set_from_step(v); });
  AddNumber<int64_t>(command, "--to-step", "Up to this training step",
                     [filter](int64_t v) { filter->set_to_step(v); });
  AddSize(command, "--min-bytes", "Allocations of at least this size",
          [filter](uint64_t v) { filter->set_min_bytes(v); });
  AddText(command, "--scope", "NAME", "Ops at or below this name scope",
          [filter](const std::string& v) { filter->set_scope(v); });
  AddText(command, "--dtype", "NAME", "Tensors of this data type",
          [filter](const std::string& v) { filter->set_dtype(v); });
  AddText(command, "--search", "TEXT", "A part of an op, shape or address",
          [filter](const std::string& v) { filter->set_search(v); });
  AddEnum<Role>(command, "--role", "ROLE_", "What the tensor is for",
                [filter](Role v) { filter->set_role(v); });
  AddText(command, "--file", "FILE", "Made by this file of your program",
          [filter](const std::string& v) { filter->set_source_file(v); });
  AddNumber<uint32_t>(command, "--line", "Made by this line of it",
                      [filter](uint32_t v) { filter->set_source_line(v); });
  AddText(command, "--function", "NAME", "Made by this function of it",
          [filter](const std::string& v) { filter->set_source_function(v); });
  command->add_flag_callback(
      "--whole-blocks", [filter] { filter->set_whole_blocks(true); },
      "Do not open the blocks that XLA allocated");
  const std::vector<CLI::Option*> all = command->get_options();
  for (size_t i = before; i < all.size(); ++i) all[i]->group(kWhich);
}

void AddOutputFile(CLI::App* command, Options* options) {
  AddText(command, "-o,--output", "FILE", "Write to this file",
          [options](const std::string& v) { options->output = v; })
      ->group(kOutput);
}

void AddOutputFlags(CLI::App* command, Options* options) {
  AddFormat(command, {"text", "json", "csv", "pb"}, "The format to write",
            options);
  AddFailOn(command, options);
}

void AddMoment(CLI::App* command, const std::string& name,
               const std::string& help, std::function<Moment*()> target) {
  AddValue(command, name, "MOMENT", help,
           [target = std::move(target)](const std::string& value) {
             if (const auto time_ns = ParseTimeNs(value)) {
               target()->set_time_ns(*time_ns);
               return absl::OkStatus();
             }
             auto moment = ParseMoment(value);
             if (!moment.ok()) return moment.status();
             *target() = *std::move(moment);
             return absl::OkStatus();
           });
}

void AddOomNumber(CLI::App* command, Options* options) {
  Query* query = &options->query;
  AddNumber<int32_t>(command, "--oom", "Only this OOM; the first is 0",
                     [query](int32_t v) { query->set_oom(v); });
}

void AddForecastFlags(CLI::App* command, Options* options) {
  Query* query = &options->query;
  AddSize(command, "--limit", "The memory that the step would have",
          [query](uint64_t v) { query->set_limit_bytes(v); });
  AddOomNumber(command, options);
  AddNumber<uint32_t>(command, "--columns", "At most N points of the step",
                      [query](uint32_t v) { query->set_columns(v); });
}

void AddConvertFlags(CLI::App* command, Options* options) {
  Query* query = &options->query;
  AddValue(command, "--dataset", "NAME",
           absl::StrCat("One of ", DatasetNames()),
           [query](const std::string& v) {
             const DatasetEntry* dataset = FindDataset(std::string_view(v));
             if (dataset == nullptr) {
               return NotA(v, absl::StrCat("one of ", DatasetNames()));
             }
             query->set_dataset(dataset->kind);
             return absl::OkStatus();
           });
  AddMoment(command, "--at",
            "peak, end, oom:N, step:N, event:N or a TIME; else the first OOM, "
            "else the peak",
            [query] { return query->mutable_at(); });
  AddCompareFlags(command, options);
  AddListFlags(command, query);
  AddOomNumber(command, options);
  AddSize(command, "--limit", "The memory that a step would have (forecast)",
          [query](uint64_t v) { query->set_limit_bytes(v); });
  AddDetailFlags(command, query);
  AddFormat(command, {"json", "csv", "pb", "pprof", "folded", "perfetto"},
            "json, csv or pb for a dataset; or the format of another tool",
            options);
  AddFailOn(command, options);
}

absl::Status CheckDatasetFlags(const CLI::App& convert,
                               const Options& options) {
  for (const DatasetFlag& flag : DatasetFlags()) {
    if (convert.count(flag.name) == 0) continue;
    const auto& datasets = flag.datasets;
    if (options.export_format == nullptr &&
        std::find(datasets.begin(), datasets.end(), options.query.dataset()) !=
            datasets.end()) {
      continue;
    }
    std::vector<std::string> names;
    for (const DatasetKind kind : datasets) {
      names.push_back(absl::AsciiStrToLower(DatasetKind_Name(kind)));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        flag.name, " applies to --dataset=", absl::StrJoin(names, " or "),
        " alone."));
  }
  return absl::OkStatus();
}

}  // namespace oom_forensics
