// Part of an answer's work, beside the rest of it.
#ifndef OOM_FORENSICS_CONVERTER_CANCELLATION_BESIDE_H_
#define OOM_FORENSICS_CONVERTER_CANCELLATION_BESIDE_H_

#include <future>
#include <thread>
#include <type_traits>
#include <utility>

#include "converter/cancellation/cancellation.h"

namespace oom_forensics {

// Whether a part that takes long enough runs on a thread of its own.
enum class WorthAThread : bool { kNo, kYes };

// Runs `work` on a thread of its own; where none can be had, or none is worth
// it, when its result is asked for. It is cancelled as the caller's work is,
// and hands its exceptions over with its result.
//
// Where one core is all there is none is asked for: WebAssembly's library would
// wait for it.
template <typename Work>
std::future<std::invoke_result_t<Work>> StartBeside(
    Work work, WorthAThread worth = WorthAThread::kYes) {
  const bool on_thread =
      worth == WorthAThread::kYes && std::thread::hardware_concurrency() > 1;
  return std::async(on_thread ? std::launch::async | std::launch::deferred
                              : std::launch::deferred,
                    [is_cancelled = CancellableWork::OfThisThread(),
                     work = std::move(work)]() mutable {
                      const CancellableWork part(std::move(is_cancelled));
                      return work();
                    });
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_CANCELLATION_BESIDE_H_
