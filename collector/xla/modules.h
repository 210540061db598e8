// XlaModules: the modules that XLA has compiled in this process. Each becomes
// known when XLA registers it, and is told apart by its address for as long as
// it is alive.
#ifndef OOM_FORENSICS_COLLECTOR_XLA_MODULES_H_
#define OOM_FORENSICS_COLLECTOR_XLA_MODULES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "collector/recording/compiled_origin.h"
#include "collector/xla/buffer_requests.h"

namespace oom_forensics::collector {

struct XlaModule {
  // xla::HloModule's name() and unique_id(); the latter kNoProgram where it
  // cannot be read.
  std::string name;
  int64_t program_id = kNoProgram;
  // As a person knows it.
  std::string function;
  BufferPlan plan;
  // From the launch of the kernel that had it compiled, in the same thread,
  // until it was known; 0: not seen.
  uint64_t compile_ns = 0;
  // How large its HloProto is, roughly.
  uint64_t estimated_proto_bytes = 0;
};

// Called for each module that XLA has compiled, in the thread that had it
// compiled; `alive` are those of the same function by now, this one among them.
using CompileListener =
    std::function<void(const XlaModule& module, uint64_t alive)>;

class XlaModules {
 public:
  // To be called once, before anything is compiled.
  void Listen(CompileListener listener) { listener_ = std::move(listener); }

  // What is alive at `address` from now on. May throw bad_alloc.
  void Add(const void* address, XlaModule module);
  // The module with this id is gone.
  void Remove(int64_t program_id) noexcept;

  // The module that is alive at `address`; null if it is not known. A run of
  // it may end after the module itself is gone.
  std::shared_ptr<const XlaModule> Find(const void* address) const noexcept;

  // The compile time of the live module with this id; 0: not known.
  uint64_t CompileNs(int64_t program_id) const noexcept;

  // The estimate for all modules that are alive.
  uint64_t EstimatedProtoBytes() const noexcept;

  // Around a fork(), so that the child finds them whole.
  void BeforeFork() { mutex_.lock(); }
  void AfterFork() { mutex_.unlock(); }

 private:
  CompileListener listener_ = [](const XlaModule&, uint64_t) {};
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<const XlaModule>> alive_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_XLA_MODULES_H_
