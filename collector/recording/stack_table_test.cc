#include "collector/recording/stack_table.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace oom_forensics::collector {
namespace {

StackFrames At(int line) {
  return {{"/home/me/train.py", "step", line, false},
          {"/lib/python3.11/runpy.py", "_run_code", 88, true}};
}

TEST(StackTableTest, EqualStacksHaveOneId) {
  StackTable stacks;
  const StackId first = stacks.Intern(At(1));
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(stacks.Intern(At(2)), 2u);
  EXPECT_EQ(stacks.Intern(At(1)), first);
  StackFrames library = At(1);
  library[0].is_library = true;
  EXPECT_EQ(stacks.Intern(library), 3u);
}

TEST(StackTableTest, KeepsTextsOfItsOwn) {
  StackTable stacks;
  {
    const std::string file = "/tmp/a file that is soon forgotten.py";
    stacks.Intern({{file, "f", 7, false}});
  }
  const auto kept = stacks.Snapshot();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0]->at(0).file, "/tmp/a file that is soon forgotten.py");
  EXPECT_EQ(kept[0]->at(0).line, 7);
}

TEST(StackTableTest, RefusesWhatDoesNotFitAndKnowsTheRestStill) {
  StackTable few(2);
  few.Intern(At(1));
  few.Intern(At(2));
  EXPECT_FALSE(few.IsFull());
  EXPECT_EQ(few.Intern(At(3)), 0u);
  EXPECT_TRUE(few.IsFull());
  EXPECT_EQ(few.Intern(At(2)), 2u);

  StackTable small(1000, 500);
  int kept = 0;
  while (small.Intern(At(kept + 1)) != 0) ++kept;
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 10);
}

TEST(StackTableTest, DoesNotWaitForWhoHoldsItsLock) {
  StackTable stacks;
  stacks.lock().lock();
  EXPECT_EQ(stacks.Intern(At(1)), 0u);
  EXPECT_FALSE(stacks.IsFull());
  stacks.lock().unlock();
  EXPECT_EQ(stacks.Intern(At(1)), 1u);
}

TEST(StackTableTest, ThreadsAgreeOnIds) {
  StackTable stacks;
  std::vector<std::vector<StackId>> ids(4, std::vector<StackId>(200));
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        while (mine[i] == 0) mine[i] = stacks.Intern(At(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stacks.Snapshot().size(), 200u);
  for (const auto& mine : ids) EXPECT_EQ(mine, ids[0]);
}

}  // namespace
}  // namespace oom_forensics::collector
