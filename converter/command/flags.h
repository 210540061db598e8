// The flags of the commands, in the groups that several commands share. CLI11
// parses them; each sets a field of Options.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_FLAGS_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_FLAGS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "converter/command/cli11.h"
#include "converter/command/options.h"

namespace oom_forensics {

// Takes a flag's value; fails with what the value should be.
using ValueSetter = std::function<absl::Status(const std::string& value)>;

// "VALUE" is not EXPECTED.
absl::Status NotA(const std::string& value, const std::string& expected);

// `names` as CLI11 writes them: "--name" or "-n,--name". Given twice, the last
// value counts.
CLI::Option* AddValue(CLI::App* command, const std::string& names,
                      const std::string& value_name, const std::string& help,
                      ValueSetter set);

// A value out of a list.
CLI::Option* AddChoice(CLI::App* command, const std::string& names,
                       const std::vector<std::string>& choices,
                       const std::string& help, ValueSetter set);

// A size as 1048576, 1MiB or 1.5GiB.
CLI::Option* AddSize(CLI::App* command, const std::string& name,
                     const std::string& help,
                     std::function<void(uint64_t)> set);

// PATH, --run and how it is read.
void AddTraceFlags(CLI::App* command, Options* options);

// --host and --allocator.
void AddAllocatorFlags(CLI::App* command, Options* options);

// Which allocations: by time, step, size, name, line and role.
void AddFilterFlags(CLI::App* command, Options* options);

// --format, --json and -o, for a command that prints text unless told
// otherwise; and --fail-on.
void AddOutputFlags(CLI::App* command, Options* options);

// The flags of one command each.
void AddForecastFlags(CLI::App* command, Options* options);
void AddConvertFlags(CLI::App* command, Options* options);

// -o FILE
void AddOutputFile(CLI::App* command, Options* options);

// --at=MOMENT
void AddMoment(CLI::App* command, const std::string& name,
               const std::string& help, std::function<Moment*()> target);

// --oom=N
void AddOomNumber(CLI::App* command, Options* options);

// Why a flag of convert does not apply to the dataset that was asked for.
absl::Status CheckDatasetFlags(const CLI::App& convert, const Options& options);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_FLAGS_H_
