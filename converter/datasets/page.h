// The page of a list that a query asks for.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_PAGE_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_PAGE_H_

#include <algorithm>
#include <cstddef>

#include "proto/datasets.pb.h"

namespace oom_forensics {

// Rows begin <= i < end of a list.
struct Page {
  size_t begin = 0;
  size_t end = 0;
};

// From the query's offset on, `limit` rows: 100 where it is 0, and 10000 at
// most. It may lie behind the end of a list of `total` rows, and is empty then.
inline Page PageOf(const Query& query, size_t total) {
  constexpr size_t kDefaultLimit = 100;
  constexpr size_t kMaxLimit = 10'000;
  const size_t limit = query.limit() == 0
                           ? kDefaultLimit
                           : std::min<size_t>(query.limit(), kMaxLimit);
  return {std::min<size_t>(query.offset(), total),
          std::min<size_t>(query.offset() + limit, total)};
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_PAGE_H_
