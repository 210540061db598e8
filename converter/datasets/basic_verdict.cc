#include "converter/datasets/basic_verdict.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "converter/text/bytes.h"

namespace oom_forensics {
namespace {

void AddEvidence(const char* name, uint64_t bytes, const std::string& sentence,
                 Verdict* verdict) {
  Evidence* evidence = verdict->add_evidence();
  evidence->set_name(name);
  evidence->set_value(static_cast<double>(bytes));
  evidence->set_unit("bytes");
  evidence->set_sentence(sentence);
}

}  // namespace

Verdict BasicVerdict(const Oom& oom) {
  Verdict verdict;
  const uint64_t request = oom.request().rounded_bytes();
  const uint64_t available = oom.free_bytes() + oom.growable_bytes();
  if (available < request) {
    verdict.set_kind("CAPACITY");
    verdict.set_sentence(absl::StrCat(
        "The request of ", FormatBytes(request), " is more than all that was ",
        "left: ", FormatBytes(oom.free_bytes()), " free and ",
        FormatBytes(oom.growable_bytes()),
        " that the pool may still grow by."));
  } else {
    verdict.set_kind("FRAGMENTATION");
    verdict.set_sentence(absl::StrCat(
        FormatBytes(available), " were left, enough for the request of ",
        FormatBytes(request), ", but in pieces: the largest is ",
        FormatBytes(oom.largest_free_bytes()), "."));
  }
  if (request > oom.largest_free_bytes()) {
    verdict.set_short_by_bytes(request - oom.largest_free_bytes());
  }
  VerdictPart* part = verdict.add_parts();
  part->set_kind(verdict.kind());
  part->set_share(1.0);
  part->set_sentence(verdict.sentence());
  AddEvidence("rounded_bytes", request,
              absl::StrCat("Asked for: ", FormatBytes(request), "."), &verdict);
  AddEvidence("free_bytes", oom.free_bytes(),
              absl::StrCat("Free: ", FormatBytes(oom.free_bytes()), "."),
              &verdict);
  AddEvidence("largest_free_bytes", oom.largest_free_bytes(),
              absl::StrCat(
                  "Largest hole: ", FormatBytes(oom.largest_free_bytes()), "."),
              &verdict);
  AddEvidence("growable_bytes", oom.growable_bytes(),
              absl::StrCat("The pool may grow by: ",
                           FormatBytes(oom.growable_bytes()), "."),
              &verdict);
  return verdict;
}

}  // namespace oom_forensics
