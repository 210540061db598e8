#include "converter/datasets/opening.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "converter/text/story_words.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr int kShown = 3;

// The flight recorder says the same words on stderr, without the line.
std::string WhatHappened(const Oom& oom) {
  const Request& request = oom.request();
  std::string text =
      absl::StrCat(request.who().empty() ? OpOrUnknown(request.op_name())
                                         : Printable(request.who()),
                   " asked ", Printable(oom.allocator()), " for ",
                   FormatBytes(request.requested_bytes()));
  const std::string tensor = TensorText(request);
  if (!tensor.empty()) absl::StrAppend(&text, " (", tensor, ")");
  if (request.step() >= 0) absl::StrAppend(&text, " in step ", request.step());
  absl::StrAppend(&text, " and did not get it");
  const SourceLocation& source = request.source();
  const std::string line = LineText(source.line(), source.object());
  if (!line.empty()) absl::StrAppend(&text, ": ", line);
  return text + ".";
}

std::string HowSure(const Remedy& remedy) {
  switch (remedy.sufficiency()) {
    case ENOUGH_ALONE:
      return "enough alone";
    case REQUEST_FITS:
      return "this request then fits; the rest of the step is not known";
    case UNCERTAIN:
      return "uncertain";
    default:
      break;
  }
  if (remedy.with().empty()) return "not enough";
  return absl::StrCat(
      "not enough without ",
      absl::StrReplaceAll(absl::StrJoin(remedy.with(), " or "), {{"_", " "}}));
}

// Remedies come with the best first; one that is not enough is worth a try only
// where there is nothing better.
int WorthTrying(const Oom& oom) {
  const auto& remedies = oom.remedies();
  const auto useless =
      std::find_if(remedies.begin(), remedies.end(), [](const Remedy& remedy) {
        return remedy.sufficiency() == NOT_ENOUGH && remedy.with().empty();
      });
  const int better = static_cast<int>(useless - remedies.begin());
  return std::min({kShown, std::max(better, 1), remedies.size()});
}

// What keeps most of a holder's tensors, as "list 'losses' in train
// (train.py:41)"; empty where nothing is known to keep half of them.
std::string KeptBy(const Oom& oom, const Holder& holder) {
  for (const Keeper& keeper : oom.keepers()) {
    const Allocation& kept = keeper.example();
    if (kept.op_name() == holder.example().op_name() &&
        TensorText(kept) == TensorText(holder.example()) &&
        keeper.allocated_bytes() >= holder.allocated_bytes() / 2 &&
        !keeper.chain().empty()) {
      return Printable(keeper.chain(0));
    }
  }
  return "";
}

std::string HolderText(const Oom& oom, const Holder& holder) {
  const Allocation& example = holder.example();
  std::string text = absl::StrCat(FormatBytes(holder.allocated_bytes()), " in ",
                                  CountOf(holder.count(), "tensor"), ": ",
                                  OpOrUnknown(example.op_name()));
  const std::string tensor = TensorText(example);
  if (!tensor.empty()) absl::StrAppend(&text, " ", tensor);
  const std::string line =
      LineText(example.source().line(), example.source().object());
  if (!line.empty()) absl::StrAppend(&text, ", ", line);
  const std::string keeper = KeptBy(oom, holder);
  if (!keeper.empty()) absl::StrAppend(&text, ", kept by ", keeper);
  return text;
}

}  // namespace

void FillOpening(Oom* oom) {
  for (Remedy& remedy : *oom->mutable_remedies()) {
    remedy.set_how_sure(HowSure(remedy));
  }
  Opening* opening = oom->mutable_opening();
  opening->set_what_happened(WhatHappened(*oom));
  opening->set_remedies(WorthTrying(*oom));
  for (int i = 0; i < std::min(kShown, oom->holders_size()); ++i) {
    opening->add_holders(HolderText(*oom, oom->holders(i)));
  }
}

}  // namespace oom_forensics
