#include "collector/live/live_server.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "collector/no_throw.h"

namespace oom_forensics::collector {
namespace {

constexpr size_t kMaxClients = 8;
constexpr size_t kMaxRequestBytes = 4096;
// Whoever does not read an answer for so long is no longer served.
constexpr timeval kSendTimeout = {2, 0};

struct Client {
  int socket = -1;
  std::string received;
};

bool IsOfSameUser(int socket) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

bool SendAll(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// Reads what has come and answers each whole line. False: the client is done.
bool Serve(Client* client, const LiveServer::Answer& answer) {
  char bytes[1024];
  const ssize_t count = recv(client->socket, bytes, sizeof(bytes), 0);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  client->received.append(bytes, static_cast<size_t>(count));
  size_t end;
  while ((end = client->received.find('\n')) != std::string::npos) {
    const std::string request = client->received.substr(0, end);
    client->received.erase(0, end + 1);
    if (!SendAll(client->socket, answer(request) + "\n")) return false;
  }
  return client->received.size() <= kMaxRequestBytes;
}

void Accept(int listener, std::vector<Client>* clients) {
  const int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) return;
  if (clients->size() >= kMaxClients || !IsOfSameUser(socket)) {
    close(socket);
    return;
  }
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout,
             sizeof(kSendTimeout));
  clients->push_back({socket, {}});
}

void Listen(int listener, const LiveServer::Answer& answer) {
  std::vector<Client> clients;
  std::vector<pollfd> polled;
  while (true) {
    polled.assign(1, {listener, POLLIN, 0});
    for (const Client& client : clients) {
      polled.push_back({client.socket, POLLIN, 0});
    }
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
    for (size_t i = 1; i < polled.size(); ++i) {
      Client& client = clients[i - 1];
      if (polled[i].revents == 0 || Serve(&client, answer)) continue;
      close(client.socket);
      client.socket = -1;
    }
    clients.erase(
        std::remove_if(clients.begin(), clients.end(),
                       [](const Client& client) { return client.socket < 0; }),
        clients.end());
    if (polled[0].revents != 0) Accept(listener, &clients);
  }
}

}  // namespace

std::string LiveServer::Start(Answer answer) {
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return std::strerror(errno);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // A name that begins with a zero byte is no file's.
  const std::string name = "oom_forensics-" + std::to_string(getpid());
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      listen(listener, kMaxClients) != 0) {
    const std::string why = std::strerror(errno);
    close(listener);
    return why;
  }
  // The program's signals are for its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = NoThrow([&] {
    std::thread([listener, answer = std::move(answer)] {
      NoThrow([&] { Listen(listener, answer); });
      close(listener);
    }).detach();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) {
    close(listener);
    return "no thread could be started";
  }
  listener_ = listener;
  return "";
}

void LiveServer::AfterForkInChild() {
  if (listener_ >= 0) close(std::exchange(listener_, -1));
}

}  // namespace oom_forensics::collector
