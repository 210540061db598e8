#include "collector/c_api.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "collector/collector.h"

namespace {

char* Copy(const std::string& text) { return strdup(text.c_str()); }

}  // namespace

#define OOM_FORENSICS_EXPORT extern "C" __attribute__((visibility("default")))

OOM_FORENSICS_EXPORT char* OomForensics_Status() {
  const auto* collector = oom_forensics::collector::Collector::Get();
  return Copy(collector == nullptr ? R"({"loaded":false})"
                                   : collector->StatusJson());
}

OOM_FORENSICS_EXPORT void OomForensics_Free(char* text) { std::free(text); }
