// Handles of libraries, which take memory on the device that is current.
#ifndef OOM_FORENSICS_TESTS_GPU_STANDIN_HANDLE_H_
#define OOM_FORENSICS_TESTS_GPU_STANDIN_HANDLE_H_

namespace standin_gpu {

// False where the device has no room for what `library` keeps.
bool MakeHandle(const char* library, void** handle);
// Gives back what the handle took.
void EndHandle(const char* library, void* handle);

}  // namespace standin_gpu

#endif  // OOM_FORENSICS_TESTS_GPU_STANDIN_HANDLE_H_
