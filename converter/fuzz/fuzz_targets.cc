#include "converter/fuzz/fuzz_targets.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "converter/benchmarks/synthetic_trace.h"
#include "converter/black_box/box_trace.h"
#include "converter/datasets/dataset.h"
#include "converter/fuzz/cost_limit.h"
#include "converter/reader/trace_reader.h"
#include "converter/render/render.h"
#include "converter/run/run.h"
#include "converter/service/service.h"
#include "converter/testing/box_builder.h"

namespace oom_forensics {
namespace {

// As `--max-memory-mb` limits it for the plugin.
constexpr uint64_t kMaxResidentBytes = uint64_t{64} << 20;

std::unique_ptr<Run> OpenBytes(std::string_view bytes) {
  ReadOptions options;
  options.allow_truncated = true;
  options.max_resident_bytes = kMaxResidentBytes;
  auto trace = ReadTraceFromBytes(bytes, "fuzz.xplane.pb", options);
  if (!trace.ok()) return nullptr;
  std::vector<std::unique_ptr<HostAnalysis>> hosts;
  hosts.push_back(std::make_unique<HostAnalysis>(*std::move(trace)));
  return std::make_unique<Run>(std::move(hosts));
}

}  // namespace

void FuzzTrace(std::string_view bytes) {
  const CostLimit limit(bytes.size());
  const std::unique_ptr<Run> run = OpenBytes(bytes);
  if (run == nullptr) return;
  for (int kind = DatasetKind_MIN; kind <= DatasetKind_MAX; ++kind) {
    const DatasetEntry* dataset = FindDataset(static_cast<DatasetKind>(kind));
    if (dataset == nullptr) continue;
    Query query;
    query.set_dataset(dataset->kind);
    query.set_columns(50);
    query.set_top(3);
    query.set_group_by(GROUP_SCOPE);
    const auto answer = AnswerQuery({*run, nullptr, query});
    if (!answer.ok()) continue;
    if (!RenderJson(**answer).ok()) __builtin_trap();
    RenderCsv(**answer, dataset->csv_rows);
  }
}

void FuzzBox(std::string_view bytes) {
  constexpr size_t kValueBytes = sizeof(uint64_t);
  constexpr size_t kEditBytes = sizeof(uint32_t) + kValueBytes;
  static const std::string* const whole = new std::string(test::MakeBox());
  std::string box = *whole;
  for (; bytes.size() >= kEditBytes; bytes.remove_prefix(kEditBytes)) {
    uint32_t place;
    std::memcpy(&place, bytes.data(), sizeof(place));
    std::memcpy(box.data() + place % (box.size() - kValueBytes),
                bytes.data() + sizeof(place), kValueBytes);
  }
  // What is left over cuts it.
  if (bytes.size() == 1) {
    box.resize(box.size() / 256 * static_cast<unsigned char>(bytes[0]));
  }
  const CostLimit limit(box.size());
  const auto read = ReadBox::FromBytes(box, "fuzz.oombox");
  if (!read.ok()) return;
  FuzzTrace((*read)->ToTrace(
      Ending(), [](const std::string&, uint32_t) { return "x = y"; }));
}

void FuzzRequest(std::string_view bytes) {
  static const std::unique_ptr<Run>* const run = [] {
    benchmarks::SyntheticTraceOptions options;
    options.events = 2000;
    options.live = 100;
    options.events_per_step = 200;
    return new std::unique_ptr<Run>(
        OpenBytes(benchmarks::MakeSyntheticTrace(options)));
  }();
  // A query may only name other runs that do not exist.
  if (bytes.find("therPath") != std::string_view::npos ||
      bytes.find("ther_path") != std::string_view::npos ||
      bytes.find('\\') != std::string_view::npos) {
    return;
  }
  const CostLimit limit(bytes.size());
  Service service(run->get(), RunOptions());
  const auto answer = [&service](const ServiceRequest& request) {
    if (!RenderJson(service.Answer(request).header).ok()) __builtin_trap();
  };
  ServiceRequest query;
  query.set_query(std::string(bytes));
  answer(query);
  const auto request = ParseRequest(bytes);
  if (request.ok()) answer(*request);
}

}  // namespace oom_forensics
