// An OOM of a built trace, judged.
#ifndef OOM_FORENSICS_CONVERTER_TESTING_JUDGED_OOM_H_
#define OOM_FORENSICS_CONVERTER_TESTING_JUDGED_OOM_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "converter/forensics/leak_finder.h"
#include "converter/forensics/oom_case/oom_case.h"
#include "converter/forensics/remedies/remedies.h"
#include "converter/forensics/verdict/verdict.h"
#include "converter/testing/trace_builder.h"

namespace oom_forensics::test {

struct Judged {
  std::unique_ptr<Run> run;
  std::unique_ptr<OomCase> oom;
  Verdict verdict;
  std::vector<Remedy> remedies;

  const Remedy* FindRemedy(const std::string& kind) const {
    for (const Remedy& remedy : remedies) {
      if (remedy.kind() == kind) return &remedy;
    }
    return nullptr;
  }
  double ShareOf(const std::string& kind) const {
    for (const VerdictPart& part : verdict.parts()) {
      if (part.kind() == kind) return part.share();
    }
    return 0;
  }
};

// A request for a tensor.
inline Ask Tensor(const std::string& op, uint64_t bytes,
                  const std::string& shape = "[4,4]", int64_t dtype = 1) {
  return {op, shape, dtype, bytes};
}

// A refusal that ends a job whose pool may have so many bytes; 0: not known.
inline Failure Oom(uint64_t limit_bytes) { return {true, limit_bytes, ""}; }

// The number-th OOM of the trace.
inline Judged Judge(TraceBuilder& trace,
                    const std::optional<DevicePressure>& device = std::nullopt,
                    size_t number = 0) {
  Judged judged;
  judged.run = trace.Open();
  const HostAnalysis& host = *judged.run->Load(0);
  const AllocatorReplay& replay = *host.allocators()[0];
  const Row failure = replay.failure_positions()[number];
  judged.oom = std::make_unique<OomCase>(
      replay, host.Roles(replay), failure,
      std::make_shared<const LeakSearchResult>(FindLeaks(replay, failure)),
      device);
  std::vector<Cause> causes = FindCauses(*judged.oom);
  judged.verdict = JudgeOom(*judged.oom, causes);
  judged.remedies =
      FindRemedies(*judged.oom, std::move(causes), judged.verdict);
  return judged;
}

}  // namespace oom_forensics::test

#endif  // OOM_FORENSICS_CONVERTER_TESTING_JUDGED_OOM_H_
