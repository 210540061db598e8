// The border to C: no exception crosses it, whatever the heap does, and a
// TensorFlow whose profiler plugins are laid out otherwise is left alone.
#include "collector/c_api.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <string>

#include "collector/pluggable_profiler_api.h"
#include "collector/testing/failing_heap.h"

namespace oom_forensics::collector {
namespace {

// What TensorFlow hands to a plugin.
struct Registration {
  TP_Profiler profiler = {sizeof(TP_Profiler), nullptr, nullptr};
  TP_ProfilerFns functions = {sizeof(TP_ProfilerFns), nullptr, nullptr, nullptr,
                              nullptr};
  TF_ProfilerRegistrationParams params = {sizeof(TF_ProfilerRegistrationParams),
                                          nullptr,
                                          TP_MAJOR,
                                          3,
                                          0,
                                          &profiler,
                                          &functions,
                                          nullptr,
                                          nullptr};

  // Whether the plugin has put its own functions into it.
  bool IsFilledIn() const {
    return functions.start != nullptr && functions.stop != nullptr &&
           functions.collect_data_xspace != nullptr &&
           params.destroy_profiler != nullptr &&
           params.destroy_profiler_fns != nullptr;
  }

  // Whether what the loader put there is all that is there.
  bool IsAsLoaded() const {
    return functions.start == nullptr && functions.stop == nullptr &&
           functions.collect_data_xspace == nullptr &&
           params.destroy_profiler == nullptr &&
           params.destroy_profiler_fns == nullptr;
  }
};

TEST(ProfilerPluginTest, IsRegisteredWhereTheStructsAreThoseItKnows) {
  Registration made;
  TF_InitProfiler(&made.params, nullptr);
  EXPECT_TRUE(made.IsFilledIn());
  EXPECT_STREQ(made.profiler.device_type, "OOM_FORENSICS");
  // Newer ones have more at their end.
  Registration newer;
  newer.params.struct_size += 8;
  newer.profiler.struct_size += 8;
  newer.functions.struct_size += 8;
  newer.params.minor_version += 1;
  TF_InitProfiler(&newer.params, nullptr);
  EXPECT_TRUE(newer.IsFilledIn());
}

TEST(ProfilerPluginTest, WhatTheLoaderFilledInStaysWhereTheStructsAreOthers) {
  Registration params, profiler, functions, version;
  params.params.struct_size -= 1;
  profiler.profiler.struct_size -= 1;
  functions.functions.struct_size -= 1;
  version.params.major_version += 1;
  for (Registration* other : {&params, &profiler, &functions, &version}) {
    TF_InitProfiler(&other->params, nullptr);
    EXPECT_TRUE(other->IsAsLoaded());
  }
}

// Calls `function` with a heap that fails at its first allocation, then with
// one that fails at its second, and so on until it does without a failure.
// Returns how often one failed.
int FailAtEachAllocation(const std::function<void()>& function) {
  for (int allowed = 0;; ++allowed) {
    test::FailHeapAfter(allowed);
    function();
    test::MendHeap();
    if (!test::HasHeapFailed()) return allowed;
  }
}

TEST(CApiTest, NoExceptionLeavesAnyFunctionWhereverMemoryEnds) {
  Registration made;
  TF_InitProfiler(&made.params, nullptr);
  const std::string logdir =
      std::filesystem::path(testing::TempDir()) / "c_api_test";
  const OomForensics_Frame frame = {1, 2, 3, "train.py", "main"};
  char* error = nullptr;
  const auto free_error = [&error] {
    OomForensics_Free(error);
    error = nullptr;
  };
  const std::function<void()> functions[] = {
      [] { OomForensics_Free(OomForensics_Status()); },
      [] {
        OomForensics_Free(
            OomForensics_CheckSetting("max_reports", "not a number at all"));
      },
      [] { OomForensics_Free(OomForensics_Configure("max_reports", "3")); },
      [] { OomForensics_Free(OomForensics_Configure("source_lines", "1")); },
      [&] { OomForensics_LearnLogdir(logdir.c_str()); },
      [] { OomForensics_BeginStep(1); },
      [&] {
        OomForensics_Free(OomForensics_Snapshot(logdir.c_str(), &error));
        free_error();
      },
      [&] {
        OomForensics_Free(OomForensics_StartRecording());
        OomForensics_Free(OomForensics_StopRecording(logdir.c_str(), &error));
        free_error();
      },
      [] { OomForensics_Free(OomForensics_MemoryStats()); },
      [] { OomForensics_Free(OomForensics_LiveState()); },
      [] { OomForensics_Free(OomForensics_LastRun()); },
      [] { OomForensics_Free(OomForensics_SummaryFor("shape[8,16] and")); },
      [] { OomForensics_Free(OomForensics_TakeWrittenRuns()); },
      [] { OomForensics_OutOfMemoryCount(); },
      [&] {
        OomForensics_Free(OomForensics_StartStacks(0x030b07f0, &frame, 1));
      },
      [] { OomForensics_SetSourceRoots("/usr/lib/python3\n/opt", "/home/me"); },
      [&] {
        made.functions.start(&made.profiler, nullptr);
        made.functions.stop(&made.profiler, nullptr);
        size_t bytes = 0;
        made.functions.collect_data_xspace(&made.profiler, nullptr, &bytes,
                                           nullptr);
        std::string trace(bytes, 0);
        made.functions.collect_data_xspace(
            &made.profiler, reinterpret_cast<uint8_t*>(trace.data()), &bytes,
            nullptr);
      },
      [] { OomForensics_StopStacks(); },
  };
  int failures = 0;
  for (const auto& function : functions) {
    failures += FailAtEachAllocation(function);
  }
  EXPECT_GT(failures, 100);
  // They still do what they are for.
  char* const folder = OomForensics_Snapshot(logdir.c_str(), &error);
  EXPECT_NE(folder, nullptr) << error;
  OomForensics_Free(folder);
}

}  // namespace
}  // namespace oom_forensics::collector
