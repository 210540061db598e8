// std::erase_if() of C++20.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_ERASE_IF_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_ERASE_IF_H_

#include <algorithm>
#include <vector>

namespace oom_forensics::collector {

template <typename T, typename Condition>
void EraseIf(std::vector<T>* items, Condition condition) {
  items->erase(std::remove_if(items->begin(), items->end(), condition),
               items->end());
}

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_ERASE_IF_H_
