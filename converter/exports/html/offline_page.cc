#include "converter/exports/html/offline_page.h"

#include <random>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "converter/exports/gzip/gzip.h"
#include "converter/exports/html/escape.h"
#include "converter/input/mapped_file.h"
#include "converter/input/trace_files.h"
#include "core/json_text.h"

namespace oom_forensics {
namespace {

// The data's "version" in docs/offline-page.md.
constexpr int kDataVersion = 3;

// The page runs its own script, which nobody can add to, the converter in a
// worker, and reaches nothing else: whatever a trace holds, none of it leaves
// the page.
std::string ContentSecurityPolicy(const std::string& nonce) {
  return absl::StrCat(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
      "'none'; script-src 'nonce-",
      nonce,
      "' 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; "
      "img-src data: blob:; base-uri 'none'; form-action 'none'\">");
}

std::string MakeNonce() {
  std::random_device random;
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8));
}

// An element whose text a script reads, and which itself is none.
void AppendData(std::string_view id, std::string_view type,
                std::string_view text, std::string* html) {
  absl::StrAppend(html, "<script type=\"", std::string(type), "\" id=\"",
                  std::string(id), "\">", std::string(text), "</script>\n");
}

void AppendPacked(std::string_view id, std::string_view bytes,
                  std::string* html) {
  AppendData(id, "text/plain", absl::Base64Escape(Gzip(bytes)), html);
}

// "<" as an escape: no name can end the element that it lies in.
std::string JsonOf(const OfflinePage& page) {
  std::string json =
      absl::StrCat("{\"version\":", kDataVersion, ",\"allowTruncated\":",
                   page.allow_truncated ? "true" : "false", ",\"runs\":[");
  for (size_t run = 0; run < page.runs.size(); ++run) {
    absl::StrAppend(&json, run == 0 ? "" : ",",
                    "{\"run\":", QuoteJson(page.runs[run].run_name),
                    ",\"files\":[");
    const std::vector<std::string>& paths = page.runs[run].paths;
    for (size_t file = 0; file < paths.size(); ++file) {
      absl::StrAppend(
          &json, file == 0 ? "" : ",", "{\"name\":",
          QuoteJson(absl::StrCat(HostOfFile(paths[file]), ".xplane.pb")),
          ",\"element\":\"trace-", run, "-", file, "\"}");
    }
    json += "]}";
  }
  json += "]}";
  return json;
}

}  // namespace

absl::StatusOr<std::string> RenderOfflinePage(const OfflinePage& page,
                                              const FrontendFiles& frontend) {
  const std::string nonce = MakeNonce();
  std::string html = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">",
      ContentSecurityPolicy(nonce), "<title>", EscapeHtml(page.title),
      "</title><style>", EscapeCode(frontend.style),
      "</style></head>\n<body>\n");
  AppendData("oom-forensics-page", "application/json", JsonOf(page), &html);
  AppendData("oom-forensics-worker", "text/plain", EscapeCode(frontend.worker),
             &html);
  AppendPacked("oom-forensics-converter", frontend.converter, &html);
  for (size_t run = 0; run < page.runs.size(); ++run) {
    const std::vector<std::string>& paths = page.runs[run].paths;
    for (size_t file = 0; file < paths.size(); ++file) {
      const auto trace = MappedFile::Open(paths[file]);
      if (!trace.ok()) return trace.status();
      AppendPacked(absl::StrCat("trace-", run, "-", file), (*trace)->bytes(),
                   &html);
    }
  }
  absl::StrAppend(&html, "<script type=\"module\" nonce=\"", nonce, "\">",
                  EscapeCode(frontend.script), "</script>\n</body>\n</html>\n");
  return html;
}

}  // namespace oom_forensics
