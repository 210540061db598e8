// LiveServer: answers questions about this process while it runs, to programs
// of the same user: `oom-forensics watch`, the tab, the metrics endpoint.
//
//   watch ──"state\n"──▶ @oom_forensics-<pid> ──▶ answer(request) ──▶ JSON line
//
// It listens at a socket of Linux's abstract namespace: there is no file that
// could be left behind, no folder that must be writable. Such a socket has no
// permissions, so that the server asks the kernel whose process has connected.
// One thread serves all, and sleeps until it is asked; nothing that allocates
// knows of it.
#ifndef OOM_FORENSICS_COLLECTOR_LIVE_LIVE_SERVER_H_
#define OOM_FORENSICS_COLLECTOR_LIVE_LIVE_SERVER_H_

#include <functional>
#include <string>
#include <string_view>

namespace oom_forensics::collector {

class LiveServer {
 public:
  // A request without its newline → a JSON text without one.
  using Answer = std::function<std::string(std::string_view request)>;

  // Begins to listen and never ends. Returns nothing, or why it cannot.
  std::string Start(Answer answer);

  // fork(): the child has the socket but not the thread; it must not keep those
  // waiting that ask for its parent.
  void AfterForkInChild();

 private:
  int listener_ = -1;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_LIVE_LIVE_SERVER_H_
