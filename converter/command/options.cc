#include "converter/command/options.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/command/completion.h"
#include "converter/command/flags.h"
#include "converter/command/what_if_flags.h"
#include "converter/datasets/info.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

constexpr char kFooter[] =
    "A SIZE is 1048576, 1MiB or 1.5GiB; a TIME is \"2026-11-22 00:33:32.5 "
    "UTC\", 2026-11-22T00:33:32.5Z or ns since the epoch.\n"
    "Exit code: 0 done, 1 the input cannot be read, 2 wrong usage, 3 --fail-on "
    "met.\n";
constexpr char kPythonGroup[] = "Commands of the Python package";

struct PythonCommand {
  const char* name;
  const char* help;
};

// The package answers these before it asks this program.
constexpr PythonCommand kPythonCommands[] = {
    {"view", "Open the page of a run in a browser"},
    {"runs", "List the runs of a logdir, the newest first"},
    {"doctor", "Would an OOM be recorded here, and if not, why?"},
    {"run", "Run a program, and explain at once why it died"},
    {"rehearse", "Run a few steps as on a device with less memory"},
    {"watch", "Show a running job: use, growth, holders, time until full"},
    {"metrics", "Serve the running jobs' numbers to Prometheus"},
    {"gate", "Check a run against a memory budget and a baseline"},
    {"fleet", "Convert many runs into Parquet tables, on Apache Spark"},
    {"fleet-report", "Show on one page why many runs die"},
    {"mcp", "Answer agents over the Model Context Protocol"},
};

CLI::App* Add(CLI::App* app, const std::string& name, const std::string& help) {
  CLI::App* command = app->add_subcommand(name, help)->group("Commands");
  command->footer(kFooter);
  return command;
}

void AddPageFlags(CLI::App* command, Options* options) {
  command
      ->add_option("--frontend-dir", options->frontend_dir,
                   "Where the tab's files are")
      ->type_name("DIR");
  AddOutputFile(command, options);
}

void AddCommands(CLI::App* app, Options* options) {
  Filter* filter = options->query.mutable_filter();
  CLI::App* report =
      Add(app, "report", "What happened, why and what to change, in 15 lines");
  AddTraceFlags(report, options);
  report->add_flag("--full", options->full, "The whole story of all OOMs");
  AddOomNumber(report, options);
  AddFilterFlags(report, options);
  AddOutputFlags(report, options);

  CLI::App* info = Add(app, "info", "What a run holds, and what is missing");
  AddTraceFlags(info, options);
  AddAllocatorFlags(info, options);
  AddOutputFlags(info, options);

  CLI::App* forecast = Add(
      app, "forecast", "What the step that never finished would have needed");
  AddTraceFlags(forecast, options);
  AddForecastFlags(forecast, options);
  AddAllocatorFlags(forecast, options);
  AddOutputFlags(forecast, options);

  CLI::App* what_if =
      Add(app, "what-if", "Would the requests have fit under a change?");
  AddTraceFlags(what_if, options);
  AddWhatIfFlags(what_if, options);
  AddOutputFlags(what_if, options);

  CLI::App* convert = Add(app, "convert",
                          "A dataset as JSON, CSV or protobuf; or pprof, "
                          "folded stacks, Perfetto");
  AddTraceFlags(convert, options);
  AddConvertFlags(convert, options);
  AddFilterFlags(convert, options);

  CLI::App* html = Add(app, "html", "The whole tab with this run, as one page");
  AddTraceFlags(html, options);
  html->add_option_function<std::string>(
          "--host", [filter](const std::string& v) { filter->set_host(v); },
          "Only this host")
      ->type_name("NAME");
  html->add_option("--other-path", options->other_path,
                   "A second run on the page")
      ->type_name("PATH");
  html->add_option("--other-run", options->other_run,
                   "Its name, if PATH is a logdir")
      ->type_name("NAME");
  AddPageFlags(html, options);

  CLI::App* recover =
      Add(app, "recover", "Make runs from what killed processes left");
  recover->add_option("PATH", options->path, "The logdir")
      ->required()
      ->type_name("");
  recover
      ->add_option("--ended", options->ended,
                   "How a process ended, as its parent saw it")
      ->type_name("PROCESS:SIGNAL:EXIT_CODE");

  AddPageFlags(Add(app, "viewer", "A page to drop traces on"), options);
  AddTraceFlags(Add(app, "serve", "Answer requests of a program on stdin"),
                options);
}

// The commands that need Python, for help and completion. Whoever runs this
// program without the package learns where they are.
void AddPythonCommands(CLI::App* app) {
  for (const PythonCommand& each : kPythonCommands) {
    app->add_subcommand(each.name, each.help)
        ->group(kPythonGroup)
        ->allow_extras()
        ->callback([name = each.name] {
          throw CLI::ValidationError(
              name, "this is a command of the Python package oom-forensics");
        });
  }
}

void AddCompletion(CLI::App* app, Options* options) {
  CLI::App* completion =
      Add(app, "completion", "Print the shell's completion of this command");
  AddChoice(completion, "SHELL", {"bash", "zsh"}, "The shell to complete in",
            [app, options](const std::string& shell) {
              options->answer = CompletionScript(*app, shell);
              return absl::OkStatus();
            })
      ->required();
}

std::unique_ptr<CLI::App> MakeApp(Options* options) {
  auto app = std::make_unique<CLI::App>(
      "Why a TensorFlow job ran out of memory.", "oom-forensics");
  app->get_formatter()->column_width(26);
  app->get_formatter()->label("SUBCOMMAND", "COMMAND");
  app->get_formatter()->label("REQUIRED", "");
  app->set_help_flag("-h,--help", "Print this help and exit");
  app->add_flag("--version", "Print the version and exit");
  app->require_subcommand(1);
  AddCommands(app.get(), options);
  AddPythonCommands(app.get());
  AddCompletion(app.get(), options);
  app->footer("`oom-forensics COMMAND --help` lists the flags of a command.\n");
  return app;
}

absl::Status Wrong(const std::string& sentence) {
  return absl::InvalidArgumentError(sentence);
}

bool IsCommand(const CLI::App& app, const std::string& name) {
  const std::vector<const CLI::App*> commands = app.get_subcommands(
      [&name](const CLI::App* command) { return command->get_name() == name; });
  return !commands.empty();
}

absl::Status SayWhatToDo() {
  return Wrong(
      "Name a command: report, info, forecast, what-if, convert, html, viewer "
      "or serve; see --help.");
}

absl::Status WhatIsWrong(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  if (commands.empty()) return SayWhatToDo();
  const CLI::App& command = *commands.front();
  const std::string& name = command.get_name();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = command.remaining();
    const std::string extra = extras.empty() ? "" : extras.front();
    if (!StartsWith(extra, "-")) {
      return Wrong(absl::StrCat(
          name, name == "viewer" ? " takes no PATH." : " takes one PATH."));
    }
    return Wrong(absl::StrCat(name, " has no flag ",
                              extra.substr(0, extra.find('=')), "; see ", name,
                              " --help."));
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return Wrong(absl::StrCat(name, " takes one ",
                              name == "completion" ? "SHELL." : "PATH."));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string said = error.what();
    return Wrong(
        absl::StrCat(said.substr(0, said.find(':')), " needs a value."));
  }
  return Wrong(error.what());
}

}  // namespace

absl::StatusOr<Options> ParseOptions(
    const std::vector<std::string>& arguments) {
  Options options;
  const std::unique_ptr<CLI::App> app = MakeApp(&options);
  if (arguments.empty()) return SayWhatToDo();
  std::vector<std::string> words = arguments;
  // "help" and "help report", as other commands take them.
  if (words.front() == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  const std::string& first = words.front();
  if (!StartsWith(first, "-") && !IsCommand(*app, first)) {
    return Wrong(absl::StrCat("There is no command ", first, "; see --help."));
  }
  if (first == "--version") {
    options.answer = absl::StrCat("oom-forensics ", kConverterVersion, "\n");
    return options;
  }
  // CLI11 takes them from the back.
  std::reverse(words.begin(), words.end());
  try {
    app->parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    options.answer = app->help();
    return options;
  } catch (const CLI::ParseError& error) {
    return WhatIsWrong(*app, error);
  }
  const CLI::App& command = *app->get_subcommands().front();
  options.command = command.get_name();
  const bool says_what = options.query.dataset() != DATASET_UNSPECIFIED ||
                         options.export_format != nullptr;
  if (options.command == "convert" && says_what) {
    const absl::Status applies = CheckDatasetFlags(command, options);
    if (!applies.ok()) return applies;
  }
  return options;
}

}  // namespace oom_forensics
