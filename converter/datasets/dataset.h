// Datasets: questions to a run, and their answers. One file per dataset.
//
// A dataset is a function from a run and a query to the message of
// proto/datasets that answers it. To add one: write <name>.h and
// <name>.cc with such a function, and add its line to dataset_registry.cc.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_DATASET_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_DATASET_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "converter/run/run.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

using DatasetMessage = std::unique_ptr<google::protobuf::Message>;

// What a dataset is computed from.
struct DatasetInput {
  const Run& run;
  // COMPARE: the second run; null: the same one.
  const Run* other_run = nullptr;
  const Query& query;
};

using DatasetFunction = absl::StatusOr<DatasetMessage> (*)(const DatasetInput&);

struct DatasetEntry {
  DatasetKind kind;
  // As on the command line: "memory_timeline".
  std::string_view name;
  DatasetFunction answer;
  // Path of the repeated field that CSV has one line for, "series.columns".
  std::string_view csv_rows;
};

// Null where there is no such dataset.
const DatasetEntry* FindDataset(DatasetKind kind);
const DatasetEntry* FindDataset(std::string_view name);

// The names of all datasets, separated by ", ".
std::string DatasetNames();

// Answers a query; fails where it makes no sense (a host that the run does not
// have), with one sentence, and with Cancelled where the thread's work is
// wanted no more (CancellableWork).
absl::StatusOr<DatasetMessage> AnswerQuery(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_DATASET_H_
