// One small run that can be worked out by hand, and how to ask about it.
#ifndef OOM_FORENSICS_CONVERTER_TESTING_FRAGMENTED_RUN_H_
#define OOM_FORENSICS_CONVERTER_TESTING_FRAGMENTED_RUN_H_

#include <cstdint>
#include <string>

#include "converter/datasets/dataset.h"
#include "converter/datasets/selection.h"
#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics::test {

// The answer to a question that has one.
template <typename Answer>
Answer Get(const Run& run, DatasetKind kind, Query query = {}) {
  query.set_dataset(kind);
  auto answer = AnswerQuery({run, nullptr, query});
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? static_cast<const Answer&>(**answer) : Answer();
}

// What is said to a question that has none.
inline std::string Error(const Run& run, DatasetKind kind, Query query) {
  query.set_dataset(kind);
  const auto answer = AnswerQuery({run, nullptr, query});
  EXPECT_FALSE(answer.ok());
  return std::string(answer.status().message());
}

// A question about a moment, as a person writes it ("oom:0").
inline Query At(const std::string& moment) {
  Query query;
  *query.mutable_at() = *ParseMoment(moment);
  return query;
}

// A pool of 16 chunks of 256 bytes, at 0x10000. Half of it is taken by two
// layers, every other chunk is given back, and then 1024 bytes do not fit.
inline constexpr uint64_t kPool = 0x10000;
inline constexpr uint64_t kUnit = 256;

inline uint64_t Place(uint64_t i) { return kPool + i * kUnit; }

inline TraceBuilder Fragmented() {
  TraceBuilder trace;
  trace.BaselineRegion(kPool, 16 * kUnit)
      .BaselineChunk(Place(0), {"init/w", "[16]", 2, 128, 256}, 3'000'000);
  trace.Step(10).Thread(5);
  for (uint64_t i = 1; i < 16; ++i) {
    const std::string layer = i % 2 == 0 ? "model/b" : "model/a";
    trace.Alloc(Place(i), {"StatefulPartitionedCall/" + layer + "/Relu", "[64]",
                           1, 200, 256});
  }
  trace.Step(11);
  for (uint64_t i = 2; i < 16; i += 2) trace.Free(Place(i));
  trace.Fail({"model/c/Conv2D", "[16,16]", 1, 1000, 0}, {true, 16 * kUnit, ""});
  trace.EndStep();
  return trace;
}

}  // namespace oom_forensics::test

#endif  // OOM_FORENSICS_CONVERTER_TESTING_FRAGMENTED_RUN_H_
