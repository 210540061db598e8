#include "collector/black_box/activities.h"

#include <algorithm>
#include <cstring>

#include "collector/recording/clock.h"

namespace oom_forensics::collector {
namespace {

using black_box::Activity;
using black_box::ActivityKind;

// A text that does not fit is cut where a line ends, if it has lines.
template <size_t kBytes>
std::string_view Cut(const char (&)[kBytes], std::string_view text) {
  if (text.size() < kBytes) return text;
  text = text.substr(0, kBytes - 1);
  const size_t line_end = text.rfind('\n');
  return line_end == std::string_view::npos ? text : text.substr(0, line_end);
}

template <size_t kBytes>
void SetText(char (&field)[kBytes], std::string_view text) {
  const std::string_view cut = Cut(field, text);
  std::memcpy(field, cut.data(), cut.size());
  field[cut.size()] = '\0';
}

template <size_t kBytes>
bool Has(const char (&field)[kBytes], std::string_view text) {
  return std::string_view(field) == Cut(field, text);
}

}  // namespace

int Activities::Begin(black_box::Box* box, ActivityKind kind,
                      std::string_view name, std::string_view where,
                      uint64_t anon_bytes) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  int index = 0;
  for (Activity& activity : box->activities) {
    if (activity.kind == ActivityKind::kNone) {
      SetText(activity.name, name);
      SetText(activity.where, where);
      activity.first_ns = WallClockNs();
    } else if (activity.kind != kind || !Has(activity.name, name) ||
               !Has(activity.where, where)) {
      ++index;
      continue;
    }
    activity.last_ns = WallClockNs();
    activity.begin_anon_bytes = anon_bytes;
    ++activity.count;
    ++activity.under_way;
    activity.kind = kind;
    return index;
  }
  return -1;
}

void Activities::End(black_box::Box* box, int index, uint64_t live,
                     uint64_t element_bytes, std::string_view what,
                     uint64_t anon_bytes) noexcept {
  if (index < 0 || index >= static_cast<int>(black_box::kMaxActivities)) return;
  Activity& activity = box->activities[index];
  activity.grown_bytes +=
      anon_bytes - std::min<uint64_t>(anon_bytes, activity.begin_anon_bytes);
  activity.live = live;
  activity.element_bytes = element_bytes;
  if (!what.empty()) SetText(activity.what, what);
  if (activity.under_way != 0) --activity.under_way;
}

}  // namespace oom_forensics::collector
