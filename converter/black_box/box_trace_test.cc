#include "converter/black_box/box_trace.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "converter/black_box/ending.h"
#include "converter/datasets/dataset.h"
#include "converter/reader/trace_reader.h"
#include "converter/render/host_memory_text.h"
#include "converter/run/run.h"
#include "converter/testing/box_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kBoxMiB = uint64_t{1} << 20;

std::string LineOne(const std::string&, uint32_t) { return "kept.append(x)"; }

HostMemory MemoryOf(const std::string& bytes, const Ending& ending) {
  const auto box = ReadBox::FromBytes(bytes, "a.oombox");
  EXPECT_TRUE(box.ok()) << box.status();
  auto trace = ReadTraceFromBytes((*box)->ToTrace(ending, LineOne),
                                  "worker.xplane.pb", ReadOptions());
  EXPECT_TRUE(trace.ok()) << trace.status();
  std::vector<std::unique_ptr<HostAnalysis>> hosts;
  hosts.push_back(std::make_unique<HostAnalysis>(*std::move(trace)));
  const Run run(std::move(hosts));
  Query query;
  query.set_dataset(HOST_MEMORY);
  const auto answer = AnswerQuery({run, nullptr, query});
  EXPECT_TRUE(answer.ok()) << answer.status();
  return static_cast<const HostMemory&>(**answer);
}

Ending ByKernel() {
  Ending ending;
  ending.end = "kernel";
  ending.signal = SIGKILL;
  return ending;
}

std::string Refused(const std::string& bytes) {
  return std::string(ReadBox::FromBytes(bytes, "a.oombox").status().message());
}

TEST(BoxTraceTest, ReportNamesLimitGrowthAndLineOfAKilledProcess) {
  const HostMemory memory = MemoryOf(test::MakeBox(), ByKernel());
  const std::string report = absl::StrJoin(DeathLines(memory), "\n");
  EXPECT_NE(report.find("its cgroup /sys/fs/cgroup/jobs may use 250.0 MiB"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("grew by 20.0 MiB a second"), std::string::npos)
      << report;
  EXPECT_NE(report.find("What line 7 of train.py (`kept.append(x)`) makes "
                        "stays in memory: 200.0 MiB in 200 blocks"),
            std::string::npos)
      << report;
}

TEST(BoxTraceTest, ReportSaysThatTheCgroupWasKilledAsAWhole) {
  Ending ending = ByKernel();
  ending.whole_group = true;
  const HostMemory memory = MemoryOf(test::MakeBox(), ending);
  EXPECT_EQ(memory.series(0).end().sentence(),
            "The kernel killed the process (SIGKILL) because memory ran out, "
            "and all others of its cgroup with it (memory.oom.group): its "
            "cgroup /sys/fs/cgroup/jobs may use 250.0 MiB.");
}

TEST(BoxTraceTest, ReportNamesTheProcessesOwnLimitThatRefusedMemory) {
  const auto series_of = [](const std::string& end, uint64_t used_mib) {
    Ending ending;
    ending.end = end;
    return MemoryOf(test::MakeBox([=](black_box::Box* box) {
                      box->header.limit_bytes = 0;
                      box->header.own_limit =
                          black_box::OwnLimit::kAddressSpace;
                      box->header.own_limit_bytes = 300 * kBoxMiB;
                      box->header.own_used_bytes = used_mib * kBoxMiB;
                    }),
                    ending)
        .series(0);
  };
  const HostMemorySeries refused = series_of("memory_error", 100);
  EXPECT_EQ(refused.end().sentence(),
            "The process ended by a MemoryError that nothing caught: its own "
            "limit (RLIMIT_AS, 300.0 MiB) refused memory.");
  EXPECT_EQ(refused.verdict().kind(), "HOST_LIMIT");
  EXPECT_EQ(refused.verdict().parts(1).kind(), "HOST_GROWTH");
  const HostMemorySeries aborted = series_of("abort", 290);
  EXPECT_EQ(aborted.end().sentence(),
            "The process aborted (SIGABRT) where its own limit (RLIMIT_AS, "
            "300.0 MiB) refused memory.");
  EXPECT_EQ(aborted.verdict().kind(), "HOST_LIMIT");
  EXPECT_EQ(series_of("abort", 100).verdict().kind(), "NOT_MEMORY");
  EXPECT_EQ(series_of("kernel", 290).verdict().kind(), "HOST_KILLED");
}

TEST(BoxTraceTest, ReportSaysHowToLearnTheLineThatWasNotWatched) {
  const HostMemory memory = MemoryOf(test::MakeBox([](black_box::Box* box) {
                                       box->header.watches_malloc = 0;
                                       box->header.site_count = 0;
                                     }),
                                     ByKernel());
  const std::string report = absl::StrJoin(DeathLines(memory), "\n");
  EXPECT_NE(report.find("grew by 20.0 MiB a second"), std::string::npos)
      << report;
  EXPECT_NE(
      report.find("start the program with `oom-forensics run -- python ...`"),
      std::string::npos)
      << report;
}

// The bytes of a trace that every site of a box writes its whole text into
// would be a thousand times those of the box.
TEST(BoxTraceTest, SitesThatShareOneTextCostNoMoreThanTheFile) {
  const std::string bytes = test::MakeBox([](black_box::Box* box) {
    std::memset(box->texts, '\t', sizeof(box->texts));
    for (size_t i = 0; i < sizeof(box->texts); i += 8) box->texts[i] = '\n';
    box->header.site_count = black_box::kMaxSites;
    for (black_box::Site& site : box->sites) {
      site.text = 0;
      site.text_bytes = sizeof(box->texts);
    }
    uint32_t site = 0;
    for (black_box::Block& block : box->blocks) {
      block.address = 0x7f0000000000 + uint64_t{site} * kBoxMiB;
      block.bytes = 4096 + site;
      block.site = site++ % black_box::kMaxSites;
      block.weight_thousandths = 1000;
    }
  });
  const auto box = ReadBox::FromBytes(bytes, "a.oombox");
  ASSERT_TRUE(box.ok()) << box.status();
  EXPECT_LT((*box)->ToTrace(Ending(), LineOne).size(), 4 * bytes.size());
}

TEST(BoxTraceTest, NamesThatAreNotUtf8AreReadByProtobuf) {
  const HostMemory memory =
      MemoryOf(test::MakeBox([](black_box::Box* box) {
                 box->texts[3] = '\xff';
                 std::strcpy(box->header.command, "python \xe9t\xe9.py");
               }),
               ByKernel());
  EXPECT_EQ(memory.series(0).holders_size(), 1);
  std::string serialized;
  EXPECT_TRUE(memory.SerializeToString(&serialized));
}

TEST(BoxTraceTest, OutOfMemoryRightBeforeTheEndIsWhereItsStoryIs) {
  const auto box_of = [](int64_t seconds_before) {
    return *ReadBox::FromBytes(
        test::MakeBox([&](black_box::Box* box) {
          std::strcpy(box->header.oom_run, "/logs/plugins/profile/x_oom");
          box->header.oom_run_ns = box->rings[0].samples[99].time_ns -
                                   seconds_before * 1'000'000'000;
        }),
        "a.oombox");
  };
  EXPECT_EQ(box_of(1)->oom_run(), "/logs/plugins/profile/x_oom");
  EXPECT_EQ(box_of(60)->oom_run(), "");
}

TEST(BoxTraceTest, PartsAddUpToWhatIsResident) {
  const HostMemory memory = MemoryOf(test::MakeBox(), ByKernel());
  for (const HostMemoryColumn& column : memory.series(0).columns()) {
    uint64_t sum = 0;
    for (const uint64_t bytes : column.part_bytes()) sum += bytes;
    EXPECT_EQ(sum, column.resident_bytes());
  }
}

TEST(BoxTraceTest, SmallBlocksCountForThoseThatWereNotDrawn) {
  const HostMemory memory =
      MemoryOf(test::MakeBox([](black_box::Box* box) {
                 for (black_box::Block& block : box->blocks) {
                   if (block.address == 0) continue;
                   block.bytes = 1024;
                   block.weight_thousandths = 512'000;
                 }
               }),
               ByKernel());
  const HostMemoryHolder& holder = memory.series(0).holders(0);
  EXPECT_EQ(holder.bytes(), 100 * kBoxMiB);
  EXPECT_EQ(holder.count(), 200 * 512);
  EXPECT_TRUE(holder.estimated());
}

TEST(BoxTraceTest, DeathWithoutShortageIsNotCalledOne) {
  const HostMemory memory = MemoryOf(test::MakeBox([](black_box::Box* box) {
                                       box->header.limit_bytes = 2000 * kBoxMiB;
                                     }),
                                     Ending());
  EXPECT_EQ(memory.series(0).verdict().kind(), "NOT_MEMORY");
}

// An activity that began at the first sample, in a process that then grew by
// 198 MiB of 250.
black_box::Activity* AddActivity(black_box::Box* box,
                                 black_box::ActivityKind kind,
                                 const char* name) {
  black_box::Activity* const activity = &box->activities[0];
  activity->first_ns = box->header.started_ns;
  activity->last_ns = box->header.started_ns;
  activity->count = 1;
  std::strcpy(activity->name, name);
  std::strcpy(activity->where, "u7\tmain\ttrain.py");
  activity->kind = kind;
  return activity;
}

// The verdict's parts beyond that the kernel killed the process and that it
// grew.
std::vector<std::string> CausesOf(
    const std::function<void(black_box::Box*)>& change) {
  const HostMemory memory = MemoryOf(test::MakeBox(change), ByKernel());
  std::vector<std::string> kinds;
  for (const VerdictPart& part : memory.series(0).verdict().parts()) {
    if (part.kind() != "HOST_KILLED" && part.kind() != "HOST_GROWTH") {
      kinds.push_back(part.kind());
    }
  }
  return kinds;
}

TEST(BoxTraceTest, TracesAreTheCauseIfManyTookMuch) {
  const auto traced = [](uint64_t times, uint64_t mib) {
    return CausesOf([=](black_box::Box* box) {
      black_box::Activity* const trace =
          AddActivity(box, black_box::ActivityKind::kTrace, "step");
      trace->count = times;
      trace->grown_bytes = mib * kBoxMiB;
    });
  };
  EXPECT_THAT(traced(20, 150), ElementsAre("RETRACING"));
  EXPECT_THAT(traced(3, 150), IsEmpty());
  EXPECT_THAT(traced(20, 10), IsEmpty());
}

TEST(BoxTraceTest, SaveIsTheCauseIfTheProcessDiedInItAndGrewByIt) {
  const auto saved = [](uint32_t under_way, uint64_t begin_mib) {
    return CausesOf([=](black_box::Box* box) {
      black_box::Activity* const save =
          AddActivity(box, black_box::ActivityKind::kSave, "Model.save");
      save->under_way = under_way;
      save->begin_anon_bytes = begin_mib * kBoxMiB;
    });
  };
  EXPECT_THAT(saved(1, 100), ElementsAre("CHECKPOINT"));
  EXPECT_THAT(saved(0, 100), IsEmpty());
  EXPECT_THAT(saved(1, 230), IsEmpty());
}

TEST(BoxTraceTest, BufferIsTheCauseIfItMayHoldWhatTensorFlowGrewBy) {
  const auto buffered = [](const char* name, uint64_t elements) {
    return CausesOf([=](black_box::Box* box) {
      black_box::Activity* const buffer =
          AddActivity(box, black_box::ActivityKind::kBuffer, name);
      buffer->live = elements;
      buffer->element_bytes = kBoxMiB;
      for (black_box::Sample& sample : box->rings[0].samples) {
        sample.pool_bytes = sample.native_bytes;
      }
    });
  };
  EXPECT_THAT(buffered("shuffle", 1000), ElementsAre("PIPELINE_BUFFER"));
  EXPECT_THAT(buffered("shuffle", 10), IsEmpty());
  EXPECT_THAT(buffered("cache", 0), ElementsAre("PIPELINE_BUFFER"));
}

// What decides by itself how much it keeps is told by the tensors of that size.
TEST(BoxTraceTest, BufferThatChoosesItsSizeIsTheCauseIfSuchTensorsAreLive) {
  const auto prefetched = [](int32_t dtype, uint64_t element_bytes) {
    return CausesOf([=](black_box::Box* box) {
      black_box::Activity* const buffer =
          AddActivity(box, black_box::ActivityKind::kBuffer, "prefetch");
      buffer->element_bytes = element_bytes;
      for (uint32_t i = 0; i < box->header.site_count; ++i) {
        box->sites[i].dtype = dtype;
      }
      for (black_box::Sample& sample : box->rings[0].samples) {
        sample.pool_bytes = sample.native_bytes;
      }
    });
  };
  EXPECT_THAT(prefetched(1, kBoxMiB), ElementsAre("PIPELINE_BUFFER"));
  EXPECT_THAT(prefetched(1, 2 * kBoxMiB), IsEmpty());
  // Arrays, of no op.
  EXPECT_THAT(prefetched(0, kBoxMiB), IsEmpty());
}

// Neither tensors nor Python explain what it grew by then.
TEST(BoxTraceTest, ExecutablesAreTheCauseIfManyAreKeptAndNothingElseGrew) {
  const auto compiled = [](uint64_t executables, bool native_grew) {
    return CausesOf([=](black_box::Box* box) {
      AddActivity(box, black_box::ActivityKind::kCompile, "step")->live =
          executables;
      for (black_box::Sample& sample : box->rings[0].samples) {
        if (!native_grew) sample.native_bytes = 0;
      }
    });
  };
  EXPECT_THAT(compiled(20, false), ElementsAre("COMPILE_CACHE"));
  EXPECT_THAT(compiled(20, true), IsEmpty());
  EXPECT_THAT(compiled(2, false), IsEmpty());
}

TEST(BoxTraceTest, FunctionThatIsCompiledForEachValueIsToldAsRetracing) {
  const auto traced_for = [](const char* what) {
    return CausesOf([=](black_box::Box* box) {
      AddActivity(box, black_box::ActivityKind::kTrace, "step");
      box->activities[1].first_ns = box->activities[0].first_ns;
      std::strcpy(box->activities[1].name, "step");
      box->activities[1].live = 20;
      box->activities[1].kind = black_box::ActivityKind::kCompile;
      box->activities[0].count = 20;
      box->activities[0].grown_bytes = 150 * kBoxMiB;
      std::strcpy(box->activities[0].what, what);
      for (black_box::Sample& sample : box->rings[0].samples) {
        sample.native_bytes = 0;
      }
    });
  };
  EXPECT_THAT(traced_for("rate: 0.1, 0.2"), ElementsAre("RETRACING"));
  EXPECT_THAT(traced_for("x: (8, 2), (9, 2)"),
              ElementsAre("COMPILE_CACHE", "RETRACING"));
}

TEST(BoxTraceTest, LineThatHoldsMuchIsTheCauseWhereNothingGrew) {
  const auto held = [](uint64_t limit_mib) {
    return CausesOf([=](black_box::Box* box) {
      box->header.limit_bytes = limit_mib * kBoxMiB;
      for (black_box::Sample& sample : box->rings[0].samples) {
        sample.rss_anon_bytes = 220 * kBoxMiB;
        sample.used_bytes = limit_mib * kBoxMiB;
      }
    });
  };
  EXPECT_THAT(held(240), ElementsAre("HOST_LIVE"));
  EXPECT_THAT(held(900), ElementsAre("OTHER_PROCESSES"));
}

TEST(BoxTraceTest, BlockAsAWholeIsToldBesideASmallOneOfItsLine) {
  const HostMemory memory =
      MemoryOf(test::MakeBox([](black_box::Box* box) {
                 for (black_box::Block& block : box->blocks) block.address = 0;
                 for (int i = 0; i < 2; ++i) {
                   box->blocks[i].address = 0x7f0000000000 + i * kBoxMiB;
                   box->blocks[i].weight_thousandths = 1000;
                 }
                 box->blocks[0].bytes = kBoxMiB;
                 box->blocks[1].bytes = 200 * kBoxMiB;
               }),
               ByKernel());
  EXPECT_EQ(memory.series(0).verdict().parts(1).sentence(),
            "A block of 200.0 MiB was made as a whole at line 7 of train.py "
            "(`kept.append(x)`).");
}

TEST(BoxTraceTest, OthersAreTheCauseIfTheyHaveMuchOfWhatIsInUse) {
  const auto own = [](uint64_t mib) {
    return CausesOf([=](black_box::Box* box) {
      for (black_box::Sample& sample : box->rings[0].samples) {
        sample.rss_anon_bytes = mib * kBoxMiB;
        sample.native_bytes = 0;
      }
    });
  };
  EXPECT_THAT(own(100), ElementsAre("OTHER_PROCESSES"));
  EXPECT_THAT(own(220), ElementsAre("HOST_LIVE"));
}

TEST(BoxTraceTest, WhatMallocHoldsBackIsTheCauseIfItIsMuch) {
  const auto held = [](uint64_t mib) {
    return CausesOf([=](black_box::Box* box) {
      for (black_box::Sample& sample : box->rings[0].samples) {
        sample.native_bytes = 0;
        sample.malloc_used_bytes = 25 * kBoxMiB;
        sample.malloc_free_bytes = mib * kBoxMiB;
      }
    });
  };
  EXPECT_THAT(held(100), ElementsAre("HELD_BY_MALLOC"));
  EXPECT_THAT(held(20), IsEmpty());
}

TEST(BoxTraceTest, SaysInOneSentenceWhyABoxCannotBeRead) {
  const std::string box = test::MakeBox();
  EXPECT_EQ(Refused(box.substr(0, 5000)),
            "a.oombox is cut off: 5000 of " +
                std::to_string(sizeof(black_box::Box)) + " bytes are there.");
  EXPECT_NE(Refused(test::MakeBox([](black_box::Box* newer) {
              newer->header.version = 7;
            })).find("of version 7; this program reads version 3"),
            std::string::npos);
  EXPECT_NE(Refused("").find("is not a black box"), std::string::npos);
}

// As the kernel writes them where it kills a group as a whole
// (memory.oom.group).
TEST(BoxTraceTest, CountOfKillsInACgroupOfVersion2TellsWhoKilledAndWhom) {
  const std::string folder = std::string(std::getenv("TEST_TMPDIR")) + "/group";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/memory.oom.group") << "1\n";
  std::ofstream(folder + "/memory.events")
      << "low 0\nhigh 0\nmax 31\noom 1\noom_kill 3\noom_group_kill 1\n";
  const auto ending_of = [&](uint64_t kills_at_start) {
    const auto box =
        ReadBox::FromBytes(test::MakeBox([&](black_box::Box* box) {
                             std::strcpy(box->header.cgroup, folder.c_str());
                             box->header.kills_at_start = kills_at_start;
                           }),
                           "a.oombox");
    return FindEnding(**box, std::nullopt);
  };
  EXPECT_EQ(ending_of(0).end, "kernel");
  EXPECT_TRUE(ending_of(0).whole_group);
  EXPECT_EQ(ending_of(3).end, "unknown");
  EXPECT_FALSE(ending_of(3).whole_group);
  std::ofstream(folder + "/memory.oom.group") << "0\n";
  EXPECT_FALSE(ending_of(0).whole_group);
}

TEST(BoxTraceTest, KernelLogTellsOfThisProcessAlone) {
  const std::string bytes = test::MakeBox();
  const auto box = ReadBox::FromBytes(bytes, "a.oombox");
  ASSERT_TRUE(box.ok());
  const int64_t boot_ns = (*box)->last_ns() - 60'000'000'000;
  const std::string log =
      "3,10,59000000,-;Memory cgroup out of memory: Killed process 77 "
      "(python)\n"
      "3,11,61000000,-;Memory cgroup out of memory: Killed process 1234 "
      "(python) total-vm:1kB\n SUBSYSTEM=x\n";
  const Ending ending = EndingInKernelLog(log, **box, boot_ns);
  EXPECT_EQ(ending.end, "kernel");
  EXPECT_NE(ending.seen.find("Killed process 1234"), std::string::npos);
  // One of the same number, an hour before.
  EXPECT_EQ(EndingInKernelLog(log, **box, boot_ns - 3'600'000'000'000).end,
            "unknown");
  EXPECT_EQ(EndingInKernelLog(
                "4,12,61000000,-;python[1234]: segfault at 0 ip 0 sp 0\n",
                **box, boot_ns)
                .signal,
            SIGSEGV);
}

}  // namespace
}  // namespace oom_forensics
