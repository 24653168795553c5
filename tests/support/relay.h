#pragma once

// Relay: an address of this machine that leads to a server. New connections may lead to another
// server from some time on, as after a failover that moves an address, while the old ones live on.
// It can also close the half of its connections that leads to the server; a server that speaks TLS
// then ends them by an alert.
//
// Thread rule: one thread at a time; it has one of its own.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/listener.h"
#include "tests/support/wire.h"

namespace sheaf::test {

class Relay {
 public:
  explicit Relay(std::uint16_t server) : server_(server) {
    EXPECT_EQ(::pipe2(wake_, O_CLOEXEC), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Relay() {
    command('e');
    thread_.join();
    for (const Pair& pair : pairs_) close(pair);
    for (const int fd : wake_) ::close(fd);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::uint16_t port() const { return listener_.port(); }
  // New connections lead to this server.
  void lead_to(std::uint16_t server) { server_ = server; }
  // Nothing that clients send on the present connections arrives from now on.
  void close_half() { command('c'); }

 private:
  struct Pair {
    int client;
    int server;
    bool halved = false;
  };

  static void close(const Pair& pair) {
    ::close(pair.client);
    ::close(pair.server);
  }
  void command(char what) const { EXPECT_EQ(::write(wake_[1], &what, 1), 1); }
  // Passes on what has come; false at the end.
  static bool pass(int from, int to) {
    char bytes[16 * 1024];
    const ssize_t size = ::recv(from, bytes, sizeof bytes, 0);
    return size > 0 && ::send(to, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
  }
  void serve() {
    for (;;) {
      std::vector<pollfd> waiting{{wake_[0], POLLIN, 0}, {listener_.descriptor(), POLLIN, 0}};
      for (const Pair& pair : pairs_) {
        waiting.push_back({pair.halved ? -1 : pair.client, POLLIN, 0});
        waiting.push_back({pair.server, POLLIN, 0});
      }
      ::poll(waiting.data(), waiting.size(), -1);
      std::vector<Pair> left;
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const Pair& pair = pairs_[i];
        const bool up = waiting[2 * i + 2].revents == 0 || pass(pair.client, pair.server);
        const bool down = waiting[2 * i + 3].revents == 0 || pass(pair.server, pair.client);
        if (up && down) {
          left.push_back(pair);
        } else {
          close(pair);
        }
      }
      pairs_ = std::move(left);
      if (waiting[1].revents != 0) {
        pairs_.push_back({listener_.accept(), connected_socket(server_)});
      }
      char what = 0;
      if (waiting[0].revents != 0 && ::read(wake_[0], &what, 1) == 1 && what == 'e') return;
      if (what != 'c') continue;
      for (Pair& pair : pairs_) {
        pair.halved = true;
        ::shutdown(pair.server, SHUT_WR);
      }
    }
  }

  std::atomic<std::uint16_t> server_;
  const Listener listener_;
  int wake_[2] = {-1, -1};
  std::vector<Pair> pairs_;  // of the thread
  std::thread thread_;
};

}  // namespace sheaf::test
