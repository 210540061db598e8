#include "collector/c_api.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "collector/collector.h"
#include "collector/settings.h"

namespace {

using oom_forensics::collector::Collector;

constexpr char kNotLoaded[] = "TensorFlow has not loaded the collector";

char* Copy(const std::string& text) { return strdup(text.c_str()); }

char* CopyUnlessEmpty(const std::string& text) {
  return text.empty() ? nullptr : Copy(text);
}

}  // namespace

#define OOM_FORENSICS_EXPORT extern "C" __attribute__((visibility("default")))

OOM_FORENSICS_EXPORT char* OomForensics_Status() {
  Collector* collector = Collector::Get();
  return Copy(collector == nullptr ? R"({"loaded":false})"
                                   : collector->StatusJson());
}

OOM_FORENSICS_EXPORT char* OomForensics_CheckSetting(const char* name,
                                                     const char* value) {
  oom_forensics::collector::Settings settings;
  return CopyUnlessEmpty(
      oom_forensics::collector::SetSetting(name, value, &settings));
}

OOM_FORENSICS_EXPORT char* OomForensics_Configure(const char* name,
                                                  const char* value) {
  Collector* collector = Collector::Get();
  return collector == nullptr
             ? Copy(kNotLoaded)
             : CopyUnlessEmpty(collector->Configure(name, value));
}

OOM_FORENSICS_EXPORT void OomForensics_LearnLogdir(const char* logdir) {
  if (Collector* collector = Collector::Get()) {
    collector->flight_recorder().LearnLogdir(logdir);
  }
}

OOM_FORENSICS_EXPORT void OomForensics_BeginStep(int64_t step) {
  if (Collector* collector = Collector::Get()) collector->BeginStep(step);
}

OOM_FORENSICS_EXPORT char* OomForensics_Snapshot(const char* logdir,
                                                 char** error) {
  Collector* collector = Collector::Get();
  std::string sentence = kNotLoaded;
  std::string folder;
  if (collector != nullptr) {
    folder = collector->flight_recorder().Snapshot(logdir, &sentence);
  }
  if (folder.empty()) *error = Copy(sentence);
  return CopyUnlessEmpty(folder);
}

OOM_FORENSICS_EXPORT void OomForensics_StartRecording() {
  if (Collector* collector = Collector::Get()) collector->StartSession();
}

OOM_FORENSICS_EXPORT char* OomForensics_StopRecording(const char* logdir,
                                                      char** error) {
  Collector* collector = Collector::Get();
  std::string sentence = kNotLoaded;
  std::string folder;
  if (collector != nullptr) {
    folder = collector->StopAndWriteSession(logdir, &sentence);
  }
  if (folder.empty()) *error = Copy(sentence);
  return CopyUnlessEmpty(folder);
}

OOM_FORENSICS_EXPORT char* OomForensics_MemoryStats() {
  Collector* collector = Collector::Get();
  return Copy(collector == nullptr ? "[]" : collector->MemoryStatsJson());
}

OOM_FORENSICS_EXPORT char* OomForensics_LastReport() {
  Collector* collector = Collector::Get();
  return collector == nullptr
             ? nullptr
             : CopyUnlessEmpty(collector->flight_recorder().LastReport());
}

OOM_FORENSICS_EXPORT char* OomForensics_LastSummary() {
  Collector* collector = Collector::Get();
  return collector == nullptr
             ? nullptr
             : CopyUnlessEmpty(collector->flight_recorder().LastSummary());
}

OOM_FORENSICS_EXPORT char* OomForensics_TakeWrittenRuns() {
  Collector* collector = Collector::Get();
  return Copy(collector == nullptr
                  ? "[]"
                  : collector->flight_recorder().written_runs().TakeJson());
}

OOM_FORENSICS_EXPORT uint64_t OomForensics_OutOfMemoryCount() {
  Collector* collector = Collector::Get();
  return collector == nullptr ? 0 : collector->flight_recorder().count();
}

OOM_FORENSICS_EXPORT char* OomForensics_StartStacks(
    uint32_t hexversion, const OomForensics_Frame* frames, uint64_t count) {
  Collector* collector = Collector::Get();
  if (collector == nullptr) return Copy(kNotLoaded);
  std::vector<oom_forensics::collector::python::KnownFrame> known;
  for (uint64_t i = 0; i < count; ++i) {
    known.push_back({frames[i].code, frames[i].instruction, frames[i].line,
                     frames[i].file, frames[i].function});
  }
  return CopyUnlessEmpty(
      collector->StartStacks(hexversion, known.data(), known.size()));
}

OOM_FORENSICS_EXPORT void OomForensics_StopStacks() {
  if (Collector* collector = Collector::Get()) collector->StopStacks();
}

OOM_FORENSICS_EXPORT void OomForensics_SetSourceRoots(
    const char* library_prefixes, const char* project_root) {
  if (Collector* collector = Collector::Get()) {
    collector->SetSourceRoots(library_prefixes, project_root);
  }
}

OOM_FORENSICS_EXPORT void OomForensics_Free(char* text) { std::free(text); }
