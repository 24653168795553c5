#pragma once

// A server that answers each connection's first bytes with the beginning of a handshake and then
// ends the connection.
//
// Thread rule: one thread at a time; it has one of its own.

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

#include "tests/support/listener.h"

namespace sheaf::test {

class CuttingServer {
 public:
  // Answers with the first `bytes` bytes of a ServerHello that is announced as 90 bytes.
  explicit CuttingServer(std::size_t bytes) : bytes_(bytes), thread_([this] { serve(); }) {}
  ~CuttingServer() {
    listener_.shut_down();
    thread_.join();
  }
  CuttingServer(const CuttingServer&) = delete;
  CuttingServer& operator=(const CuttingServer&) = delete;

  std::string address() const { return listener_.address(); }

 private:
  void serve() const {
    for (;;) {
      const int peer = listener_.accept();
      if (peer < 0) return;
      char hello[4096];
      if (::recv(peer, hello, sizeof hello, 0) > 0) {
        std::string answer("\x16\x03\x03\x00\x5a\x02\x00\x00\x56\x03\x03", 11);
        answer.resize(std::max(answer.size(), bytes_), 'x');
        ::send(peer, answer.data(), bytes_, MSG_NOSIGNAL);
      }
      ::shutdown(peer, SHUT_WR);
      while (::recv(peer, hello, sizeof hello, 0) > 0) {
      }
      ::close(peer);
    }
  }

  const Listener listener_;
  const std::size_t bytes_;
  std::thread thread_;
};

}  // namespace sheaf::test
