// The service on real pipes: what is asked, cancelled and broken off.
#include "converter/service/serve.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "converter/service/frames.h"
#include "converter/service/request_queue.h"
#include "converter/service/service.h"
#include "converter/testing/trace_builder.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::TraceBuilder;

std::string WriteTrace(const std::string& name, int allocations) {
  TraceBuilder trace;
  trace.BaselineRegion(0x10000, 1 << 20);
  for (int i = 0; i < allocations; ++i) {
    trace.Alloc(0x10000 + 256 * i, {"op", "[64]", 1, 256});
  }
  const auto path =
      std::filesystem::path(::testing::TempDir()) / (name + ".xplane.pb");
  std::ofstream(path, std::ios::binary) << trace.Serialize();
  return path;
}

ServiceRequest RequestOf(uint64_t id, const std::string& query) {
  ServiceRequest request;
  request.set_id(id);
  request.set_format(JSON);
  request.set_query(query);
  return request;
}

ServiceRequest AllocationsRequest(uint64_t id) {
  return RequestOf(id, R"({"dataset": "ALLOCATIONS", "at": {"end": true}})");
}

// A service in a thread of its own, and both ends of the pipes to it.
class Conversation {
 public:
  explicit Conversation(const std::string& path) {
    int to[2];
    int from[2];
    EXPECT_EQ(pipe(to), 0);
    EXPECT_EQ(pipe(from), 0);
    in_ = fdopen(to[0], "rb");
    requests_ = fdopen(to[1], "wb");
    out_ = fdopen(from[1], "wb");
    answers_ = fdopen(from[0], "rb");
    thread_ = std::thread([this, path] {
      code_ = Serve(path, "", RunOptions(), in_, out_);
      fclose(out_);
    });
  }

  void Send(const ServiceRequest& request) {
    std::string json;
    ASSERT_TRUE(
        google::protobuf::util::MessageToJsonString(request, &json).ok());
    SendBytes(json);
  }
  void SendBytes(const std::string& bytes) {
    ASSERT_TRUE(WriteFrame(bytes, requests_).ok());
    ASSERT_EQ(fflush(requests_), 0);
  }
  void Cancel(uint64_t id) {
    ServiceRequest request;
    request.set_cancel(id);
    Send(request);
  }

  // The next answer that is not one of progress.
  ServiceReply Answer() {
    while (true) {
      const auto header = ReadFrame(answers_);
      const auto body = ReadFrame(answers_);
      ServiceReply reply;
      EXPECT_TRUE(header.ok() && body.ok());
      if (!header.ok() || !body.ok()) return reply;
      EXPECT_TRUE(
          google::protobuf::util::JsonStringToMessage(*header, &reply.header)
              .ok());
      reply.body = *body;
      if (!reply.header.partial()) return reply;
    }
  }

  int End() {
    fclose(requests_);
    thread_.join();
    fclose(answers_);
    return code_;
  }

 private:
  std::FILE* in_;
  std::FILE* out_;
  std::FILE* requests_;
  std::FILE* answers_;
  std::thread thread_;
  int code_ = -1;
};

TEST(Serve, EveryRequestIsAnsweredOnceWithItsIdInTheirOrder) {
  Conversation talk(WriteTrace("in_order", 3));
  for (uint64_t id = 11; id < 31; ++id) talk.Send(AllocationsRequest(id));
  for (uint64_t id = 11; id < 31; ++id) {
    const ServiceReply reply = talk.Answer();
    EXPECT_EQ(reply.header.id(), id);
    EXPECT_EQ(reply.header.error(), "");
    EXPECT_NE(reply.body.find("\"totalCount\":\"3\""), std::string::npos);
  }
  EXPECT_EQ(talk.End(), 0);
}

TEST(Serve, ACancelledRequestIsAnsweredWithThatAndTheOthersAreNot) {
  Conversation talk(WriteTrace("cancelled", 3));
  // Far more than are answered before the last line of this loop is read.
  constexpr uint64_t kRequests = 2000;
  std::thread reader([&talk] {
    uint64_t cancelled = 0;
    for (uint64_t id = 1; id <= kRequests; ++id) {
      const ServiceReply reply = talk.Answer();
      ASSERT_EQ(reply.header.id(), id);
      if (reply.header.error().empty()) continue;
      EXPECT_EQ(reply.header.code(),
                static_cast<int>(absl::StatusCode::kCancelled));
      EXPECT_EQ(id % 2, 0u) << "nobody cancelled it";
      ++cancelled;
    }
    EXPECT_GT(cancelled, 0u);
  });
  for (uint64_t id = 1; id <= kRequests; ++id) {
    talk.Send(AllocationsRequest(id));
    if (id % 2 == 0) talk.Cancel(id);
  }
  reader.join();
  EXPECT_EQ(talk.End(), 0);
}

TEST(Serve, AQueryThatMakesNoSenseIsAnErrorOfItsRequestAlone) {
  Conversation talk(WriteTrace("senseless", 3));
  const std::string kQueries[] = {R"({"columns":-1})",
                                  R"({"at":{"oom":"x"}})",
                                  "{no json",
                                  "",
                                  R"({"at":1e999})",
                                  R"({"filter":"\ud800"})",
                                  "[]",
                                  std::string(20'000, '[')};
  uint64_t id = 0;
  for (const std::string& query : kQueries) {
    talk.Send(RequestOf(++id, query));
    const ServiceReply reply = talk.Answer();
    EXPECT_EQ(reply.header.id(), id) << query;
    EXPECT_EQ(reply.header.code(),
              static_cast<int>(absl::StatusCode::kInvalidArgument))
        << query;
    talk.Send(AllocationsRequest(++id));
    EXPECT_EQ(talk.Answer().header.error(), "") << query;
  }
  EXPECT_EQ(talk.End(), 0);
}

TEST(Serve, WhatIsNotARequestEndsItWithASentence) {
  Conversation talk(WriteTrace("broken", 1));
  talk.Send(AllocationsRequest(1));
  EXPECT_EQ(talk.Answer().header.id(), 1u);
  talk.SendBytes("{no json");
  const ServiceReply reply = talk.Answer();
  EXPECT_EQ(reply.header.id(), 0u);
  EXPECT_NE(reply.header.error(), "");
  EXPECT_EQ(talk.End(), 1);
}

TEST(Serve, ATraceThatCannotBeReadIsOneSentence) {
  Conversation talk("/nonexistent/trace.xplane.pb");
  const ServiceReply reply = talk.Answer();
  EXPECT_EQ(reply.header.id(), 0u);
  EXPECT_NE(reply.header.error().find("/nonexistent"), std::string::npos);
  EXPECT_EQ(talk.End(), 1);
}

TEST(Service, AnOtherTraceOfANewVersionIsReadAgain) {
  const std::string other = WriteTrace("other", 1);
  TraceBuilder trace;
  trace.BaselineRegion(0x10000, 1 << 20).Alloc(0x10000, {});
  const auto run = trace.Open();
  Service service(run.get(), RunOptions());
  ServiceRequest request = RequestOf(
      1,
      R"({"dataset": "COMPARE", "at": {"end": true}, "other": {"end": true}})");
  request.set_other_path(other);
  request.set_other_version("1");
  const std::string before = service.Answer(request).body;
  WriteTrace("other", 5);
  EXPECT_EQ(service.Answer(request).body, before);
  request.set_other_version("2");
  EXPECT_NE(service.Answer(request).body, before);
}

TEST(RequestQueue, TellsOfTheRequestInHandThatNobodyWaitsForIt) {
  RequestQueue queue;
  queue.Push(AllocationsRequest(1));
  queue.Push(AllocationsRequest(2));
  queue.Take();
  EXPECT_FALSE(queue.IsCancelled());
  queue.Cancel(1);
  EXPECT_TRUE(queue.IsCancelled());
  queue.Take();
  EXPECT_FALSE(queue.IsCancelled());
}

TEST(RequestQueue, OnlyTheRequestThatWasCancelledIs) {
  RequestQueue queue;
  queue.Push(AllocationsRequest(1));
  queue.Push(AllocationsRequest(2));
  queue.Push(AllocationsRequest(3));
  queue.Cancel(2);
  EXPECT_FALSE(queue.Take()->cancelled);
  queue.Cancel(1);
  EXPECT_TRUE(queue.Take()->cancelled);
  EXPECT_FALSE(queue.Take()->cancelled);
  queue.Close();
  EXPECT_FALSE(queue.Take().has_value());
}

}  // namespace
}  // namespace oom_forensics
