#include "collector/captures.h"

#include <optional>
#include <utility>

#include "collector/flight_recorder/run_folder.h"
#include "collector/recording/clock.h"

namespace oom_forensics::collector {

bool Captures::Begin(CaptureOwner owner) {
  Context context;
  context.start_ns = WallClockNs();
  sources_.device_memory->StartSession();
  if (!sources_.recorder->StartCapture(owner)) {
    sources_.device_memory->EndSession();
    return false;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  contexts_[static_cast<size_t>(owner)] = context;
  return true;
}

std::unique_ptr<Recording> Captures::End(CaptureOwner owner, Context* context) {
  std::unique_ptr<Recording> recording = sources_.recorder->StopCapture(owner);
  if (recording == nullptr) return nullptr;
  const uint64_t address_shift = AddressShift(sources_.session(), *recording);
  std::lock_guard<std::mutex> lock(mutex_);
  Context& kept = contexts_[static_cast<size_t>(owner)];
  kept.address_shift = address_shift;
  *context = kept;
  return recording;
}

std::string Captures::EndSession() {
  Context context;
  const auto recording = End(CaptureOwner::kProfiler, &context);
  return recording == nullptr ? "" : Write(*recording, sources_.session());
}

std::string Captures::TakeDevicePlanes() {
  Context context;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    context = contexts_[static_cast<size_t>(CaptureOwner::kProfiler)];
  }
  std::string planes = sources_.device_memory->WritePlanes(
      context.start_ns, context.address_shift);
  sources_.device_memory->EndSession();
  return planes;
}

std::string Captures::EndRecording(const std::string& logdir,
                                   std::string* error) {
  Context context;
  const auto recording = End(CaptureOwner::kPython, &context);
  if (recording == nullptr) {
    *error = "nothing is being recorded";
    return "";
  }
  SessionFacts session = sources_.session();
  session.writes_own_file = true;
  const std::string trace =
      Write(*recording, session) +
      sources_.device_memory->WritePlanes(context.start_ns,
                                          context.address_shift) +
      sources_.module_plane(*recording, sources_.recorder->sites().Snapshot());
  sources_.device_memory->EndSession();
  const auto folder =
      RunFolder::Make(logdir, recording->stop_ns, "recording", error);
  if (!folder.has_value()) return "";
  const std::string name = HostName() + ".xplane.pb";
  if (!folder->Write(name, trace, error)) {
    folder->RemoveIfEmpty();
    return "";
  }
  sources_.written_runs->Add({folder->path() + "/" + name, "profile",
                              context.address_shift, folder->remote_logdir(),
                              0});
  return folder->path();
}

std::string Captures::Write(const Recording& recording,
                            SessionFacts session) const {
  session.origin = "profile";
  session.buffer_events = sources_.settings().capture_events;
  session.address_shift = AddressShift(session, recording);
  return WriteTrace(session, sources_.allocators(), recording,
                    sources_.recorder->sites().Snapshot(),
                    sources_.recorder->stacks().Snapshot());
}

}  // namespace oom_forensics::collector
