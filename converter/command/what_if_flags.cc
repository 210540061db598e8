#include "converter/command/what_if_flags.h"

#include <functional>
#include <map>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "converter/command/values.h"

namespace oom_forensics {
namespace {

using Setter = std::function<absl::Status(const std::string& value)>;

absl::Status Bad(const std::string& value, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", value, "\" is not ", expected, "."));
}

template <typename Set>
Setter Switch(Set set) {
  return [set](const std::string& value) {
    if (value != "0" && value != "1") return Bad(value, "0 or 1");
    set(value == "1");
    return absl::OkStatus();
  };
}

std::map<std::string, Setter> Flags(WhatIfSettings* settings) {
  return {
      {"limit",
       [=](const std::string& value) {
         const std::optional<uint64_t> bytes = ParseBytes(value);
         if (!bytes.has_value()) {
           return Bad(value, "a size like 512MiB or 1.5GiB");
         }
         settings->set_limit_bytes(*bytes);
         return absl::OkStatus();
       }},
      {"growth", Switch([=](bool v) { settings->set_growth(v); })},
      {"gc", Switch([=](bool v) { settings->set_garbage_collection(v); })},
      {"batch-scale",
       [=](const std::string& value) {
         double scale = 0;
         if (!absl::SimpleAtod(value, &scale) || !(scale > 0)) {
           return Bad(value, "a positive number");
         }
         settings->set_batch_scale(scale);
         return absl::OkStatus();
       }},
      {"without",
       [=](const std::string& value) {
         if (value.empty()) return Bad(value, "a name scope");
         settings->add_without_scope(value);
         return absl::OkStatus();
       }},
      {"dtype",
       [=](const std::string& value) {
         const size_t colon = value.rfind(':');
         WhatIfDtype* change = settings->add_dtype();
         if (colon != std::string::npos) {
           change->set_scope(value.substr(0, colon));
         }
         change->set_dtype(
             value.substr(colon == std::string::npos ? 0 : colon + 1));
         return absl::OkStatus();
       }},
  };
}

}  // namespace

absl::Status TakeWhatIfFlags(std::vector<std::string>* arguments,
                             WhatIfSettings* settings) {
  const std::map<std::string, Setter> flags = Flags(settings);
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments->size(); ++i) {
    const std::string& argument = (*arguments)[i];
    absl::string_view name = argument;
    const bool is_flag = absl::ConsumePrefix(&name, "--");
    const size_t equals = name.find('=');
    // An allocator's name, as elsewhere, unless it is a kind.
    if (is_flag &&
        (argument == "--allocator=bfc" || argument == "--allocator=async")) {
      settings->set_allocator_kind(argument.substr(argument.find('=') + 1));
      continue;
    }
    const auto flag =
        is_flag ? flags.find(std::string(name.substr(0, equals))) : flags.end();
    if (flag == flags.end()) {
      rest.push_back(argument);
      continue;
    }
    std::string value;
    if (equals != absl::string_view::npos) {
      value = std::string(name.substr(equals + 1));
    } else if (i + 1 < arguments->size()) {
      value = (*arguments)[++i];
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, " needs a value."));
    }
    const absl::Status set = flag->second(value);
    if (!set.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag->first, ": ", set.message()));
    }
  }
  *arguments = std::move(rest);
  return absl::OkStatus();
}

}  // namespace oom_forensics
