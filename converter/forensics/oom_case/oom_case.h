// Everything that is looked at to judge one OOM, computed once: the state that
// the request met, the steps and leaks before it, and a model to try remedies.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_OOM_CASE_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_OOM_CASE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "converter/compiled/block_batch.h"
#include "converter/counterfactual/counterfactual.h"
#include "converter/counterfactual/what_if.h"
#include "converter/forensics/batch_dimension.h"
#include "converter/forensics/layout.h"
#include "converter/forensics/leak_finder.h"
#include "converter/forensics/oom_case/device_pressure.h"
#include "converter/forensics/roles.h"
#include "converter/forensics/step_index.h"
#include "converter/replay/allocator_replay.h"
#include "core/placement.h"

namespace oom_forensics {

class OomCase {
 public:
  // `failure` is the kFailed row of an OOM, `leaks` what FindLeaks tells at it,
  // `device` how full its device was, where that is known. `replay` and `roles`
  // must outlive it.
  OomCase(const AllocatorReplay& replay, const RoleClassifier& roles,
          Row failure, std::shared_ptr<const LeakSearchResult> leaks,
          const std::optional<DevicePressure>& device);
  OomCase(const OomCase&) = delete;
  OomCase& operator=(const OomCase&) = delete;

  const AllocatorReplay& replay() const { return replay_; }
  const HostTrace& host() const { return replay_.host(); }
  const RoleClassifier& roles() const { return roles_; }
  Row failure() const { return failure_; }
  const AllocationSite& site() const { return replay_.SiteOf(failure_); }
  uint64_t requested_bytes() const { return site().requested_bytes; }
  // As the allocator rounds it.
  uint64_t rounded_bytes() const {
    return replay_.BytesToPlace(requested_bytes());
  }

  // False: what is free is not known, nor in what pieces.
  bool has_layout() const { return replay_.trace().has_layout; }
  const Usage& usage() const { return usage_; }
  const Layout& layout() const { return layout_; }
  // kAlloc rows by address.
  const std::vector<Row>& live() const { return live_; }
  // The pool in the numbers that the placement is judged by (core/placement.h):
  // as TensorFlow itself stated them where that was recorded, else as replayed.
  const PoolNumbers& pool() const { return pool_; }
  uint64_t limit_bytes() const { return pool_.limit_bytes; }  // 0: unknown.
  // What the limit leaves for new regions.
  uint64_t allowed_growth_bytes() const { return pool_.AllowedGrowthBytes(); }
  // How much of that the pool could have had: no more than the device has.
  uint64_t growable_bytes() const { return pool_.GrowableBytes(); }
  // The pool may have grown by the request, but the device did not give it.
  bool device_is_full() const { return pool_.DeviceIsFull(); }
  const std::optional<DevicePressure>& device() const { return device_; }
  uint64_t free_bytes() const { return free().free_bytes; }
  uint64_t largest_free_bytes() const { return free().largest_free_bytes; }
  // Free and growable together.
  uint64_t available_bytes() const { return pool_.AvailableBytes(); }
  // Next to nothing is left: memory is missing, however the rest lies.
  bool IsFull() const;
  // What the best place was short by: the largest hole, or a new region.
  uint64_t short_by_bytes() const { return pool_.ShortByBytes(); }

  // Replicas of the model that tf.distribute runs, at least 1: each works on
  // its part of a batch, and the ops of all but the first bear its name.
  int64_t replica_count() const;

  // Steps that had ended by then.
  const StepIndex& steps() const { return leaks_->steps; }
  // Who keeps what is live.
  const HeldTable& held() const { return *leaks_->held; }
  // What grew with no end in sight, and survivors; the largest first.
  const std::vector<FoundLeak>& leaks() const { return leaks_->leaks; }
  // What objects of the program collected; the largest first.
  const std::vector<FoundLeak>& collections() const {
    return leaks_->collections;
  }
  // The batch size; nothing where the shapes do not show it.
  const std::optional<BatchDimension>& batch() const { return batch_; }
  // What XLA asked for; null: it was not XLA, or its module is not in the
  // trace.
  const CompiledAllocation* block() const;
  // The batch in its buffers; nothing where they do not show it.
  const std::optional<BlockBatch>& block_batch() const { return block_batch_; }
  const WhatIf& what_if() const { return what_if_; }
  // The whole step, as it was forecast, or as an earlier one like it went;
  // null: neither is known whole.
  const Counterfactual* step() const { return step_.get(); }

  // Free memory of the device; 0: unknown.
  uint64_t device_free_bytes() const {
    return device_.has_value() ? device_->free_bytes : 0;
  }
  // Whether the allocation was made in the step, or call, of the failure.
  bool IsOfThisStep(Row alloc) const;
  // The allocator belongs to a GPU.
  bool OnGpu() const;

 private:
  FreeSpace free() const { return pool_.free.value_or(FreeSpace()); }

  const AllocatorReplay& replay_;
  const RoleClassifier& roles_;
  const Row failure_;
  const std::optional<DevicePressure> device_;
  const Usage usage_;
  const Layout layout_;
  const std::vector<Row> live_;
  const PoolNumbers pool_;
  const std::shared_ptr<const LeakSearchResult> leaks_;
  std::optional<BatchDimension> batch_;
  std::optional<BlockBatch> block_batch_;
  const WhatIf what_if_;
  std::shared_ptr<const Counterfactual> step_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_OOM_CASE_H_
