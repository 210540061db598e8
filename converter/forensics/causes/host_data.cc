// Large tensors that no op made: arrays of NumPy that were handed over whole.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/forensics/keepers.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Part of the memory in use that such tensors must hold.
constexpr double kHostDataShare = 0.25;
// Where a keeper is a local variable of what TensorFlow generates for an op:
// "(gen_nn_ops.py:1434)".
constexpr const char* kOpWrapper = "(gen_";
// Smaller ones are constants and single batches.
constexpr double kTensorShare = 0.1;

// Says so where an op made a tensor as large as one of them: the whole of it is
// one batch.
std::string OneBatchOfAll(const OomCase& oom,
                          const absl::flat_hash_set<Row>& host_rows) {
  for (const Row row : oom.live()) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    if (host_rows.contains(row) || oom.host().OpOf(site).empty() ||
        oom.host().ShapeOf(site).empty()) {
      continue;
    }
    const bool is_all =
        std::any_of(host_rows.begin(), host_rows.end(), [&](Row whole) {
          return oom.replay().SiteOf(whole).requested_bytes ==
                 site.requested_bytes;
        });
    if (!is_all) continue;
    return absl::StrCat("All of it is one batch, ", oom.host().ShapeOf(site),
                        ": name a batch_size, predict() and evaluate() take "
                        "one, too, and a model called on an array does not.");
  }
  return "";
}

// Whether calls of the program are recorded with their stacks. What came from
// NumPy has one then, and what a thread of an input pipeline put together to a
// batch, as little of an op, has none.
bool HasStacks(const OomCase& oom) {
  return std::any_of(oom.live().begin(), oom.live().end(), [&oom](Row row) {
    return oom.replay().SiteOf(row).stack != kNoStack;
  });
}

// How many examples are in the one of them that the refused op is called on: an
// op that ran by itself, and nothing but this call of TensorFlow's wrapper for
// it holds the tensor. 0: none is.
int64_t ExamplesOfOneCall(const OomCase& oom,
                          const absl::flat_hash_set<Row>& host_rows) {
  std::vector<int64_t> dims;
  if (oom.site().mode != SiteMode::kEager ||
      !ParseShape(oom.host().ShapeOf(oom.site()), &dims) || dims.empty() ||
      dims[0] < 2) {
    return 0;
  }
  const std::vector<Row> rows(host_rows.begin(), host_rows.end());
  for (const FoundKeeper& keeper : KeepersOf(oom.replay(), rows)) {
    const std::vector<std::string>& chain = keeper.recorded->chain;
    const auto examples = static_cast<uint64_t>(dims[0]);
    if (chain.size() == 1 && absl::StrContains(chain[0], kOpWrapper) &&
        keeper.rows.size() == 1 &&
        oom.replay().SiteOf(keeper.rows[0]).requested_bytes % examples == 0) {
      return dims[0];
    }
  }
  return 0;
}

}  // namespace

std::optional<Cause> FindHostData(const OomCase& oom) {
  absl::flat_hash_set<Row> rows;
  uint64_t bytes = 0;
  const bool has_stacks = HasStacks(oom);
  for (const Row row : oom.live()) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    if (has_stacks && site.stack == kNoStack) continue;
    const std::string& op = oom.host().OpOf(site);
    const uint64_t held = oom.replay().BytesOf(row);
    if ((!op.empty() && op != "_EagerConst") ||
        !IsShareOfUse(oom, held, kTensorShare)) {
      continue;
    }
    rows.insert(row);
    bytes += held;
  }
  if (!IsShareOfUse(oom, bytes, kHostDataShare)) return std::nullopt;
  Cause cause;
  cause.name = "host_data";
  cause.kind = "CAPACITY";
  cause.bytes = bytes;
  cause.sentence = absl::StrCat(
      FormatBytes(bytes), " in ", CountOf(rows.size(), "tensor"),
      " came from NumPy as a whole, a data set perhaps: "
      "fit(array) and from_tensor_slices(array) keep all of it here.");
  const std::string one_batch = OneBatchOfAll(oom, rows);
  if (!one_batch.empty()) absl::StrAppend(&cause.sentence, " ", one_batch);
  const int64_t examples = one_batch.empty() ? ExamplesOfOneCall(oom, rows) : 0;
  if (examples > 0) {
    cause.sentence = absl::StrCat(
        FormatBytes(bytes), " in ", CountOf(rows.size(), "tensor"),
        " came from NumPy, and one call works on all of it, ",
        FormatCount(static_cast<uint64_t>(examples)),
        " examples at once: predict() of a model takes a batch_size, a model "
        "that is called on an array does not.");
  }
  RemedyCandidate candidate;
  candidate.remedy.set_kind("batches_from_host");
  candidate.remedy.set_title(
      "Leave the data set in NumPy, and hand over one batch at a time.");
  candidate.remedy.set_detail(cause.sentence);
  candidate.remedy.set_code(
      examples > 0
          ? "model.predict(array, batch_size=32)  # not model(array)"
          : "tf.data.Dataset.from_generator(batches, output_signature=...)  "
            "# or a keras.utils.PyDataset");
  candidate.scenario = WithoutRows(oom, std::move(rows));
  cause.remedy = std::move(candidate);
  return cause;
}

}  // namespace oom_forensics
