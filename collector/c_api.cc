#include "collector/c_api.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "collector/collector.h"
#include "collector/no_throw.h"
#include "collector/python/heap.h"
#include "collector/recording/thread_state.h"
#include "collector/settings.h"
#include "collector/tensorflow/tensor_address.h"

namespace {

using oom_forensics::collector::Collector;
using oom_forensics::collector::NoThrow;
using oom_forensics::collector::python::Object;
namespace python = oom_forensics::collector::python;

constexpr char kNotLoaded[] = "TensorFlow has not loaded the collector";

char* Copy(const std::string& text) { return strdup(text.c_str()); }

char* CopyUnlessEmpty(const std::string& text) {
  return text.empty() ? nullptr : Copy(text);
}

constexpr char kNoMemory[] = "there is not enough memory left for it";

// What `make(collector)` says, for the caller to free; `otherwise` where
// TensorFlow has not loaded the collector or memory is short.
template <typename Make>
char* TextOf(Make make, const char* otherwise) noexcept {
  Collector* const collector = Collector::Get();
  if (collector == nullptr) return strdup(otherwise);
  char* text = NoThrow([&] { return Copy(make(collector)); },
                       static_cast<char*>(nullptr));
  return text == nullptr ? strdup(otherwise) : text;
}

// The same, null for an empty text or where there is none.
template <typename Make>
char* OptionalTextOf(Make make) noexcept {
  Collector* const collector = Collector::Get();
  if (collector == nullptr) return nullptr;
  return NoThrow([&] { return CopyUnlessEmpty(make(collector)); },
                 static_cast<char*>(nullptr));
}

// The folder of the run that `write(collector, &sentence)` has written; null
// and *error where it has not.
template <typename Write>
char* FolderOf(Write write, char** error) noexcept {
  *error = nullptr;
  Collector* const collector = Collector::Get();
  if (collector == nullptr) {
    *error = strdup(kNotLoaded);
    return nullptr;
  }
  char* folder = nullptr;
  const bool came_to_its_end = NoThrow([&] {
    std::string sentence;
    folder = CopyUnlessEmpty(write(collector, &sentence));
    if (folder == nullptr) *error = Copy(sentence);
  });
  if (!came_to_its_end) *error = strdup(kNoMemory);
  return folder;
}

}  // namespace

#define OOM_FORENSICS_EXPORT extern "C" __attribute__((visibility("default")))

OOM_FORENSICS_EXPORT char* OomForensics_Status() {
  return TextOf([](Collector* collector) { return collector->StatusJson(); },
                R"({"loaded":false})");
}

OOM_FORENSICS_EXPORT char* OomForensics_CheckSetting(const char* name,
                                                     const char* value) {
  return NoThrow(
      [&] {
        oom_forensics::collector::Settings settings;
        return CopyUnlessEmpty(
            oom_forensics::collector::SetSetting(name, value, &settings));
      },
      static_cast<char*>(nullptr));
}

OOM_FORENSICS_EXPORT char* OomForensics_Configure(const char* name,
                                                  const char* value) {
  if (Collector::Get() == nullptr) return strdup(kNotLoaded);
  return OptionalTextOf(
      [&](Collector* collector) { return collector->Configure(name, value); });
}

OOM_FORENSICS_EXPORT void OomForensics_LearnLogdir(const char* logdir) {
  if (Collector* collector = Collector::Get()) {
    NoThrow([&] { collector->LearnLogdir(logdir); });
  }
}

OOM_FORENSICS_EXPORT int OomForensics_BeginStep(int64_t step) {
  Collector* const collector = Collector::Get();
  if (collector == nullptr) return 0;
  return NoThrow([&] { return collector->BeginStep(step) ? 1 : 0; }, 0);
}

OOM_FORENSICS_EXPORT int OomForensics_BeginActivity(int kind, const char* name,
                                                    const char* where) {
  Collector* const collector = Collector::Get();
  return collector == nullptr
             ? -1
             : collector->black_box().BeginActivity(
                   static_cast<oom_forensics::black_box::ActivityKind>(kind),
                   name, where);
}

OOM_FORENSICS_EXPORT void OomForensics_EndActivity(int activity, uint64_t live,
                                                   uint64_t element_bytes,
                                                   const char* what) {
  if (Collector* const collector = Collector::Get()) {
    collector->black_box().EndActivity(activity, live, element_bytes, what);
  }
}

OOM_FORENSICS_EXPORT void OomForensics_OnShortage(
    void (*look)(int percent, uint64_t left_bytes)) {
  if (Collector* const collector = Collector::Get()) {
    collector->black_box().OnShortage(look);
  }
}

OOM_FORENSICS_EXPORT void OomForensics_EndByMemoryError() {
  if (Collector* const collector = Collector::Get()) {
    collector->black_box().EndByMemoryError();
  }
}

OOM_FORENSICS_EXPORT char* OomForensics_Snapshot(const char* logdir,
                                                 char** error) {
  return FolderOf(
      [&](Collector* collector, std::string* sentence) {
        return collector->flight_recorder().Snapshot(logdir, sentence);
      },
      error);
}

OOM_FORENSICS_EXPORT char* OomForensics_StartRecording() {
  return OptionalTextOf(
      [](Collector* collector) { return collector->StartRecording(); });
}

OOM_FORENSICS_EXPORT char* OomForensics_StopRecording(const char* logdir,
                                                      char** error) {
  return FolderOf(
      [&](Collector* collector, std::string* sentence) {
        return collector->StopAndWriteRecording(logdir, sentence);
      },
      error);
}

OOM_FORENSICS_EXPORT char* OomForensics_MemoryStats() {
  return TextOf(
      [](Collector* collector) { return collector->MemoryStatsJson(); }, "[]");
}

OOM_FORENSICS_EXPORT char* OomForensics_LiveState() {
  return TextOf([](Collector* collector) { return collector->LiveStateJson(); },
                R"({"allocators":[],"trends":[]})");
}

OOM_FORENSICS_EXPORT char* OomForensics_LastRun() {
  return OptionalTextOf([](Collector* collector) {
    return collector->flight_recorder().stories().LastRun();
  });
}

OOM_FORENSICS_EXPORT char* OomForensics_SummaryFor(const char* message) {
  return OptionalTextOf([&](Collector* collector) {
    return collector->flight_recorder().stories().SummaryFor(message);
  });
}

OOM_FORENSICS_EXPORT char* OomForensics_LibraryFailure(const char* message) {
  return OptionalTextOf([&](Collector* collector) {
    return collector->OnLibraryFailure(message);
  });
}

OOM_FORENSICS_EXPORT char* OomForensics_TakeWrittenRuns() {
  return TextOf(
      [](Collector* collector) {
        return collector->flight_recorder().written_runs().TakeJson();
      },
      "[]");
}

OOM_FORENSICS_EXPORT uint64_t OomForensics_OutOfMemoryCount() {
  Collector* collector = Collector::Get();
  return collector == nullptr ? 0 : collector->flight_recorder().count();
}

OOM_FORENSICS_EXPORT void OomForensics_StartEvidence(
    void (*look)(const char* question)) {
  if (Collector* collector = Collector::Get()) {
    collector->flight_recorder().evidence().SetLook(look);
  }
}

OOM_FORENSICS_EXPORT int32_t OomForensics_AddEvidence(uint64_t incident,
                                                      const char* planes,
                                                      uint64_t size) {
  Collector* const collector = Collector::Get();
  if (collector == nullptr) return 0;
  return NoThrow(
      [&] {
        return collector->flight_recorder().evidence().Add(
                   incident, std::string_view(planes, size))
                   ? 1
                   : 0;
      },
      0);
}

OOM_FORENSICS_EXPORT void OomForensics_StopEvidence() {
  if (Collector* collector = Collector::Get()) {
    collector->flight_recorder().StopEvidence();
  }
}

OOM_FORENSICS_EXPORT char* OomForensics_StartStacks(
    uint32_t hexversion, const OomForensics_Frame* frames, uint64_t count) {
  Collector* const collector = Collector::Get();
  if (collector == nullptr) return strdup(kNotLoaded);
  char* why_not = nullptr;
  const bool came_to_its_end = NoThrow([&] {
    std::vector<oom_forensics::collector::python::KnownFrame> known;
    for (uint64_t i = 0; i < count; ++i) {
      known.push_back({frames[i].code, frames[i].instruction, frames[i].line,
                       frames[i].file, frames[i].function});
    }
    why_not = CopyUnlessEmpty(
        collector->StartStacks(hexversion, known.data(), known.size()));
  });
  return came_to_its_end ? why_not : strdup(kNoMemory);
}

OOM_FORENSICS_EXPORT void OomForensics_StopStacks() {
  if (Collector* collector = Collector::Get()) {
    NoThrow([&] { collector->StopStacks(); });
  }
}

OOM_FORENSICS_EXPORT void OomForensics_SetSourceRoots(
    const char* library_prefixes, const char* project_root) {
  if (Collector* collector = Collector::Get()) {
    NoThrow([&] { collector->SetSourceRoots(library_prefixes, project_root); });
  }
}

OOM_FORENSICS_EXPORT void* OomForensics_NextObjects(void* get_objects,
                                                    void* kinds, uint64_t after,
                                                    uint64_t most) {
  return python::NextObjects(static_cast<Object*>(get_objects),
                             static_cast<Object*>(kinds), after, most);
}

OOM_FORENSICS_EXPORT void* OomForensics_ObjectsWithIds(
    void* get_objects, const uint64_t* ids, uint64_t ids_count,
    const uint64_t* finished, uint64_t finished_count) {
  return python::ObjectsWithIds(static_cast<Object*>(get_objects), ids,
                                ids_count, finished, finished_count);
}

OOM_FORENSICS_EXPORT void* OomForensics_ReadReferences(
    void* get_objects, void* kinds, void* passed_over, uint64_t after,
    uint64_t most, uint64_t most_references) {
  return python::ReadReferences(
      static_cast<Object*>(get_objects), static_cast<Object*>(kinds),
      static_cast<Object*>(passed_over), after, most, most_references);
}

OOM_FORENSICS_EXPORT uint64_t OomForensics_TensorAddress(uint64_t tensor) {
  return oom_forensics::collector::TensorAddress(tensor);
}

OOM_FORENSICS_EXPORT void OomForensics_SetLooking(int looking) {
  oom_forensics::collector::CurrentThread().is_looking = looking != 0;
}

OOM_FORENSICS_EXPORT void OomForensics_Free(char* text) { std::free(text); }
