// What an offline page holds answers to (docs/offline-page.md).
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_HTML_PAGE_QUESTIONS_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_HTML_PAGE_QUESTIONS_H_

#include <string>
#include <vector>

#include "proto/datasets.pb.h"

namespace oom_forensics {

struct PageQuestion {
  // By which the page finds the answer.
  Query key;
  // What is asked to get it: `key` with its columns, order and size.
  Query query;
};

// Questions about one allocator of a host.
class QuestionsAbout {
 public:
  QuestionsAbout(const std::string& host, const std::string& allocator);

  // What is asked once. The answer to STEPS is among them.
  std::vector<PageQuestion> Once(bool has_oom) const;
  // About its state at a moment.
  std::vector<PageQuestion> At(const Moment& at) const;

 private:
  PageQuestion Make(DatasetKind dataset) const;

  Filter filter_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_HTML_PAGE_QUESTIONS_H_
