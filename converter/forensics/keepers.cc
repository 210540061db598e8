#include "converter/forensics/keepers.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "converter/text/text.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// How the chain of a keeper begins that is a tape of the program's own.
constexpr char kTape[] = "GradientTape ";
// How the class of TensorFlow's variables ends: ResourceVariable, and others.
constexpr char kVariable[] = "Variable";

}  // namespace

std::vector<FoundKeeper> KeepersOf(const AllocatorReplay& replay,
                                   const std::vector<Row>& rows) {
  std::vector<FoundKeeper> found;
  for (const RecordedKeeper& recorded : replay.host().source.keepers()) {
    FoundKeeper keeper;
    keeper.recorded = &recorded;
    for (const Row row : rows) {
      if (std::binary_search(recorded.addresses.begin(),
                             recorded.addresses.end(),
                             replay.trace().address[row])) {
        keeper.rows.push_back(row);
        keeper.bytes += replay.BytesOf(row);
      }
    }
    if (keeper.rows.empty()) continue;
    // They are told anew at each out-of-memory of a run.
    const bool is_known = std::any_of(
        found.begin(), found.end(), [&keeper](const FoundKeeper& other) {
          return other.rows == keeper.rows &&
                 other.recorded->chain == keeper.recorded->chain;
        });
    if (!is_known) found.push_back(std::move(keeper));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundKeeper& a, const FoundKeeper& b) {
                     return a.bytes > b.bytes;
                   });
  return found;
}

std::vector<Row> LiveWhenKeepersWereSought(const AllocatorReplay& replay,
                                           std::vector<Row> rows) {
  std::vector<Position> moments = replay.failure_positions();
  moments.push_back(replay.end_position());
  const auto was_gone = [&](Row row) {
    return std::none_of(moments.begin(), moments.end(), [&](Position moment) {
      return replay.IsLiveAt(row, moment);
    });
  };
  rows.erase(std::remove_if(rows.begin(), rows.end(), was_gone), rows.end());
  return rows;
}

std::vector<Row> RowsOnTape(const AllocatorReplay& replay,
                            const std::vector<Row>& rows) {
  absl::flat_hash_set<Row> taped;
  for (const RecordedKeeper& keeper : replay.host().source.keepers()) {
    if (keeper.chain.empty() || !StartsWith(keeper.chain.front(), kTape)) {
      continue;
    }
    for (const Row row : rows) {
      if (std::binary_search(keeper.addresses.begin(), keeper.addresses.end(),
                             replay.trace().address[row])) {
        taped.insert(row);
      }
    }
  }
  std::vector<Row> sorted(taped.begin(), taped.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

bool IsValueOfVariable(const AllocatorReplay& replay, Row row) {
  const std::vector<RecordedKeeper>& keepers = replay.host().source.keepers();
  return std::any_of(
      keepers.begin(), keepers.end(), [&](const RecordedKeeper& keeper) {
        if (keeper.chain.empty() ||
            !std::binary_search(keeper.addresses.begin(),
                                keeper.addresses.end(),
                                replay.trace().address[row])) {
          return false;
        }
        const std::string& holder = keeper.chain.back();
        return EndsWith(holder.substr(0, holder.find(' ')), kVariable);
      });
}

std::string KeptBySentence(const AllocatorReplay& replay,
                           const std::vector<Row>& rows) {
  // A list keeps its tensors by as many chains, which begin with it.
  std::map<std::string, absl::flat_hash_set<Row>> rows_by_root;
  for (const FoundKeeper& keeper : KeepersOf(replay, rows)) {
    if (keeper.recorded->chain.empty()) continue;
    rows_by_root[keeper.recorded->chain.front()].insert(keeper.rows.begin(),
                                                        keeper.rows.end());
  }
  const std::string* root = nullptr;
  uint64_t most_bytes = 0;
  for (const auto& [name, kept] : rows_by_root) {
    uint64_t bytes = 0;
    for (const Row row : kept) bytes += replay.BytesOf(row);
    if (bytes <= most_bytes) continue;
    most_bytes = bytes;
    root = &name;
  }
  if (root == nullptr) return "";
  return absl::StrCat(FormatBytes(most_bytes), " of it are kept by ", *root,
                      ".");
}

}  // namespace oom_forensics
