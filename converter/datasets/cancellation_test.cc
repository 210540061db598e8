// Answers that nobody waits for any more end at once, wherever they are, and
// leave nothing behind that is half made.
#include "converter/cancellation/cancellation.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/datasets/dataset.h"
#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::TraceBuilder;

constexpr uint64_t kPool = 0x100000;
constexpr uint64_t kUnit = 256;
constexpr uint64_t kUnits = 4096;
constexpr int kSteps = 40;
// For a step: rows enough that a loop over all of them looks several times.
constexpr uint64_t kUnitsOfStep = 300;
// A loop looks once in so many rows.
constexpr int kRowsPerLook = 4096;

// Steps that give back what they took but one unit each; the last runs out.
std::string MakeTrace() {
  TraceBuilder trace;
  trace.BaselineRegion(kPool, kUnits * kUnit);
  for (uint64_t step = 0; step < kSteps; ++step) {
    trace.Step(static_cast<int64_t>(step))
        .StepId(static_cast<int64_t>(step + 1));
    for (uint64_t i = 0; i < kUnitsOfStep; ++i) {
      trace.Alloc(
          kPool + (step + i) * kUnit,
          {absl::StrCat("model/dense_", i % 7, "/MatMul"), "[64]", 1, kUnit});
    }
    if (step + 1 == kSteps) {
      trace.Fail({"model/big", "[4096,256]", 1, kUnits * kUnit, 0},
                 {true, kUnits * kUnit, ""});
    }
    for (uint64_t i = 1; i < kUnitsOfStep; ++i) {
      trace.Free(kPool + (step + i) * kUnit);
    }
  }
  trace.EndStep();
  return trace.Serialize();
}

Query AskFor(DatasetKind dataset) {
  Query query;
  query.set_dataset(dataset);
  query.set_columns(50);
  if (dataset == MEMORY_TIMELINE) {
    query.set_group_by(GROUP_ROLE);
    query.mutable_filter()->set_scope("model/dense_3");
  }
  if (dataset == WHAT_IF) {
    query.mutable_what_if()->set_find_smallest_limit(true);
  }
  return query;
}

// Asks, is cut off at the first look; asks again, is cut off at the second, and
// so on until an answer comes. Returns how often that answer's maker looked.
int CutOffAtEachLook(const Run& run, const Query& query, std::string* answer) {
  for (int allowed = 0;; ++allowed) {
    int looks = 0;
    const CancellableWork work([&] { return looks++ == allowed; });
    const auto asked = AnswerQuery({run, nullptr, query});
    if (asked.ok()) {
      *answer = (*asked)->SerializeAsString();
      return looks;
    }
    EXPECT_TRUE(absl::IsCancelled(asked.status())) << asked.status();
    EXPECT_EQ(looks, allowed + 1) << "goes on though nobody waits";
    if (!absl::IsCancelled(asked.status())) return 0;
  }
}

std::string Ask(const Run& run, const Query& query) {
  const auto asked = AnswerQuery({run, nullptr, query});
  EXPECT_TRUE(asked.ok()) << asked.status();
  return asked.ok() ? (*asked)->SerializeAsString() : "";
}

// gtest's fixtures have a Run of their own.
using OpenedRun = oom_forensics::Run;

// Of what goes through all rows; what is of a moment begins at a keyframe.
int LooksExpected(DatasetKind dataset) {
  constexpr int kRows = kSteps * 2 * static_cast<int>(kUnitsOfStep);
  const bool is_of_a_moment = dataset == ALLOCATIONS || dataset == COMPARE;
  return is_of_a_moment ? 1 : kRows / kRowsPerLook;
}

class CancellationTest : public ::testing::TestWithParam<DatasetKind> {};

TEST_P(CancellationTest, EndsAtAnyLookAndTheNextAnswerIsWhole) {
  static const std::string* const trace = new std::string(MakeTrace());
  const Query query = AskFor(GetParam());
  const std::unique_ptr<OpenedRun> never_cut_off = test::OpenBytes({*trace});
  const std::unique_ptr<OpenedRun> run = test::OpenBytes({*trace});
  // What one question derives is kept for the next: only a first one works.
  int first_looks = 0;
  {
    const std::unique_ptr<OpenedRun> fresh = test::OpenBytes({*trace});
    const CancellableWork work([&] {
      ++first_looks;
      return false;
    });
    Ask(*fresh, query);
  }
  EXPECT_GE(first_looks, LooksExpected(GetParam()))
      << "a loop that does not look";
  std::string answer;
  CutOffAtEachLook(*run, query, &answer);
  EXPECT_EQ(answer, Ask(*never_cut_off, query));
}

INSTANTIATE_TEST_SUITE_P(
    OfWhatTakesLong, CancellationTest,
    ::testing::Values(MEMORY_TIMELINE, ALLOCATIONS, FRAGMENTATION, OOM_WINDOW,
                      LEAKS, COMPARE, STEPS, ADDRESS_HISTORY, WHAT_IF),
    [](const auto& info) { return DatasetKind_Name(info.param); });

TEST(Cancellation, OfATraceThatIsBeingRead) {
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / "cancelled_reading";
  std::filesystem::create_directories(folder);
  TraceFiles files;
  files.run_name = "run";
  uint64_t resident_bytes = 0;
  for (int i = 0; i < 4; ++i) {
    files.paths.push_back(folder / absl::StrCat("host", i, ".xplane.pb"));
    std::ofstream(files.paths.back(), std::ios::binary) << MakeTrace();
  }
  {
    const CancellableWork work([] { return true; });
    EXPECT_TRUE(
        absl::IsCancelled(OpenedRun::Open(files, RunOptions()).status()));
  }
  const auto all = OpenedRun::Open(files, RunOptions());
  ASSERT_TRUE(all.ok());
  for (size_t i = 0; i < files.paths.size(); ++i) {
    resident_bytes += (*all)->Load(i)->ResidentBytes();
  }
  // Hosts are dropped, and read again for each answer.
  RunOptions options;
  options.threads = 1;
  options.read.max_resident_bytes = resident_bytes / 5 * 3;
  const auto few = OpenedRun::Open(files, options);
  ASSERT_TRUE(few.ok()) << few.status();
  const Query query = AskFor(STEPS);
  std::string answer;
  EXPECT_GT(CutOffAtEachLook(**few, query, &answer), 4);
  EXPECT_EQ(answer, Ask(**all, query));
}

TEST(Cancellation, OfAModuleThatXlaCompiled) {
  TraceFiles files;
  files.run_name = "run";
  files.paths = {"converter/fuzz/corpus/trace/compiled.xplane.pb"};
  const auto run = OpenedRun::Open(files, RunOptions());
  ASSERT_TRUE(run.ok()) << run.status();
  const Query query = AskFor(COMPILED_MODULES);
  std::string answer;
  EXPECT_GE(CutOffAtEachLook(**run, query, &answer), 2);
  EXPECT_EQ(answer, Ask(**run, query));
}

TEST(Cancellation, IsOfTheInnermostWorkOfItsOwnThread) {
  EXPECT_NO_THROW(StopIfCancelled());
  const CancellableWork work([] { return true; });
  EXPECT_THROW(StopIfCancelled(), WorkCancelled);
  {
    const CancellableWork inner(nullptr);
    EXPECT_NO_THROW(StopIfCancelled());
  }
  EXPECT_THROW(StopIfCancelled(), WorkCancelled);
  EXPECT_NO_THROW(StopIfCancelled(1)) << "not in each round";
  EXPECT_THROW(StopIfCancelled(2 * kRowsPerLook), WorkCancelled);
}

}  // namespace
}  // namespace oom_forensics
