// What grows, or is collected: by objects of the program, by a tensor that is
// made longer each time, by the traces of a function.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/predicates.h"
#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/text/text.h"
#include "converter/trace/site_source.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// Part of the memory in use that what is kept must hold.
constexpr double kCollectedShare = 0.2;
// Fewest outputs, each as large as the one before it or larger, that show how a
// tensor is made again and again.
constexpr size_t kMinSizes = 8;
// TensorFlow calls each trace of a function "step" so, with a number after it.
constexpr std::string_view kTrace = "__inference_";
// A function has some traces as a rule: for training, evaluation, a last batch
// that is smaller.
constexpr size_t kMinTraces = 6;

// "outputs of Relu [512,2048]"; of several shapes the op alone.
std::string OutputsOf(const OomCase& oom, const std::vector<Row>& rows) {
  const AllocationSite& site = oom.host().sites.Get(LargestSite(oom, rows));
  const bool is_one_shape = std::all_of(rows.begin(), rows.end(), [&](Row row) {
    return oom.replay().SiteOf(row).op != site.op ||
           oom.replay().SiteOf(row).shape == site.shape;
  });
  const std::string& op = oom.host().OpOf(site);
  const std::string shape = is_one_shape ? oom.host().ShapeOf(site) : "";
  return absl::StrCat(
      op.empty() ? "tensors that no op made" : absl::StrCat("outputs of ", op),
      shape.empty() ? "" : " ", shape);
}

// Keras' predict() keeps the outputs of all batches where they were computed,
// until it joins them. No program can make it let go of them sooner.
bool IsKeptByPredict(const Remedy& remedy) {
  return remedy.keeper_size() > 0 &&
         StartsWith(remedy.keeper(0), "list 'outputs' in predict (trainer.py:");
}

void PredictInParts(Remedy* remedy) {
  remedy->set_title("Predict fewer examples in one call.");
  remedy->set_detail(
      "predict() of Keras keeps the outputs of all batches on the device until "
      "it joins them at the end, and then gives them out as NumPy arrays: "
      "after each of several calls they are gone from the device.");
  remedy->set_code(
      "np.concatenate([model.predict(part) for part in np.array_split(x, 8)])");
}

// Whether the refused request is like one of the rows: the next of a data set
// that is read into a list, say.
bool IsNextItem(const OomCase& oom, const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&oom](Row row) {
    const AllocationSite& item = oom.replay().SiteOf(row);
    return item.op == oom.site().op &&
           item.requested_bytes == oom.requested_bytes();
  });
}

// Whether most of the rows have the shape of a variable: gradients that a
// program adds up, which it lets go of once it has applied them.
bool AreLikeVariables(const OomCase& oom, const std::vector<Row>& rows) {
  std::set<StringId> shapes;
  for (const Row row : oom.live()) {
    if (oom.held().IsVariable(row)) {
      shapes.insert(oom.replay().SiteOf(row).shape);
    }
  }
  const auto alike = std::count_if(rows.begin(), rows.end(), [&](Row row) {
    return shapes.count(oom.replay().SiteOf(row).shape) != 0;
  });
  return 2 * static_cast<size_t>(alike) > rows.size();
}

// Constants of graphs are recorded without a type.
bool IsConstant(const AllocationSite& site) {
  return site.dtype == 0 && site.op != kEmptyString;
}

// "step" of "__inference_step_220"; empty: it is not the name of a trace.
std::string_view FunctionOfTrace(std::string_view op) {
  const size_t at = op.find(kTrace);
  if (at == std::string_view::npos) return "";
  op.remove_prefix(at + kTrace.size());
  op = op.substr(0, op.find('/'));
  const size_t number = op.rfind('_');
  if (number == std::string_view::npos || number + 1 == op.size() ||
      !std::all_of(op.begin() + static_cast<std::ptrdiff_t>(number) + 1,
                   op.end(), [](unsigned char c) { return std::isdigit(c); })) {
    return "";
  }
  return op.substr(0, number);
}

// The function with the most traces, and how many; the name is empty if there
// is none.
std::pair<std::string, size_t> MostTraced(const HostTrace& host) {
  std::map<std::string, std::set<std::string>, std::less<>> traces;
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    const std::string& op = host.OpOf(host.sites.Get(id));
    const std::string_view function = FunctionOfTrace(op);
    if (!function.empty()) traces[std::string(function)].insert(op);
  }
  std::pair<std::string, size_t> most;
  for (const auto& [function, names] : traces) {
    if (names.size() > most.second) most = {function, names.size()};
  }
  return most;
}

}  // namespace

std::optional<Cause> FindLeak(const OomCase& oom) {
  if (oom.leaks().empty()) return std::nullopt;
  std::vector<Row> kept;
  std::vector<Row> released;
  double bytes_per_step = 0;
  for (const FoundLeak& leak : oom.leaks()) {
    kept.insert(kept.end(), leak.rows.begin(), leak.rows.end());
    // The newest is what the step works on.
    const std::ptrdiff_t newest = leak.kind == FoundLeak::Kind::kGrowth ? 1 : 0;
    released.insert(released.end(), leak.rows.begin(),
                    leak.rows.end() - newest);
    if (IsWorthIt(oom, leak.live_bytes)) bytes_per_step += leak.trend.slope;
  }
  // Next to nothing is no reason, though less than that may be missing.
  const uint64_t bytes = BytesOf(oom, kept);
  if (released.empty() || !IsWorthIt(oom, bytes)) return std::nullopt;
  const FoundLeak& largest = oom.leaks().front();
  const std::string unit = oom.steps().unit();
  const std::string outputs = absl::StrCat(FormatCount(largest.rows.size()),
                                           " ", OutputsOf(oom, largest.rows));
  Cause cause = MakeCause(
      "leak", kLeakLike, bytes,
      absl::StrCat(
          largest.kind == FoundLeak::Kind::kGrowth
              ? absl::StrCat(
                    "Memory grows with every ", unit,
                    " and is not given back: ", outputs, " are kept, ",
                    FormatBytes(static_cast<uint64_t>(largest.trend.slope)),
                    " more per ", unit, ", ", FormatBytes(largest.live_bytes),
                    " by now.")
              : absl::StrCat(outputs,
                             " are still live, though others like them are "
                             "freed within a ",
                             unit, "."),
          AndKeptBy(oom, kept)));
  if (bytes_per_step >= 1) {
    cause.growth.sentence =
        absl::StrCat("Memory would go on growing by up to ",
                     FormatBytes(static_cast<uint64_t>(bytes_per_step)),
                     " per ", unit, ": this only delays the failure.");
  }
  AddRelease(
      oom, released,
      {kReleaseLeak,
       absl::StrCat("Stop keeping ", CountOf(released.size(), "old tensor"),
                    ", most of them ",
                    DescribeSite(oom.host(), oom.host().sites.Get(LargestSite(
                                                 oom, largest.rows))),
                    "."),
       "", "history.append(float(loss))  # not the tensor; or tensor.numpy()"},
      &cause);
  // Where Python told of no holder, that they grow is all that is known.
  cause.remedy->is_estimate = oom.held().KeepersOf(released).empty();
  cause.remedy->remedy.set_detail(
      "Something in the program still refers to them: a list, a closure, a "
      "callback's logs. Keep plain numbers there, or copies on the host "
      "(tensor.numpy()), and release the tensors at the end of each step.");
  if (IsKeptByPredict(cause.remedy->remedy)) {
    PredictInParts(&cause.remedy->remedy);
  }
  return cause;
}

std::optional<Cause> FindCollection(const OomCase& oom) {
  if (oom.collections().empty()) return std::nullopt;
  const FoundLeak& found = oom.collections().front();
  // Little is much where the request would fit without it.
  const bool decides = found.end == FoundLeak::End::kMayBeEmptied &&
                       IsWorthIt(oom, found.live_bytes) &&
                       found.live_bytes >= oom.short_by_bytes();
  if (!decides && !IsShareOfUse(oom, found.live_bytes, kCollectedShare)) {
    return std::nullopt;
  }
  const Container& container = *found.container;
  std::string end;
  Growth growth;
  // What it came to hold since then is why other work does not fit now.
  const bool fit_before = found.end == FoundLeak::End::kMayBeEmptied &&
                          oom.step() != nullptr && oom.step()->is_recorded() &&
                          !IsNextItem(oom, found.rows) &&
                          !AreLikeVariables(oom, found.rows);
  switch (found.end) {
    case FoundLeak::End::kHasBound:
      end = absl::StrCat(
          " It keeps at most ", FormatCount(container.most_items), " items",
          container.items == 0
              ? std::string()
              : absl::StrCat(", ",
                             FormatBytes(container.bytes / container.items *
                                         container.most_items),
                             " in all"),
          ".");
      if (container.items < container.most_items) {
        growth = {absl::StrCat(container.name, " keeps growing, to ",
                               FormatCount(container.most_items), " items."),
                  true};
      }
      break;
    case FoundLeak::End::kIsFull:
      end =
          " It was filled before the failing work began, and no longer grows.";
      break;
    default:
      end = absl::StrCat(
          fit_before ? absl::StrCat(" Earlier, a ", oom.steps().unit(),
                                    " like the one that was refused memory "
                                    "finished.")
                     : std::string(),
          " The trace does not show whether it would have grown further.");
      growth = {absl::StrCat("The trace does not show how much more ",
                             container.name, " would have held."),
                true};
  }
  const LineId line = DominantLine(oom.replay(), found.rows);
  Cause cause = MakeCause(
      kCollection, fit_before ? kLeakLike : "CAPACITY", found.live_bytes,
      absl::StrCat(
          FormatBytes(found.live_bytes), " in ",
          CountOf(found.rows.size(), "tensor"), " are kept by ", container.name,
          line == kNoLine
              ? ""
              : absl::StrCat(", made at ", DescribeLine(oom.host(), line)),
          ".", end));
  cause.growth = std::move(growth);
  AddRelease(oom, found.rows,
             {kReleaseCollection,
              absl::StrCat("Let ", container.name,
                           " hold less, or NumPy arrays on the host."),
              "If the items are summed or concatenated in the end, add each to "
              "one tensor as it comes.",
              "kept.append(tensor.numpy())"},
             &cause);
  // How much of it the work in hand needs on the device is not in the trace;
  // work like it did not need what has come since.
  cause.remedy->is_estimate = !fit_before;
  return cause;
}

std::optional<Cause> FindGrowingTensor(const OomCase& oom) {
  // The newest outputs that the program holds, by op and calling place.
  std::map<std::pair<StringId, StackIndex>, std::vector<Row>> live;
  for (const Row row : oom.live()) {
    const AllocationSite& site = oom.replay().SiteOf(row);
    if (site.stack != kNoStack && site.mode == SiteMode::kEager &&
        oom.held().IsKept(row) && !oom.held().IsVariable(row) &&
        !oom.held().IsOnTape(row)) {
      live[{site.op, site.stack}].push_back(row);
    }
  }
  const std::vector<Row>* rows = nullptr;
  std::pair<StringId, StackIndex> made;
  for (const auto& [place, held] : live) {
    if (rows == nullptr || BytesOf(oom, held) > BytesOf(oom, *rows)) {
      rows = &held;
      made = place;
    }
  }
  if (rows == nullptr ||
      !IsShareOfUse(oom, BytesOf(oom, *rows), kCollectedShare)) {
    return std::nullopt;
  }
  std::vector<uint64_t> sizes;
  const AllocatorTrace& trace = oom.replay().trace();
  for (Row row = trace.baseline_rows; row <= oom.failure(); ++row) {
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    const AllocationSite& site = oom.replay().SiteOf(row);
    if (site.op == made.first && site.stack == made.second) {
      sizes.push_back(site.requested_bytes);
    }
  }
  const std::set<uint64_t> different(sizes.begin(), sizes.end());
  if (different.size() < kMinSizes || sizes.size() <= rows->size() ||
      !std::is_sorted(sizes.begin(), sizes.end())) {
    return std::nullopt;
  }
  const uint64_t step_bytes =
      (*different.rbegin() - *different.begin()) / (different.size() - 1);
  const std::string& op = oom.host().strings.Get(made.first);
  Cause cause = MakeCause(
      "growing_tensor", kLeakLike, BytesOf(oom, *rows),
      absl::StrCat(
          "The outputs of ", op, " at ",
          DescribeSource(oom.host(), oom.replay().SiteOf(rows->front())),
          " grow by ", FormatBytes(step_bytes), " a time, from ",
          FormatBytes(*different.begin()), " to ",
          FormatBytes(*different.rbegin()), " in ",
          FormatCount(different.size()),
          " sizes, and each is a copy that exists beside the one before it: ",
          FormatBytes(BytesOf(oom, *rows)), " in ",
          CountOf(rows->size(), "tensor"), " by now.", AndKeptBy(oom, *rows)));
  cause.growth = {absl::StrCat("The outputs of ", op,
                               " keep growing: this only delays the failure, "
                               "or is enough if few more follow."),
                  true};
  AddRelease(oom, *rows,
             {kPreallocate,
              absl::StrCat("Write into one tensor of the full length, instead "
                           "of making a longer copy at each ",
                           op, "."),
              "The old and the new tensor exist at the same time, and each new "
              "size leaves a gap that the next one does not fit into.",
              "cache = tf.Variable(tf.zeros([batch, longest, width]))\n"
              "cache[:, position].assign(new)"},
             &cause);
  // How long it gets in the end is not in the trace.
  cause.remedy->is_estimate = true;
  return cause;
}

std::optional<Cause> FindRetracing(const OomCase& oom) {
  std::vector<Row> older;
  uint64_t bytes = 0;
  for (const FoundLeak& leak : oom.leaks()) {
    if (leak.kind != FoundLeak::Kind::kGrowth ||
        !IsConstant(oom.replay().SiteOf(leak.rows.front()))) {
      continue;
    }
    // The newest belongs to the trace that is at work.
    older.insert(older.end(), leak.rows.begin(), leak.rows.end() - 1);
    bytes += leak.live_bytes;
  }
  if (older.empty() || !IsWorthIt(oom, bytes)) return std::nullopt;
  const auto [function, traces] = MostTraced(oom.host());
  if (traces < kMinTraces) return std::nullopt;
  Cause cause = MakeCause(
      "retracing", kLeakLike, bytes,
      absl::StrCat(
          "The function ", function, " was traced ", FormatCount(traces),
          " times, and each trace keeps its constants: ", FormatBytes(bytes),
          "."));
  cause.growth.sentence =
      "Each further trace keeps the same amount again: this only delays the "
      "failure.";
  AddRelease(
      oom, older,
      {kStopRetracing,
       absl::StrCat("Have ", function, " traced once, not for every call."),
       "A tf.function is traced again for each new Python number, shape and "
       "object that it receives, and when it is created again, for example in "
       "a loop. Pass it tensors, create it once, and let shapes vary by "
       "input_signature or reduce_retracing=True.",
       absl::StrCat(function, "(x, tf.constant(number))  # not the number")},
      &cause);
  return cause;
}

}  // namespace oom_forensics
