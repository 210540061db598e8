// libcufft: plans that need a workspace of 1 MiB and transform nothing.
#include <cstddef>

#include "tests/gpu/standin/handle.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kAllocFailed = 2;  // CUFFT_ALLOC_FAILED
constexpr size_t kWorkspaceBytes = 1 << 20;

int NewPlan(int* plan) {
  static int last = 0;
  void* handle = nullptr;
  if (!standin_gpu::MakeHandle("cufft", &handle)) return kAllocFailed;
  *plan = ++last;
  return kSuccess;
}

int Workspace(size_t* bytes) {
  if (bytes != nullptr) *bytes = kWorkspaceBytes;
  return kSuccess;
}

}  // namespace

extern "C" {

int cufftCreate(int* plan) { return NewPlan(plan); }
int cufftPlan1d(int* plan, int, int, int) { return NewPlan(plan); }
int cufftPlan2d(int* plan, int, int, int) { return NewPlan(plan); }
int cufftPlan3d(int* plan, int, int, int, int) { return NewPlan(plan); }
int cufftPlanMany(int* plan, int, int*, int*, int, int, int*, int, int, int,
                  int) {
  return NewPlan(plan);
}

int cufftGetVersion(int* version) {
  *version = 11203;
  return kSuccess;
}

int cufftMakePlan1d(int, int, int, int, size_t* bytes) {
  return Workspace(bytes);
}
int cufftMakePlan2d(int, int, int, int, size_t* bytes) {
  return Workspace(bytes);
}
int cufftMakePlan3d(int, int, int, int, int, size_t* bytes) {
  return Workspace(bytes);
}
int cufftMakePlanMany(int, int, int*, int*, int, int, int*, int, int, int, int,
                      size_t* bytes) {
  return Workspace(bytes);
}
int cufftMakePlanMany64(int, int, long long*, long long*, long long, long long,
                        long long*, long long, long long, int, long long,
                        size_t* bytes) {
  return Workspace(bytes);
}
int cufftGetSize(int, size_t* bytes) { return Workspace(bytes); }

}  // extern "C"
