#include "converter/command/what_if_flags.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"

namespace oom_forensics {
namespace {

template <typename Set>
void AddSwitch(CLI::App* command, const std::string& name,
               const std::string& help, Set set) {
  AddChoice(command, name, {"0", "1"}, help, [set](const std::string& value) {
    set(value == "1");
    return absl::OkStatus();
  });
}

absl::Status SetBatchScale(const std::string& value, WhatIfSettings* settings) {
  double scale = 0;
  if (!absl::SimpleAtod(value, &scale) || !(scale > 0)) {
    return NotA(value, "a positive number");
  }
  settings->set_batch_scale(scale);
  return absl::OkStatus();
}

// "SCOPE:float16", or "float32" for all tensors.
absl::Status AddDtype(const std::string& value, WhatIfSettings* settings) {
  const size_t colon = value.rfind(':');
  WhatIfDtype* change = settings->add_dtype();
  if (colon != std::string::npos) change->set_scope(value.substr(0, colon));
  change->set_dtype(value.substr(colon == std::string::npos ? 0 : colon + 1));
  return absl::OkStatus();
}

absl::Status AddWithout(const std::string& value, WhatIfSettings* settings) {
  if (value.empty()) return NotA(value, "a name scope");
  settings->add_without_scope(value);
  return absl::OkStatus();
}

// A flag that can be given several times.
void AddEach(CLI::App* command, const std::string& name,
             const std::string& value_name, const std::string& help,
             absl::Status (*add)(const std::string&, WhatIfSettings*),
             Query* query) {
  command
      ->add_option_function<std::vector<std::string>>(
          name,
          [name, add, query](const std::vector<std::string>& values) {
            for (const std::string& value : values) {
              const absl::Status added = add(value, query->mutable_what_if());
              if (!added.ok()) {
                throw CLI::ValidationError(name, std::string(added.message()));
              }
            }
          },
          help)
      ->type_name(value_name)
      ->allow_extra_args(false);
}

}  // namespace

void AddWhatIfFlags(CLI::App* command, Options* options) {
  Query* query = &options->query;
  command->parse_complete_callback(
      [query] { query->mutable_what_if()->set_find_smallest_limit(true); });
  const auto settings = [query] { return query->mutable_what_if(); };
  AddSize(command, "--limit", "The limit of the pool",
          [settings](uint64_t v) { settings()->set_limit_bytes(v); });
  AddSwitch(command, "--growth", "Whether the pool grows piece by piece",
            [settings](bool v) { settings()->set_growth(v); });
  AddSwitch(command, "--gc", "Whether empty pieces are given back",
            [settings](bool v) { settings()->set_garbage_collection(v); });
  AddValue(command, "--allocator", "NAME",
           "bfc or async: the kind of pool; else only this allocator",
           [query](const std::string& v) {
             if (v == "bfc" || v == "async") {
               query->mutable_what_if()->set_allocator_kind(v);
             } else {
               query->mutable_filter()->set_allocator(v);
             }
             return absl::OkStatus();
           });
  AddValue(command, "--host", "NAME", "Only this host",
           [query](const std::string& v) {
             query->mutable_filter()->set_host(v);
             return absl::OkStatus();
           });
  AddValue(command, "--batch-scale", "X", "Make the batch X times as large",
           [query](const std::string& v) {
             return SetBatchScale(v, query->mutable_what_if());
           });
  AddEach(command, "--without", "SCOPE", "Leave out the ops below a name scope",
          AddWithout, query);
  AddEach(command, "--dtype", "SCOPE:DTYPE",
          "Give tensors below a name scope, or all, another data type",
          AddDtype, query);
  AddMoment(command, "--at", "The moment of the two maps in JSON",
            [query] { return query->mutable_at(); });
}

}  // namespace oom_forensics
