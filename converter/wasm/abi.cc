// The converter as a WebAssembly module: what `serve` is as a program.
//
// The host (a web worker, or a program with a WebAssembly runtime) gives it
// files, opens one run of them and asks. What the module writes to its standard
// output are the frames of proto/service.proto, as `serve` writes them:
//
//   _initialize()                       once, before all else
//   p = allocate(size); …fill it…       for a path, a request or a file
//   put_file(path, size, data, size)    as often as there are files
//   open_run(path, size, memory_mb, allow_truncated)
//                                       a file, or a folder of hosts
//   answer(request, size)               one ServiceRequest in JSON; any number
//
// It runs on the one thread that calls it: `cancel` has no effect here, a host
// leaves out requests that nobody waits for.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/input/memory_files.h"
#include "converter/run/memory_budget.h"
#include "converter/service/replies.h"
#include "converter/service/service.h"

#define OOM_FORENSICS_EXPORT(name) \
  extern "C" __attribute__((export_name(#name), used))

namespace oom_forensics {
namespace {

std::unique_ptr<Run> g_run;
std::unique_ptr<Service> g_service;

// Does the work; nothing that it throws leaves the module. `id` is that of the
// request, for what goes wrong.
template <typename Work>
bool Guarded(const uint64_t& id, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    (void)WriteReply(ErrorReply(id, NoMemoryLeft()), stdout);
  } catch (...) {
    (void)WriteReply(
        ErrorReply(id, absl::InternalError("The converter failed.")), stdout);
  }
  return false;
}

bool OpenRun(const std::string& path, uint32_t max_memory_mb,
             bool allow_truncated) {
  g_service = nullptr;
  g_run = nullptr;
  RunOptions options;
  options.threads = 1;
  options.read.allow_truncated = allow_truncated;
  options.read.max_resident_bytes = uint64_t{max_memory_mb} << 20;
  auto run = OpenWithProgress(path, "", options, stdout);
  if (!run.ok()) {
    (void)WriteReply(ErrorReply(0, run.status()), stdout);
    return false;
  }
  g_run = *std::move(run);
  g_service = std::make_unique<Service>(g_run.get(), options);
  return true;
}

}  // namespace

// Memory for the host to fill; null where there is none left.
OOM_FORENSICS_EXPORT(allocate) char* Allocate(uint32_t size_bytes) {
  return static_cast<char*>(std::malloc(size_bytes));
}

OOM_FORENSICS_EXPORT(release) void Release(char* memory) { std::free(memory); }

// Takes `data`, which allocate() gave.
OOM_FORENSICS_EXPORT(put_file)
void PutFile(const char* path, uint32_t path_bytes, char* data,
             uint32_t data_bytes) {
  Guarded(0, [&] {
    PutMemoryFile(std::string(path, path_bytes), FileMemory(data), data_bytes);
    return true;
  });
}

// Opens what is asked about from now on; of its progress, and of what keeps it
// from being read, the frames tell. The options are `serve`'s --max-memory-mb
// (0: no limit but what a module can have) and --allow-truncated. Returns
// whether it is open.
OOM_FORENSICS_EXPORT(open_run)
bool Open(const char* path, uint32_t path_bytes, uint32_t max_memory_mb,
          bool allow_truncated) {
  return Guarded(0, [&] {
    return OpenRun(std::string(path, path_bytes), max_memory_mb,
                   allow_truncated);
  });
}

// Answers a request in frames. Before a run is open it answers with an error.
OOM_FORENSICS_EXPORT(answer)
void Answer(const char* request_json, uint32_t size_bytes) {
  uint64_t id = 0;
  Guarded(id, [&] {
    const auto request =
        ParseRequest(std::string_view(request_json, size_bytes));
    if (request.ok()) id = request->id();
    ServiceReply reply;
    if (!request.ok()) {
      reply = ErrorReply(0, request.status());
    } else if (g_service == nullptr) {
      reply = ErrorReply(id, absl::FailedPreconditionError("No run is open."));
    } else {
      reply = g_service->Answer(*request);
    }
    return WriteReply(reply, stdout).ok();
  });
}

}  // namespace oom_forensics
