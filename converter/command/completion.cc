#include "converter/command/completion.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "converter/datasets/dataset.h"

namespace oom_forensics {
namespace {

// "--format=json --format=csv ..." where the values are listed, "--run=" where
// they are not, "--full" for a switch.
std::vector<std::string> WordsOf(const CLI::Option& option) {
  std::vector<std::string> words;
  for (const std::string& name : option.get_lnames()) {
    const std::string flag = absl::StrCat("--", name);
    const std::string values =
        name == "dataset" ? absl::StrReplaceAll(DatasetNames(), {{", ", "|"}})
                          : option.get_type_name();
    if (option.get_expected_max() == 0) {
      words.push_back(flag);
    } else if (values.find('|') == std::string::npos) {
      words.push_back(flag + "=");
    } else {
      const std::string with_value = absl::StrCat(" ", flag, "=");
      words.push_back(absl::StrCat(
          flag, "=", absl::StrReplaceAll(values, {{"|", with_value}})));
    }
  }
  return words;
}

std::string Case(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    for (std::string& word : WordsOf(*option)) words.push_back(std::move(word));
  }
  return absl::StrCat("    ", command.get_name(), ") words=\"",
                      absl::StrJoin(words, " "), "\" ;;\n");
}

}  // namespace

std::string CompletionScript(const CLI::App& app, const std::string& shell) {
  std::string names;
  std::string cases;
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    absl::StrAppend(&names, names.empty() ? "" : " ", command->get_name());
    absl::StrAppend(&cases, Case(*command));
  }
  // Bash breaks a word at "=", and completes what follows it.
  return absl::StrCat(
      shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "",
      R"bash(_oom_forensics() {
  local line=${COMP_LINE:0:COMP_POINT} word words
  word=${line##* }
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ")bash",
      names, R"bash(" -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
)bash",
      cases, R"bash(  esac
  case $word in
    -*=*)
      COMPREPLY=($(compgen -W "$words" -- "$word"))
      COMPREPLY=("${COMPREPLY[@]#*=}")
      ;;
    -*)
      COMPREPLY=($(compgen -W "$(printf '%s\n' $words | sed 's/=.*/=/' | sort -u)" -- "$word"))
      [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
      ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _oom_forensics oom-forensics
)bash");
}

}  // namespace oom_forensics
