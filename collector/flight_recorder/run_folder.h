// RunFolder: where a trace is put so that TensorBoard and
// `oom-forensics` find them like any profile:
//
//   <logdir>/plugins/profile/<time>_oom/<host>.xplane.pb
//
// A logdir that is a URL ("gs://bucket/logs") is written to by Python, which
// has the libraries for it: the run comes into the default folder, and knows
// where a copy of it belongs.
//
// Each file is written under another name and renamed when it is complete: who
// finds it finds all of it, even if the process dies right after.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_RUN_FOLDER_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_RUN_FOLDER_H_

#include <cstdint>
#include <optional>
#include <string>

namespace oom_forensics::collector {

class RunFolder {
 public:
  // Makes a new folder in `logdir`, named after the time (local, as TensorFlow
  // does) and `suffix` ("oom"), with its parents. None on failure; `error` is
  // then a sentence.
  static std::optional<RunFolder> Make(const std::string& logdir,
                                       int64_t time_ns,
                                       const std::string& suffix,
                                       std::string* error);

  // Writes the file `name`. False on failure, with nothing of it left.
  bool Write(const std::string& name, const std::string& bytes,
             std::string* error) const;

  // Removes the folder if nothing could be written to it.
  void RemoveIfEmpty() const;

  const std::string& path() const { return path_; }
  // The URL of the logdir that was asked for; empty: this folder is in it.
  const std::string& remote_logdir() const { return remote_logdir_; }

 private:
  RunFolder(std::string path, std::string remote_logdir)
      : path_(std::move(path)), remote_logdir_(std::move(remote_logdir)) {}

  std::string path_;
  std::string remote_logdir_;
};

// The folder for reports of jobs whose logdir is not known: in $TMPDIR or /tmp,
// for this user only. Empty if there is one that someone else has made. Keeps
// each process's first run in it, of the last few processes, and the last few
// others.
std::string DefaultLogdir();
// The same without looking at it or making it.
std::string DefaultLogdirPath();

// "gs://bucket/logs" is no folder, and none of that name may be made.
bool IsUrl(const std::string& logdir);

// The name that TensorFlow gives this machine in traces.
std::string HostName();

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_RUN_FOLDER_H_
