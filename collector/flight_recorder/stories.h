// Stories: what was last said of out-of-memories, for the exceptions that tell
// of them and for those who ask.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_STORIES_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_STORIES_H_

#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace oom_forensics::collector {

class Stories {
 public:
  // The summary of a refused request whose shape TensorFlow's error will name.
  void Add(std::string_view shape, std::string summary);
  // The same of one that was refused together with the last one.
  void AddJoined(std::string_view shape, std::string request_line);
  // The summary of the request that an error with this message tells of: the
  // last one of the shape that it names, else the last one; empty: none.
  std::string SummaryFor(const std::string& message);

  // The folder of the last run; empty: none.
  void SetLastRun(std::string path);
  std::string LastRun();

  void AfterForkInChild();

 private:
  struct Story {
    std::string shape;
    std::string summary;
  };

  std::mutex mutex_;
  // Guarded by mutex_; the newest last.
  std::deque<Story> stories_;
  std::string last_run_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_STORIES_H_
