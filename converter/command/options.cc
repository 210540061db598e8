#include "converter/command/options.h"

#include <functional>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "converter/command/fail_on.h"
#include "converter/command/values.h"
#include "converter/command/what_if_flags.h"
#include "converter/datasets/dataset.h"
#include "converter/datasets/selection.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

using Setter = std::function<absl::Status(const std::string& value)>;

absl::Status Bad(const std::string& value, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", value, "\" is not ", expected, "."));
}

template <typename Integer, typename Set>
Setter Number(Set set) {
  return [set](const std::string& value) {
    Integer number = 0;
    if (!ParseInteger(value, &number)) return Bad(value, "a number in range");
    set(number);
    return absl::OkStatus();
  };
}

template <typename Set>
Setter Text(Set set) {
  return [set](const std::string& value) {
    set(value);
    return absl::OkStatus();
  };
}

// A name of a protobuf enum, without its prefix and in lower case: "op_type"
// for GROUP_OP_TYPE.
template <typename Enum, typename Set>
Setter EnumName(const std::string& prefix, Set set) {
  return [prefix, set](const std::string& value) {
    const auto* type = google::protobuf::GetEnumDescriptor<Enum>();
    const auto* found =
        type->FindValueByName(prefix + absl::AsciiStrToUpper(value));
    if (found == nullptr) {
      std::string names;
      for (int i = 0; i < type->value_count(); ++i) {
        absl::StrAppend(&names, i == 0 ? "" : ", ",
                        absl::AsciiStrToLower(
                            type->value(i)->name().substr(prefix.size())));
      }
      return Bad(value, absl::StrCat("one of ", names));
    }
    set(static_cast<Enum>(found->number()));
    return absl::OkStatus();
  };
}

template <typename Set>
Setter Bytes(Set set) {
  return [set](const std::string& value) {
    const auto bytes = ParseBytes(value);
    if (!bytes.has_value()) {
      return Bad(value, "a size, as 1048576, 1MiB or 1.5GiB");
    }
    set(*bytes);
    return absl::OkStatus();
  };
}

template <typename Set>
Setter Time(Set set) {
  return [set](const std::string& value) {
    const auto time_ns = ParseTimeNs(value);
    if (!time_ns.has_value()) {
      return Bad(value,
                 "a time, as \"2026-11-22 00:33:32.5 UTC\" or in ns since the "
                 "epoch");
    }
    set(*time_ns);
    return absl::OkStatus();
  };
}

Setter MomentOf(const std::function<Moment*()>& target) {
  return [target](const std::string& value) {
    if (const auto time_ns = ParseTimeNs(value)) {
      target()->set_time_ns(*time_ns);
      return absl::OkStatus();
    }
    auto moment = ParseMoment(value);
    if (!moment.ok()) return moment.status();
    *target() = *std::move(moment);
    return absl::OkStatus();
  };
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
  } else if (const ExportFormat* format = FindExportFormat(value)) {
    options->export_format = format;
  } else {
    return Bad(value, "one of json, pb, csv, text, pprof, folded, perfetto");
  }
  return absl::OkStatus();
}

std::map<std::string, Setter> ValueFlags(Options* options) {
  Query* query = &options->query;
  Filter* filter = query->mutable_filter();
  return {
      {"run", Text([=](const std::string& v) { options->run = v; })},
      {"other-path",
       Text([=](const std::string& v) { options->other_path = v; })},
      {"other-run",
       Text([=](const std::string& v) { options->other_run = v; })},
      {"max-memory-mb",
       Number<uint64_t>([=](uint64_t v) { options->max_memory_mb = v; })},
      {"frontend-dir",
       Text([=](const std::string& v) { options->frontend_dir = v; })},
      {"o", Text([=](const std::string& v) { options->output = v; })},
      {"format", [=](const std::string& v) { return SetFormat(v, options); }},
      {"fail-on",
       [=](const std::string& v) {
         options->fail_on = absl::StrSplit(v, ',', absl::SkipEmpty());
         return CheckFailConditions(options->fail_on);
       }},
      {"dataset",
       [=](const std::string& v) {
         const DatasetEntry* dataset = FindDataset(std::string_view(v));
         if (dataset == nullptr) {
           return Bad(v, absl::StrCat("one of ", DatasetNames()));
         }
         query->set_dataset(dataset->kind);
         return absl::OkStatus();
       }},
      {"host", Text([=](const std::string& v) { filter->set_host(v); })},
      {"allocator",
       Text([=](const std::string& v) { filter->set_allocator(v); })},
      {"from", Time([=](int64_t v) { filter->set_from_ns(v); })},
      {"to", Time([=](int64_t v) { filter->set_to_ns(v); })},
      {"from-step",
       Number<int64_t>([=](int64_t v) { filter->set_from_step(v); })},
      {"to-step", Number<int64_t>([=](int64_t v) { filter->set_to_step(v); })},
      {"min-bytes", Bytes([=](uint64_t v) { filter->set_min_bytes(v); })},
      {"scope", Text([=](const std::string& v) { filter->set_scope(v); })},
      {"dtype", Text([=](const std::string& v) { filter->set_dtype(v); })},
      {"file", Text([=](const std::string& v) { filter->set_source_file(v); })},
      {"line",
       Number<uint32_t>([=](uint32_t v) { filter->set_source_line(v); })},
      {"function",
       Text([=](const std::string& v) { filter->set_source_function(v); })},
      {"search", Text([=](const std::string& v) { filter->set_search(v); })},
      {"role", EnumName<Role>("ROLE_", [=](Role v) { filter->set_role(v); })},
      {"columns", Number<uint32_t>([=](uint32_t v) { query->set_columns(v); })},
      {"at", MomentOf([=] { return query->mutable_at(); })},
      {"other", MomentOf([=] { return query->mutable_other(); })},
      {"group-by",
       EnumName<GroupBy>("GROUP_", [=](GroupBy v) { query->set_group_by(v); })},
      {"sort",
       EnumName<SortKey>("SORT_", [=](SortKey v) { query->set_sort(v); })},
      {"offset", Number<uint32_t>([=](uint32_t v) { query->set_offset(v); })},
      {"limit", Number<uint32_t>([=](uint32_t v) { query->set_limit(v); })},
      {"top", Number<uint32_t>([=](uint32_t v) { query->set_top(v); })},
      {"oom", Number<int32_t>([=](int32_t v) { query->set_oom(v); })},
      {"pin-cost",
       EnumName<PinCost>("PIN_COST_",
                         [=](PinCost v) { query->set_pin_cost(v); })},
      {"request-bytes",
       Bytes([=](uint64_t v) { query->set_request_bytes(v); })},
      {"limit-bytes", Bytes([=](uint64_t v) { query->set_limit_bytes(v); })},
      {"from-address",
       Number<uint64_t>([=](uint64_t v) { query->set_from_address(v); })},
      {"to-address",
       Number<uint64_t>([=](uint64_t v) { query->set_to_address(v); })},
      {"rows", Number<uint32_t>([=](uint32_t v) { query->set_rows(v); })},
      {"module", Text([=](const std::string& v) { query->set_module(v); })},
      {"module-allocation",
       Number<int64_t>([=](int64_t v) { query->set_module_allocation(v); })},
      {"program-point",
       Number<uint32_t>([=](uint32_t v) { query->set_program_point(v); })},
      {"allocation",
       Number<int64_t>([=](int64_t v) { query->set_allocation_id(v); })},
  };
}

std::map<std::string, std::function<void()>> SwitchFlags(Options* options) {
  Query* query = &options->query;
  return {
      {"allow-truncated", [=] { options->allow_truncated = true; }},
      {"full", [=] { options->full = true; }},
      {"ascending", [=] { query->set_ascending(true); }},
      {"range", [=] { query->set_range(true); }},
      {"whole-blocks",
       [=] { query->mutable_filter()->set_whole_blocks(true); }},
  };
}

// "--name" of "--name=value"; empty for what is no flag.
std::string FlagName(const std::string& argument) {
  std::string_view rest = argument;
  if (!ConsumePrefix(&rest, "--") &&
      !(rest.size() > 1 && ConsumePrefix(&rest, "-"))) {
    return "";
  }
  return std::string(rest.substr(0, rest.find('=')));
}

}  // namespace

absl::StatusOr<Options> ParseOptions(
    const std::vector<std::string>& all_arguments) {
  Options options;
  std::vector<std::string> arguments = all_arguments;
  if (!arguments.empty() && arguments.front() == "what-if") {
    WhatIfSettings* settings = options.query.mutable_what_if();
    settings->set_find_smallest_limit(true);
    absl::Status taken = TakeWhatIfFlags(&arguments, settings);
    if (!taken.ok()) return taken;
  }
  const std::map<std::string, Setter> values = ValueFlags(&options);
  const auto switches = SwitchFlags(&options);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string name = FlagName(argument);
    if (name.empty()) {
      if (options.command.empty()) {
        options.command = argument;
      } else {
        options.paths.push_back(argument);
      }
      continue;
    }
    const size_t equals = argument.find('=');
    const auto flag = switches.find(name);
    if (flag != switches.end() && equals == std::string::npos) {
      flag->second();
      continue;
    }
    const auto setter = values.find(name);
    if (setter == values.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("There is no flag ", argument, "; see --help."));
    }
    std::string value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, " needs a value."));
    }
    const absl::Status set = setter->second(value);
    if (!set.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, ": ", set.message()));
    }
  }
  return options;
}

std::string UsageText() {
  return absl::StrCat(
      R"(oom-forensics: why a TensorFlow job ran out of memory.

  oom-forensics info PATH      what is in it, which sources, what is missing
  oom-forensics report PATH    what happened, why and what to change, in at most
                               15 lines; --full: the whole story
  oom-forensics forecast PATH  what the step that never ended would have needed,
                               by batch size
  oom-forensics rehearse --limit=16GiB --steps=3 -- python train.py
                               what a smaller device had made of a few steps
                               (a part of the Python package)
  oom-forensics convert PATH --dataset=NAME [--format=json|pb|csv] [-o FILE]
  oom-forensics convert PATH --format=pprof [--at=MOMENT] -o live.pb.gz
                               the live set of a moment, for pprof
  oom-forensics convert PATH --format=folded [--at=MOMENT] -o live.folded
                               the same as folded stacks, for flame graphs
  oom-forensics convert PATH --format=perfetto -o run.pftrace
                               counters, allocations and OOMs, for Perfetto
  oom-forensics what-if PATH --limit=512MiB
                               the recorded requests under other settings: would
                               it have fitted, and in what limit
  oom-forensics html PATH [--other-path=PATH2] -o FILE
                               the whole tab with this run in one page, for a
                               browser without a server
  oom-forensics viewer -o FILE
                               the same to drop traces on
  oom-forensics runs LOGDIR    which runs are in it, the newest first
                               (a part of the Python package)
  oom-forensics serve PATH     answers requests on stdin (proto/service.proto)
  oom-forensics fleet GLOB... -o DIR
                               many runs into Parquet tables, on Apache Spark
  oom-forensics fleet-report DIR
                               what they die of, on one page
                               (parts of the Python package)
  oom-forensics doctor         would an OOM be recorded here, and if not, why
                               (a part of the Python package)

PATH is an .xplane.pb, a run's folder, or a logdir (its newest run); with the
Python package also a URL (s3://bucket/logdir).

Datasets: )",
      DatasetNames(), R"(

Which run     --run=NAME
Filters       --host --allocator --from=TIME --to=TIME --from-step --to-step
              --min-bytes=SIZE --scope --dtype --search --role --file --line
              --function (of the user's program)
Moment        --at=peak|oom:N|end|step:N|event:N|TIME
Comparison    --other=MOMENT; of another run: --other-path=PATH --other-run=NAME
Lists         --group-by --sort --ascending --offset --limit --range
Timeline      --columns --top
Map over time --columns --rows --from-address --to-address
Forecast      --limit-bytes --oom --columns
Compiled      --whole-blocks (do not open what XLA allocated) --module
              --module-allocation --program-point
Others        --oom --request-bytes --allocation --pin-cost
What if       --limit=SIZE --growth=0|1 --gc=0|1 --allocator=bfc|async
              --batch-scale=X --without=SCOPE --dtype=SCOPE:float16
Input         --allow-truncated --max-memory-mb
Page          --frontend-dir
For CI        --fail-on=oom,probe,leak,near-limit,lost

A TIME is "2026-11-22 00:33:32.5 UTC", 2026-11-22T00:33:32.5Z or ns since the
epoch; a SIZE is 1048576, 1MiB or 1.5GiB.

Exit code: 0 done, 1 the input cannot be read, 2 wrong usage, 3 --fail-on met.
)");
}

}  // namespace oom_forensics
