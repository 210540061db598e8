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

// OOMs of an allocator whose moments are stored, the first ones.
inline constexpr size_t kMaxStoredOoms = 8;

// About one allocator of a host; `ooms` are the numbers of its OOMs.
std::vector<PageQuestion> QuestionsAbout(const std::string& host,
                                         const AllocatorInfo& allocator,
                                         const std::vector<int32_t>& ooms);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_HTML_PAGE_QUESTIONS_H_
