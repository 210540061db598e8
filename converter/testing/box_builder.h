// Black boxes for tests, as a process would have left them.
#ifndef OOM_FORENSICS_CONVERTER_TESTING_BOX_BUILDER_H_
#define OOM_FORENSICS_CONVERTER_TESTING_BOX_BUILDER_H_

#include <functional>
#include <string>

#include "core/black_box.h"

namespace oom_forensics::test {

// A process of ten seconds that keeps 20 MiB more each second, in blocks of
// 1 MiB that line 7 of train.py makes, within a limit of 250 MiB. `change` is
// called last.
std::string MakeBox(const std::function<void(black_box::Box*)>& change =
                        [](black_box::Box*) {});

}  // namespace oom_forensics::test

#endif  // OOM_FORENSICS_CONVERTER_TESTING_BOX_BUILDER_H_
