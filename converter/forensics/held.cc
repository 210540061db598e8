#include "converter/forensics/held.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/text/text.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// How the chain of a keeper begins that is a tape of the program's own.
constexpr char kTape[] = "GradientTape ";
// How the class of TensorFlow's variables ends: ResourceVariable, and others.
constexpr char kVariable[] = "Variable";
// After the name of a container: "(20 items)", "(20 of at most 800 items)".
constexpr std::string_view kMost = " of at most ";

// Reads digits off the front of `text`; 0: there are none.
uint64_t TakeNumber(std::string_view* text) {
  uint64_t number = 0;
  size_t digits = 0;
  while (digits < text->size() && digits < 18 && IsDigit((*text)[digits])) {
    number = number * 10 + static_cast<uint64_t>((*text)[digits++] - '0');
  }
  text->remove_prefix(digits);
  return number;
}

// The size that a link ends with. False: it names none.
bool ReadSize(std::string_view link, Container* container) {
  if (link.empty() || link.back() != ')') return false;
  const size_t open = link.rfind('(');
  if (open == std::string_view::npos) return false;
  std::string_view size = link.substr(open + 1);
  if (size.empty() || !IsDigit(size.front())) return false;
  container->items = TakeNumber(&size);
  if (ConsumePrefix(&size, kMost)) container->most_items = TakeNumber(&size);
  return StartsWith(size, " item");
}

// The container of a chain; false: it names a single tensor.
bool ReadContainer(const std::vector<std::string>& chain,
                   Container* container) {
  for (const std::string& link : chain) {
    container->is_root = container->name.empty();
    if (!container->is_root) absl::StrAppend(&container->name, " -> ");
    absl::StrAppend(&container->name, link);
    if (ReadSize(link, container)) return true;
  }
  container->name = chain.front();
  container->is_root = false;
  return chain.size() > 1;
}

bool IsVariableLink(const std::string& link) {
  return EndsWith(link.substr(0, link.find(' ')), kVariable);
}

// A local variable comes with the stack of its function, the innermost first.
bool IsLibraryLocal(const HostTrace& host, const RecordedKeeper& recorded) {
  const RecordedStack& stack = host.source.StackAt(recorded.stack);
  return !stack.frames.empty() && stack.frames.front().is_library;
}

}  // namespace

HeldTable::HeldTable(const AllocatorReplay& replay, std::vector<Row> live)
    : replay_(&replay), live_(std::move(live)) {
  if (replay.host().source.keepers().empty()) return;
  absl::flat_hash_map<uint64_t, Row> row_at;
  for (const Row row : LiveWhenKeepersWereSought(replay, live_)) {
    row_at[replay.trace().address[row]] = row;
  }
  for (const RecordedKeeper& recorded : replay.host().source.keepers()) {
    if (!recorded.chain.empty()) ReadKeeper(recorded, row_at);
  }
  std::stable_sort(keepers_.begin(), keepers_.end(),
                   [](const FoundKeeper& a, const FoundKeeper& b) {
                     return a.bytes > b.bytes;
                   });
  FillContainers();
}

void HeldTable::ReadKeeper(const RecordedKeeper& recorded,
                           const absl::flat_hash_map<uint64_t, Row>& row_at) {
  FoundKeeper keeper;
  keeper.recorded = &recorded;
  for (const uint64_t address : recorded.addresses) {
    const auto row = row_at.find(address);
    if (row == row_at.end()) continue;
    keeper.rows.push_back(row->second);
    keeper.bytes += replay_->BytesOf(row->second);
  }
  if (keeper.rows.empty()) return;
  std::sort(keeper.rows.begin(), keeper.rows.end());
  // Each out-of-memory of a run lists them again.
  const bool is_known = std::any_of(
      keepers_.begin(), keepers_.end(), [&keeper](const FoundKeeper& other) {
        return other.rows == keeper.rows &&
               other.recorded->chain == keeper.recorded->chain;
      });
  if (is_known) return;
  kept_.insert(keeper.rows.begin(), keeper.rows.end());
  if (IsVariableLink(recorded.chain.back())) {
    variables_.insert(keeper.rows.begin(), keeper.rows.end());
  }
  if (StartsWith(recorded.chain.front(), kTape)) {
    on_tape_.insert(keeper.rows.begin(), keeper.rows.end());
  }
  keepers_.push_back(std::move(keeper));
}

void HeldTable::FillContainers() {
  std::map<std::string, Container> by_name;
  for (const FoundKeeper& keeper : keepers_) {
    Container read;
    if (!ReadContainer(keeper.recorded->chain, &read) ||
        StartsWith(keeper.recorded->chain.front(), kTape)) {
      continue;
    }
    read.is_of_library = IsLibraryLocal(replay_->host(), *keeper.recorded);
    Container& container = by_name.try_emplace(read.name, read).first->second;
    container.rows.insert(container.rows.end(), keeper.rows.begin(),
                          keeper.rows.end());
  }
  for (auto& [name, container] : by_name) {
    std::sort(container.rows.begin(), container.rows.end());
    container.rows.erase(
        std::unique(container.rows.begin(), container.rows.end()),
        container.rows.end());
    uint64_t variable_bytes = 0;
    for (const Row row : container.rows) {
      container.bytes += replay_->BytesOf(row);
      if (IsVariable(row)) variable_bytes += replay_->BytesOf(row);
    }
    container.holds_variables = 2 * variable_bytes > container.bytes;
    containers_.push_back(std::move(container));
  }
  std::stable_sort(
      containers_.begin(), containers_.end(),
      [](const Container& a, const Container& b) { return a.bytes > b.bytes; });
  for (size_t i = 0; i < containers_.size(); ++i) {
    for (const Row row : containers_[i].rows) container_of_.emplace(row, i);
  }
}

const Container* HeldTable::ContainerOf(Row row) const {
  const auto found = container_of_.find(row);
  return found == container_of_.end() ? nullptr : &containers_[found->second];
}

std::vector<Row> HeldTable::OnTape() const {
  std::vector<Row> rows(on_tape_.begin(), on_tape_.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<FoundKeeper> HeldTable::KeepersOf(
    const std::vector<Row>& rows) const {
  const absl::flat_hash_set<Row> asked(rows.begin(), rows.end());
  std::vector<FoundKeeper> found;
  for (const FoundKeeper& known : keepers_) {
    FoundKeeper keeper;
    keeper.recorded = known.recorded;
    for (const Row row : known.rows) {
      if (!asked.contains(row)) continue;
      keeper.rows.push_back(row);
      keeper.bytes += replay_->BytesOf(row);
    }
    if (!keeper.rows.empty()) found.push_back(std::move(keeper));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundKeeper& a, const FoundKeeper& b) {
                     return a.bytes > b.bytes;
                   });
  return found;
}

std::string HeldTable::KeptBySentence(const std::vector<Row>& rows) const {
  // A list keeps its tensors by as many chains, which begin with it.
  std::map<std::string, absl::flat_hash_set<Row>> rows_by_root;
  for (const FoundKeeper& keeper : KeepersOf(rows)) {
    rows_by_root[keeper.recorded->chain.front()].insert(keeper.rows.begin(),
                                                        keeper.rows.end());
  }
  const std::string* root = nullptr;
  uint64_t most_bytes = 0;
  for (const auto& [name, kept] : rows_by_root) {
    uint64_t bytes = 0;
    for (const Row row : kept) bytes += replay_->BytesOf(row);
    if (bytes <= most_bytes) continue;
    most_bytes = bytes;
    root = &name;
  }
  if (root == nullptr) return "";
  return absl::StrCat(FormatBytes(most_bytes), " of it are kept by ", *root,
                      ".");
}

uint64_t HeldTable::ResidentBytes() const {
  uint64_t bytes = live_.capacity() * sizeof(Row);
  for (const FoundKeeper& keeper : keepers_) {
    bytes += sizeof(keeper) + 4 * keeper.rows.capacity() * sizeof(Row);
  }
  return bytes;
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

}  // namespace oom_forensics
