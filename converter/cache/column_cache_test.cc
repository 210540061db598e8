// Opening a trace again by its kept columns: the same answers, and none from
// columns that are not what was kept.
#include "converter/cache/column_cache.h"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "converter/benchmarks/synthetic_trace.h"
#include "converter/cache/column_file.h"
#include "converter/datasets/dataset.h"
#include "converter/reader/trace_reader.h"
#include "converter/render/render.h"
#include "converter/run/run.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

namespace fs = std::filesystem;

class ColumnCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "column_cache";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    limits_.min_trace_bytes = 0;
    limits_.min_free_bytes = 0;
  }

  fs::path kept() const { return folder_ / "kept"; }
  ColumnCache cache() const { return {kept().string(), limits_}; }

  // A trace that nobody has changed for an hour.
  std::string Put(const std::string& name, const std::string& bytes) const {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    fs::last_write_time(
        path, fs::file_time_type::clock::now() - std::chrono::hours(1));
    return path;
  }
  std::string PutSynthetic(const std::string& name) const {
    benchmarks::SyntheticTraceOptions options;
    options.events = 60'000;
    return Put(name, benchmarks::MakeSyntheticTrace(options));
  }

  static std::unique_ptr<HostAnalysis> Read(const std::string& path) {
    ReadOptions options;
    options.allow_truncated = true;
    auto trace = ReadTrace(path, options);
    return trace.ok() ? std::make_unique<HostAnalysis>(*std::move(trace))
                      : nullptr;
  }

  ColumnCache::Entry EntryOf(const std::string& path) const {
    return cache().EntryOf(path, true).value();
  }
  bool Keep(const std::string& path) const {
    return cache().Keep(EntryOf(path), Read(path)->replayed());
  }
  bool IsFound(const std::string& path) const {
    return cache().Find(EntryOf(path)).has_value();
  }
  size_t KeptFiles() const {
    if (!fs::exists(kept())) return 0;
    return static_cast<size_t>(std::distance(fs::directory_iterator(kept()),
                                             fs::directory_iterator()));
  }

  fs::path folder_;
  ColumnCache::Limits limits_;
};

// What every dataset says, asked in two ways.
std::vector<std::string> Answers(std::unique_ptr<HostAnalysis> host) {
  std::vector<std::unique_ptr<HostAnalysis>> hosts;
  hosts.push_back(std::move(host));
  const Run run(std::move(hosts));
  std::vector<std::string> answers;
  for (int kind = DatasetKind_MIN; kind <= DatasetKind_MAX; ++kind) {
    if (FindDataset(static_cast<DatasetKind>(kind)) == nullptr) continue;
    for (const GroupBy group : {GROUP_NONE, GROUP_ROLE}) {
      Query query;
      query.set_dataset(static_cast<DatasetKind>(kind));
      query.set_columns(200);
      query.set_top(5);
      query.set_group_by(group);
      const auto answer = AnswerQuery({run, nullptr, query});
      answers.push_back(answer.ok() ? RenderJson(**answer).value()
                                    : std::string(answer.status().message()));
    }
  }
  return answers;
}

TEST_F(ColumnCacheTest, EveryAnswerIsTheSame) {
  std::vector<std::string> paths = {PutSynthetic("synthetic.xplane.pb")};
  for (const auto& seed :
       fs::directory_iterator("converter/fuzz/corpus/trace")) {
    std::ifstream file(seed.path(), std::ios::binary);
    paths.push_back(
        Put(seed.path().filename(), {std::istreambuf_iterator<char>(file),
                                     std::istreambuf_iterator<char>()}));
  }
  size_t compared = 0;
  for (const std::string& path : paths) {
    std::unique_ptr<HostAnalysis> host = Read(path);
    if (host == nullptr) continue;
    if (!cache().Keep(EntryOf(path), host->replayed())) continue;
    auto kept_host = cache().Find(EntryOf(path));
    ASSERT_TRUE(kept_host.has_value()) << path;
    EXPECT_EQ(Answers(std::make_unique<HostAnalysis>(*std::move(kept_host))),
              Answers(std::move(host)))
        << path;
    ++compared;
  }
  EXPECT_GT(compared, 3u);
}

TEST_F(ColumnCacheTest, AnyDamageIsFound) {
  const std::string path = PutSynthetic("a.xplane.pb");
  ASSERT_TRUE(Keep(path));
  const std::string entry = EntryOf(path).path;
  std::ifstream file(entry, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file),
                          std::istreambuf_iterator<char>()};
  const auto write = [&entry](const std::string& bytes) {
    std::ofstream(entry, std::ios::binary | std::ios::trunc) << bytes;
  };
  int missed = 0;
  for (size_t at = 64; at < whole.size(); at += whole.size() / 150) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write(damaged);
    missed += IsFound(path);
    write(whole.substr(0, at));
    EXPECT_FALSE(IsFound(path)) << at;
  }
  // The zeros between columns are nothing's.
  EXPECT_LE(missed, 2);
  for (size_t at = 0; at < 56; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x01);
    write(damaged);
    EXPECT_FALSE(IsFound(path)) << at;
  }
  write(whole + "more");
  EXPECT_FALSE(IsFound(path));
  write("");
  EXPECT_FALSE(IsFound(path));
  // And is written again.
  ASSERT_TRUE(Keep(path));
  EXPECT_TRUE(IsFound(path));
}

TEST_F(ColumnCacheTest, AChangedTraceIsReadAgain) {
  const std::string path = PutSynthetic("a.xplane.pb");
  ASSERT_TRUE(Keep(path));
  EXPECT_TRUE(IsFound(path));
  EXPECT_FALSE(cache().Find(*cache().EntryOf(path, false)).has_value());
  fs::last_write_time(path,
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_FALSE(IsFound(path));
  // It may still be written.
  fs::last_write_time(path, fs::file_time_type::clock::now());
  EXPECT_FALSE(cache().EntryOf(path, true).has_value());
}

TEST_F(ColumnCacheTest, WhatOthersCouldWriteIsNotBelieved) {
  const std::string path = PutSynthetic("a.xplane.pb");
  ASSERT_TRUE(Keep(path));
  const fs::path entry = EntryOf(path).path;
  fs::permissions(entry, fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(IsFound(path));
  fs::permissions(entry, fs::perms::group_write, fs::perm_options::remove);
  EXPECT_TRUE(IsFound(path));
  fs::rename(entry, folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", entry);
  EXPECT_FALSE(IsFound(path));
  // Nor is anything put where others could.
  fs::permissions(kept(), fs::perms::others_all, fs::perm_options::add);
  EXPECT_FALSE(Keep(path));
}

TEST_F(ColumnCacheTest, ManyMayKeepTheSameTrace) {
  const std::string path = PutSynthetic("a.xplane.pb");
  const std::unique_ptr<HostAnalysis> host = Read(path);
  ASSERT_TRUE(Keep(path));
  std::atomic<int> running{3};
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) {
    writers.emplace_back([&] {
      for (int again = 0; again < 10; ++again) {
        EXPECT_TRUE(cache().Keep(EntryOf(path), host->replayed()));
      }
      --running;
    });
  }
  while (running > 0) EXPECT_TRUE(IsFound(path));
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(KeptFiles(), 1u);
}

TEST_F(ColumnCacheTest, AFullDiskLeavesNothing) {
  const std::string path = PutSynthetic("a.xplane.pb");
  limits_.min_free_bytes = uint64_t{1} << 60;
  EXPECT_FALSE(Keep(path));
  EXPECT_EQ(KeptFiles(), 0u);
  // And full in the middle of it.
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1 << 20;
  setrlimit(RLIMIT_FSIZE, &small);
  limits_.min_free_bytes = 0;
  EXPECT_FALSE(Keep(path));
  const Column<uint64_t> column(std::vector<uint64_t>(1 << 18));
  ArchiveWriter archive;
  archive(column);
  EXPECT_FALSE(
      WriteColumnFile((kept() / "columns-1").string(), archive, {false}));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_EQ(KeptFiles(), 0u);
  EXPECT_TRUE(
      WriteColumnFile((kept() / "columns-1").string(), archive, {false}));
}

TEST_F(ColumnCacheTest, WhatWasUsedLongestAgoMakesRoom) {
  const std::string a = PutSynthetic("a.xplane.pb");
  const std::string b = PutSynthetic("b.xplane.pb");
  const std::string c = PutSynthetic("c.xplane.pb");
  ASSERT_TRUE(Keep(a));
  ASSERT_TRUE(Keep(b));
  limits_.max_bytes = fs::file_size(EntryOf(a).path) * 5 / 2;
  const auto hours_ago = [](int hours) {
    return fs::file_time_type::clock::now() - std::chrono::hours(hours);
  };
  fs::last_write_time(EntryOf(a).path, hours_ago(2));
  fs::last_write_time(EntryOf(b).path, hours_ago(1));
  EXPECT_TRUE(IsFound(a));  // Used now.
  const fs::path half_written = EntryOf(b).path + ".part-abcdef";
  std::ofstream(half_written) << "half";
  fs::last_write_time(half_written, hours_ago(1));
  ASSERT_TRUE(Keep(c));
  EXPECT_FALSE(fs::exists(half_written));
  EXPECT_TRUE(IsFound(a));
  EXPECT_FALSE(IsFound(b));
  EXPECT_TRUE(IsFound(c));
  limits_.max_bytes = 1000;
  EXPECT_FALSE(Keep(b));
}

TEST_F(ColumnCacheTest, WhoIsDroppedLeavesNothingHalfWritten) {
  const std::string path = PutSynthetic("a.xplane.pb");
  const std::unique_ptr<HostAnalysis> host = Read(path);
  for (int i = 0; i < 20; ++i) {
    cache().KeepBeside(EntryOf(path), host->replayed());
    EXPECT_LE(KeptFiles(), 1u);
    if (KeptFiles() == 1) {
      EXPECT_TRUE(IsFound(path));
    }
  }
}

TEST_F(ColumnCacheTest, ARunIsOpenedByWhatItKept) {
  const std::string path = PutSynthetic("a.xplane.pb");
  const auto open = [&path](uint64_t max_resident_bytes) {
    RunOptions options;
    options.read.max_resident_bytes = max_resident_bytes;
    return Run::Open({"run", {path}}, options);
  };
  setenv("OOM_FORENSICS_CACHE", kept().c_str(), 1);
  setenv("OOM_FORENSICS_COLUMNS_MIB", "0", 1);
  EXPECT_FALSE(ColumnCache::OfUser().EntryOf(path, false).has_value());
  unsetenv("OOM_FORENSICS_COLUMNS_MIB");
  // Too small a trace.
  EXPECT_TRUE(open(0).ok());
  EXPECT_EQ(KeptFiles(), 0u);
  // A limit is one for kept columns, too.
  EXPECT_FALSE(open(1000).ok());
  unsetenv("OOM_FORENSICS_CACHE");
}

}  // namespace
}  // namespace oom_forensics
