#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "collector/black_box/activities.h"
#include "collector/black_box/box_file.h"
#include "collector/black_box/host_blocks.h"
#include "collector/black_box/host_probe.h"
#include "gtest/gtest.h"

namespace oom_forensics::collector {
namespace {

namespace fs = std::filesystem;
using black_box::Box;
using black_box::Owner;

std::string NewFolder() {
  std::string folder = ::testing::TempDir() + "/boxXXXXXX";
  return mkdtemp(folder.data()) == nullptr ? "" : folder;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// What `in_child` returns, as the exit code of a forked child.
template <typename InChild>
int Forked(InChild in_child) {
  const pid_t child = fork();
  if (child == 0) _exit(in_child());
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(BoxFileTest, ProcessThatEndsWellLeavesNothing) {
  const std::string folder = NewFolder();
  std::string why_not;
  const auto file = BoxFile::Make({{folder + "/logs"}}, &why_not);
  ASSERT_NE(file, nullptr) << why_not;
  ASSERT_TRUE(Exists(file->path()));
  file->Remove();
  EXPECT_FALSE(Exists(folder + "/logs"));
}

// As whoever opens boxes asks.
bool IsFree(const std::string& path) {
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  const int opened = open(path.c_str(), O_RDWR);
  const bool is_free = fcntl(opened, F_SETLK, &whole) == 0;
  close(opened);
  return is_free;
}

TEST(ActivitiesTest, PlaceOfTheProgramHasOneRecordHoweverOftenItDoesIt) {
  using black_box::ActivityKind;
  const auto box = std::make_unique<black_box::Box>();
  Activities activities;
  for (uint64_t i = 0; i < 3; ++i) {
    const int begun = activities.Begin(box.get(), ActivityKind::kTrace, "step",
                                       "u7\tmain\ttrain.py", 100 * i);
    EXPECT_EQ(begun, 0);
    EXPECT_EQ(box->activities[0].under_way, 1u);
    Activities::End(box.get(), begun, i + 1, 0, "rate: 0, 1", 100 * i + 40);
  }
  const black_box::Activity& step = box->activities[0];
  EXPECT_EQ(step.count, 3u);
  EXPECT_EQ(step.live, 3u);
  EXPECT_EQ(step.grown_bytes, 3 * 40u);
  EXPECT_EQ(step.under_way, 0u);
  EXPECT_STREQ(step.what, "rate: 0, 1");
  EXPECT_EQ(activities.Begin(box.get(), ActivityKind::kSave, "step", "", 0), 1);
}

TEST(ActivitiesTest, WhatHasNoRoomIsNotKeptAndATextIsCutAtALine) {
  const auto box = std::make_unique<black_box::Box>();
  Activities activities;
  const std::string line(600, 'x');
  for (uint32_t i = 0; i < black_box::kMaxActivities; ++i) {
    EXPECT_EQ(activities.Begin(box.get(), black_box::ActivityKind::kSave,
                               std::to_string(i), line + "\n" + line, 0),
              static_cast<int>(i));
  }
  EXPECT_EQ(box->activities[0].where, line);
  const int none = activities.Begin(box.get(), black_box::ActivityKind::kSave,
                                    "one more", "", 0);
  EXPECT_EQ(none, -1);
  Activities::End(box.get(), none, 0, 0, "", 0);
}

TEST(BoxFileTest, FrozenFileStaysAsItIsAndInUse) {
  std::string why_not;
  const auto file = BoxFile::Make({{NewFolder()}}, &why_not);
  ASSERT_NE(file, nullptr) << why_not;
  file->box()->header.process_id = 1;
  file->Freeze();
  file->box()->header.process_id = 2;
  const auto read = std::make_unique<Box>();
  std::ifstream(file->path(), std::ios::binary)
      .read(reinterpret_cast<char*>(&read->header), sizeof(read->header));
  EXPECT_EQ(read->header.process_id, 1u);
  EXPECT_EQ(Forked([&] { return IsFree(file->path()) ? 1 : 0; }), 0);
  file->Remove();
}

TEST(BoxFileTest, AnotherProcessSeesThatItsProcessLives) {
  std::string why_not;
  const auto file = BoxFile::Make({{NewFolder()}}, &why_not);
  ASSERT_NE(file, nullptr) << why_not;
  EXPECT_EQ(Forked([&] { return IsFree(file->path()) ? 1 : 0; }), 0);
  file->Remove();
}

TEST(BoxFileTest, ProcessThatReadsTheFileItselfStillHoldsIt) {
  std::string why_not;
  const auto file = BoxFile::Make({{NewFolder()}}, &why_not);
  ASSERT_NE(file, nullptr) << why_not;
  close(open(file->path().c_str(), O_RDONLY));
  EXPECT_EQ(Forked([&] { return IsFree(file->path()) ? 1 : 0; }), 0);
  file->Remove();
}

TEST(BoxFileTest, ForkedChildThatLivesOnDoesNotHoldIt) {
  const std::string folder = NewFolder();
  int child_is_there[2];
  int parent_is_gone[2];
  ASSERT_EQ(pipe(child_is_there), 0);
  ASSERT_EQ(pipe(parent_is_gone), 0);
  char path[4096] = "";
  const pid_t parent = fork();
  if (parent == 0) {
    std::string why_not;
    const auto file = BoxFile::Make({{folder}}, &why_not);
    const pid_t child = fork();
    if (child == 0) {
      file->AfterForkInChild();
      if (write(child_is_there[1], file->path().c_str(),
                file->path().size() + 1) < 0) {
        _exit(1);
      }
      // Until the test is over.
      close(parent_is_gone[1]);
      char byte;
      _exit(read(parent_is_gone[0], &byte, 1) == 0 ? 0 : 1);
    }
    char byte;
    _exit(read(child_is_there[0], &byte, 0) == 0 ? 0 : 1);
  }
  ASSERT_GT(read(child_is_there[0], path, sizeof(path)), 0);
  int status = 0;
  waitpid(parent, &status, 0);
  EXPECT_TRUE(IsFree(path));
  close(parent_is_gone[1]);
}

TEST(BoxFileTest, FullDiskAndTooManyOpenFilesAreSaidAndCostNothing) {
  EXPECT_EQ(Forked([] {
              const std::string folder = NewFolder();
              // Larger files than this are refused, as on a full disk.
              const rlimit size = {1 << 20, 1 << 20};
              signal(SIGXFSZ, SIG_IGN);
              setrlimit(RLIMIT_FSIZE, &size);
              std::string why_not;
              if (BoxFile::Make({{folder}}, &why_not) != nullptr) return 1;
              if (why_not.find("File too large") == std::string::npos) return 2;
              const rlimit files = {0, 0};
              setrlimit(RLIMIT_NOFILE, &files);
              why_not.clear();
              if (BoxFile::Make({{folder}}, &why_not) != nullptr) return 3;
              if (why_not.find("Too many open files") == std::string::npos) {
                return 4;
              }
              // Nothing is left.
              return rmdir(folder.c_str()) == 0 ? 0 : 5;
            }),
            0);
}

TEST(BoxFileTest, FolderOfAnotherKindOrUserIsNotUsed) {
  const std::string folder = NewFolder();
  ASSERT_EQ(symlink("/tmp", (folder + "/link").c_str()), 0);
  std::string why_not;
  EXPECT_EQ(BoxFile::Make({{folder + "/link", /*is_ours=*/true}}, &why_not),
            nullptr);
  EXPECT_EQ(why_not, folder + "/link: it is another user's");
}

TEST(BoxFileTest, MemoryIsNoPlaceForItAndTheNextFolderIsTaken) {
  if (!Exists("/dev/shm")) GTEST_SKIP() << "there is no /dev/shm";
  std::string why_not;
  EXPECT_EQ(BoxFile::Make({{"/dev/shm"}}, &why_not), nullptr);
  EXPECT_EQ(why_not, "/dev/shm: it is on no local disk that reserves room");
  const auto file = BoxFile::Make({{"/dev/shm"}, {NewFolder()}}, &why_not);
  ASSERT_NE(file, nullptr);
  file->Remove();
}

TEST(BoxFileTest, ForkedChildWritesToMemoryOfItsOwn) {
  std::string why_not;
  const auto file = BoxFile::Make({{NewFolder()}}, &why_not);
  ASSERT_NE(file, nullptr) << why_not;
  file->box()->header.process_id = 1;
  EXPECT_EQ(Forked([&] {
              file->AfterForkInChild();
              file->box()->header.process_id = 2;
              file->Remove();
              return 0;
            }),
            0);
  EXPECT_EQ(file->box()->header.process_id, 1);
  EXPECT_TRUE(Exists(file->path()));
  file->Remove();
}

// The files of cgroups, as the kernel shows them.
class HostProbeTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    const fs::path file = fs::path(folder_) / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  HostProbe Probe() const { return HostProbe(folder_, folder_ + "/self"); }

  const std::string folder_ = NewFolder();
};

TEST_F(HostProbeTest, LimitOfVersion2IsTheSmallestOnTheWayToTheRoot) {
  Write("self", "0::/pod/container\n");
  Write("pod/memory.max", "104857600\n");
  Write("pod/memory.current", "73400320\n");
  Write("pod/memory.events",
        "low 0\nhigh 0\nmax 9\noom 2\noom_group_kill 1\noom_kill 3\n");
  Write("pod/memory.stat", "anon 7\ninactive_file 4096\nactive_file 8192\n");
  Write("pod/container/memory.max", "max\n");
  Write("pod/container/memory.current", "1048576\n");
  HostProbe probe = Probe();
  EXPECT_EQ(probe.limit_bytes(), 100 << 20);
  EXPECT_EQ(probe.cgroup(), folder_ + "/pod");
  EXPECT_EQ(probe.Kills(), 3);
  HostLook look;
  probe.LookDeeply(&look);
  EXPECT_EQ(look.used_bytes, 70 << 20);
  EXPECT_EQ(look.cache_bytes, 12288);
}

TEST_F(HostProbeTest, LimitOfVersion1IsReadInItsOwnHierarchy) {
  Write("self", "4:cpu:/else\n3:memory:/jobs/1\n0::/\n");
  Write("memory/jobs/1/memory.limit_in_bytes", "104857600\n");
  Write("memory/jobs/1/memory.usage_in_bytes", "73400320\n");
  Write("memory/jobs/1/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  Write("memory/jobs/1/memory.stat",
        "inactive_file 1\ntotal_inactive_file 4096\ntotal_active_file 8192\n");
  HostProbe probe = Probe();
  EXPECT_EQ(probe.limit_bytes(), 100 << 20);
  EXPECT_EQ(probe.Kills(), 3);
  HostLook look;
  probe.LookDeeply(&look);
  EXPECT_EQ(look.used_bytes, 70 << 20);
  EXPECT_EQ(look.cache_bytes, 12288);
}

TEST_F(HostProbeTest, ContainerSeesItsGroupAsTheRoot) {
  Write("self", "0::/kubepods/pod7/container\n");
  Write("memory.max", "104857600\n");
  Write("memory.current", "73400320\n");
  EXPECT_EQ(Probe().limit_bytes(), 100 << 20);
}

TEST_F(HostProbeTest, OwnLimitThatIsNearerIsTold) {
  Write("self", "0::/\n");
  EXPECT_EQ(
      Forked([&] {
        const rlimit far = {uint64_t{1} << 60, RLIM_INFINITY};
        const rlimit near = {uint64_t{1} << 47, RLIM_INFINITY};
        const HostProbe probe = Probe();
        if (probe.ReadOwnLimit().kind != black_box::OwnLimit::kNone) {
          return 1;
        }
        setrlimit(RLIMIT_AS, &near);
        setrlimit(RLIMIT_DATA, &far);
        const HostProbe::OwnLimit own = probe.ReadOwnLimit();
        if (own.kind != black_box::OwnLimit::kAddressSpace) return 2;
        if (own.limit_bytes != near.rlim_cur) return 3;
        if (own.used_bytes < (1 << 20)) return 4;
        setrlimit(RLIMIT_AS, &far);
        setrlimit(RLIMIT_DATA, &near);
        return probe.ReadOwnLimit().kind == black_box::OwnLimit::kData ? 0 : 5;
      }),
      0);
}

TEST_F(HostProbeTest, WithoutALimitTheMachineCounts) {
  Write("self", "0::/\n");
  HostProbe probe = Probe();
  EXPECT_EQ(probe.limit_bytes(), 0);
  HostLook look;
  probe.LookDeeply(&look);
  EXPECT_GT(look.used_bytes, 0);
  EXPECT_LT(look.used_bytes, probe.machine_bytes());
}

class HostBlocksTest : public ::testing::Test {
 protected:
  HostBlocksTest() { blocks_.Begin(box_.get()); }

  static const void* At(uint64_t address) {
    return reinterpret_cast<const void*>(address);
  }

  const std::unique_ptr<Box> box_ = std::make_unique<Box>();
  StackTable stacks_;
  HostBlocks blocks_{&stacks_};
};

TEST_F(HostBlocksTest, EstimateOfSmallBlocksIsUnbiased) {
  constexpr uint64_t kBytes = 1000;
  constexpr uint64_t kCount = 3'000'000;
  for (uint64_t i = 1; i <= kCount; ++i) {
    if (HostBlocks::Draws(kBytes)) {
      blocks_.AddNative(Owner::kNative, At(i * 1024), kBytes, 0);
    }
  }
  // Some 5,700 are drawn: a standard error of 1.3 %.
  EXPECT_NEAR(static_cast<double>(blocks_.BytesOf(Owner::kNative)),
              static_cast<double>(kBytes * kCount), 0.06 * kBytes * kCount);
}

TEST_F(HostBlocksTest, BlockCountsUntilItEndsOrItsAddressIsUsedAgain) {
  blocks_.AddNative(Owner::kNative, At(0x10000), 1 << 20, 0);
  blocks_.AddNative(Owner::kPython, At(0x20000), 1 << 20, 0);
  EXPECT_EQ(blocks_.BytesOf(Owner::kNative), 1 << 20);
  // Its end was not seen.
  blocks_.AddNative(Owner::kNative, At(0x10000), 2 << 20, 0);
  EXPECT_EQ(blocks_.BytesOf(Owner::kNative), 2 << 20);
  blocks_.Remove(At(0x10000));
  blocks_.Remove(At(0x10000));
  blocks_.Remove(At(0x30000));
  EXPECT_EQ(blocks_.BytesOf(Owner::kNative), 0);
  EXPECT_EQ(blocks_.BytesOf(Owner::kPython), 1 << 20);
}

TEST_F(HostBlocksTest, WhatNothingHasTouchedIsKnown) {
  constexpr size_t kBytes = 8 << 20;
  void* const block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  madvise(block, kBytes, MADV_NOHUGEPAGE);
  std::memset(block, 1, 3 << 20);
  blocks_.AddNative(Owner::kNative, block, kBytes, 0);
  // One that is no memory of the process any more.
  blocks_.AddNative(Owner::kPython, At(0x10000), kBytes, 0);
  EXPECT_EQ(blocks_.Untouched({})[static_cast<size_t>(Owner::kNative)],
            5 << 20);
  EXPECT_EQ(blocks_.Untouched({})[static_cast<size_t>(Owner::kPython)], 0);
  // A pool counts its regions itself.
  const std::vector<Region> regions = {
      {reinterpret_cast<uint64_t>(block) - kBytes, 2 * kBytes}};
  EXPECT_EQ(blocks_.Untouched(regions)[static_cast<size_t>(Owner::kNative)], 0);
  munmap(block, kBytes);
}

TEST_F(HostBlocksTest, SiteHasTheLinesOfItsStack) {
  const StackId stack = stacks_.Intern(
      {{"numeric.py", "ones", 88, true}, {"train.py", "step", 7, false}});
  blocks_.AddNative(Owner::kNative, At(0x10000), 1 << 20, stack);
  blocks_.AddNative(Owner::kNative, At(0x20000), 1 << 20, stack);
  ASSERT_EQ(box_->header.site_count, 1);
  const black_box::Site& site = box_->sites[0];
  EXPECT_EQ(std::string(box_->texts + site.text, site.text_bytes),
            "NumPy or another library\t\nl88\tones\tnumeric.py"
            "\nu7\tstep\ttrain.py");
}

}  // namespace
}  // namespace oom_forensics::collector
