#include "converter/command/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace oom_forensics {
namespace {

std::string Complaint(const std::vector<std::string>& arguments) {
  const auto options = ParseOptions(arguments);
  return options.ok() ? "" : std::string(options.status().message());
}

TEST(OptionsTest, AFlagThatDoesNotApplyIsOneSentence) {
  EXPECT_EQ(Complaint({"what-if", "logdir", "--limit-bytes=16GiB"}),
            "what-if has no flag --limit-bytes; see what-if --help.");
  EXPECT_EQ(Complaint({"info", "logdir", "--full"}),
            "info has no flag --full; see info --help.");
  EXPECT_EQ(Complaint({"report", "logdir", "--rows", "7"}),
            "report has no flag --rows; see report --help.");
  EXPECT_EQ(
      Complaint({"convert", "logdir", "--dataset=allocations", "--limit=100"}),
      "--limit applies to --dataset=forecast alone.");
  EXPECT_EQ(Complaint({"convert", "logdir", "--format=pprof", "--oom=1"}),
            "--oom applies to --dataset=oom_window or forecast alone.");
}

TEST(OptionsTest, ALimitIsASizeAndRowsAreRows) {
  const auto forecast =
      ParseOptions({"forecast", "logdir", "--limit", "1.5GiB"});
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_EQ(forecast->query.limit_bytes(), uint64_t{3} << 29);
  const auto rows =
      ParseOptions({"convert", "--rows=7", "--dataset=allocations", "logdir"});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->query.limit(), 7u);
  EXPECT_EQ(rows->path, "logdir");
}

TEST(OptionsTest, WrongUsageIsOneSentence) {
  EXPECT_EQ(Complaint({"nonsense"}),
            "There is no command nonsense; see --help.");
  EXPECT_EQ(Complaint({"report"}), "report takes one PATH.");
  EXPECT_EQ(Complaint({"report", "a", "b"}), "report takes one PATH.");
  EXPECT_EQ(Complaint({"viewer", "a"}), "viewer takes no PATH.");
  EXPECT_EQ(Complaint({"report", "a", "--run"}), "--run needs a value.");
  EXPECT_EQ(Complaint({"forecast", "a", "--limit=much"}),
            "--limit: \"much\" is not a size, as 1048576, 1MiB or 1.5GiB.");
  EXPECT_EQ(Complaint({"report", "a", "--format=pprof"}),
            "--format: \"pprof\" is not one of text, json, csv, pb.");
  EXPECT_FALSE(Complaint({}).empty());
  EXPECT_FALSE(Complaint({"--full"}).empty());
  EXPECT_FALSE(Complaint({"doctor"}).empty());
}

TEST(OptionsTest, JsonIsAskedForAlikeEverywhere) {
  for (const char* command : {"report", "info", "forecast", "what-if"}) {
    const auto options = ParseOptions({command, "logdir", "--json"});
    ASSERT_TRUE(options.ok()) << options.status();
    EXPECT_EQ(options->format, OutputFormat::kJson) << command;
  }
}

TEST(OptionsTest, HelpIsOfTheCommandThatWasNamed) {
  const auto report = ParseOptions({"report", "--help"});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_NE(report->answer.find("--full"), std::string::npos);
  EXPECT_EQ(report->answer.find("--growth"), std::string::npos);
  const auto all = ParseOptions({"help"});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_NE(all->answer.find("what-if"), std::string::npos);
  EXPECT_EQ(all->answer.find("--full"), std::string::npos);
}

TEST(OptionsTest, CompletionKnowsCommandsFlagsAndTheirValues) {
  const auto bash = ParseOptions({"completion", "bash"});
  ASSERT_TRUE(bash.ok()) << bash.status();
  for (const char* word : {"what-if", "--growth=1",
                           "--limit=", "--dataset=oom_window", "doctor"}) {
    EXPECT_NE(bash->answer.find(word), std::string::npos) << word;
  }
  EXPECT_FALSE(ParseOptions({"completion", "fish"}).ok());
}

}  // namespace
}  // namespace oom_forensics
