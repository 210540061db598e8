#include "converter/render/forecast_text.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/text/story_words.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr int kShownLayers = 6;
constexpr int kShownUnknown = 5;
constexpr int kPictureRows = 8;
constexpr size_t kPictureColumns = 72;

const char* FitText(ForecastFit fit) {
  switch (fit) {
    case FORECAST_FITS:
      return "fits";
    case FORECAST_UNCERTAIN:
      return "uncertain";
    case FORECAST_DOES_NOT_FIT:
      return "does not fit";
    default:
      return "";
  }
}

std::string Range(const ForecastNeed& need) {
  return absl::StrCat(FormatBytes(need.low_bytes()), " to ",
                      FormatBytes(need.high_bytes()));
}

void AddBatches(const StepForecast& forecast, std::string* text) {
  if (forecast.batches().empty()) return;
  absl::StrAppend(text, "    batch     needs\n");
  for (const ForecastNeed& need : forecast.batches()) {
    absl::StrAppendFormat(text, "    %-8d  %-28s  %s\n", need.batch(),
                          Range(need), FitText(need.fit()));
  }
}

void AddLayers(const StepForecast& forecast, std::string* text) {
  const ForecastColumn* peak = nullptr;
  for (const ForecastColumn& column : forecast.columns()) {
    if (peak == nullptr || column.in_use_bytes() > peak->in_use_bytes()) {
      peak = &column;
    }
  }
  if (peak == nullptr) return;
  absl::StrAppend(text, "    held at its peak:\n");
  if (forecast.live_bytes() > 0) {
    absl::StrAppendFormat(text, "      %10s  from before the step\n",
                          FormatBytes(forecast.live_bytes()));
  }
  for (int i = 0; i < std::min(kShownLayers, peak->layer_bytes_size()); ++i) {
    if (peak->layer_bytes(i) == 0) continue;
    absl::StrAppendFormat(text, "      %10s  %s\n",
                          FormatBytes(peak->layer_bytes(i)),
                          Printable(forecast.layers(i)));
  }
}

// The most of each stretch, as a bar.
void AddPicture(const StepForecast& forecast, const TerminalStyle& style,
                std::string* text) {
  if (forecast.columns().empty()) return;
  const size_t count = static_cast<size_t>(forecast.columns_size());
  std::vector<uint64_t> bars(std::min(kPictureColumns, count));
  uint64_t most = 1;
  for (size_t i = 0; i < count; ++i) {
    uint64_t& bar = bars[i * bars.size() / count];
    bar = std::max(bar, forecast.columns(static_cast<int>(i)).in_use_bytes());
    most = std::max(most, bar);
  }
  absl::StrAppend(text, "    in use over the step, in the order of its ops:\n");
  for (int row = kPictureRows; row > 0; --row) {
    absl::StrAppendFormat(
        text, "      %10s ",
        row == kPictureRows ? FormatBytes(most) : std::string());
    for (const uint64_t bar : bars) {
      const double height =
          static_cast<double>(bar) * kPictureRows / static_cast<double>(most);
      const bool filled = height > row - 0.5;
      absl::StrAppend(text, filled ? (style.unicode ? "\u2588" : "#") : " ");
    }
    absl::StrAppend(text, "\n");
  }
}

void AddDoubts(const StepForecast& forecast, std::string* text) {
  if (forecast.unknown_count() > 0) {
    absl::StrAppend(text, "    not counted: ", forecast.unknown_count(), " of ",
                    forecast.op_count(), " ops, whose sizes are not known:");
    for (int i = 0; i < std::min(kShownUnknown, forecast.unknown_ops_size());
         ++i) {
      absl::StrAppend(text, i == 0 ? " " : ", ",
                      Printable(forecast.unknown_ops(i)));
    }
    absl::StrAppend(text, "\n");
  }
  for (const std::string& assumed : forecast.assumed()) {
    absl::StrAppend(text, "    assumed: ", Printable(assumed), "\n");
  }
}

}  // namespace

std::string RenderForecast(const StepForecast& forecast, bool picture,
                           const TerminalStyle& style) {
  std::string text = absl::StrCat("  ", Printable(forecast.sentence()), "\n");
  if (forecast.reason().empty()) {
    AddBatches(forecast, &text);
    AddLayers(forecast, &text);
    if (picture) AddPicture(forecast, style, &text);
  }
  AddDoubts(forecast, &text);
  return text;
}

std::string RenderForecasts(const std::string& run_name,
                            const Forecasts& forecasts,
                            const TerminalStyle& style) {
  std::string text = absl::StrCat("Run ", Printable(run_name), "\n");
  for (const StepForecast& forecast : forecasts.forecasts()) {
    absl::StrAppend(&text, "\n",
                    forecast.oom() >= 0
                        ? absl::StrCat("The step of OOM ", forecast.oom() + 1)
                        : std::string(forecast.origin() == "recorded"
                                          ? "A step that was recorded"
                                          : "A step that had not begun"),
                    forecast.function().empty() ? "" : ": ",
                    Printable(forecast.function()), "\n",
                    RenderForecast(forecast, true, style));
  }
  if (forecasts.forecasts().empty()) {
    absl::StrAppend(
        &text,
        "\nThis run has no forecast: one is made when a step of a graph runs "
        "out "
        "of memory (docs/forecast.md), or by oom_forensics.forecast().\n");
  }
  return text;
}

}  // namespace oom_forensics
