#include "collector/snapshot_signal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include "collector/no_throw.h"
#include "collector/snapshot_signal_names.h"

namespace oom_forensics::collector {
namespace {

// The writing end of the pipe that wakes the thread; all that the handler
// touches.
int g_wake = -1;
// Who listens. A forked child has the pipe but not the thread: its signal would
// make the parent write.
pid_t g_listener = 0;

void OnSignal(int) {
  if (getpid() != g_listener) return;
  const int saved_errno = errno;
  // A full pipe has enough calls in it.
  [[maybe_unused]] const ssize_t written = write(g_wake, "", 1);
  errno = saved_errno;
}

}  // namespace

bool ListenForSnapshotSignal(const std::string& signal,
                             std::function<void()> take) {
  const int number = SignalNumber(signal);
  struct sigaction current;
  if (number == 0 || sigaction(number, nullptr, &current) != 0 ||
      current.sa_handler != SIG_DFL) {
    return false;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  // Only the thread waits.
  fcntl(ends[0], F_SETFL, 0);
  g_wake = ends[1];
  g_listener = getpid();
  try {
    std::thread([end = ends[0], take = std::move(take)] {
      char byte;
      while (true) {
        const ssize_t count = read(end, &byte, 1);
        if (count == 1) NoThrow(take);
        if (count == 0 || (count < 0 && errno != EINTR)) return;
      }
    }).detach();
  } catch (...) {  // no thread to be had
    return false;
  }
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, nullptr) == 0;
}

}  // namespace oom_forensics::collector
