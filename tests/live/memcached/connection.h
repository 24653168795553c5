#pragma once

// A session on a plain blocking socket to a real memcached. It shows what is on the wire, with no
// other code of the library in between.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/protocol/memcached/session_harness.h"

namespace sheaf::protocol::memcached {

template <class SessionType>
class Connection {
 public:
  explicit Connection(std::uint16_t port, SessionOptions options = {})
      : session(std::move(options)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect to memcached");
    }
    const int one = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    session.start(now());
    while (!session.ready() && !session.closed()) turn();
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Submits these operations together. Returns their events, in the order of the operations.
  std::vector<Seen> run(const std::vector<Operation>& operations) {
    std::vector<Ticket> tickets;
    for (const Operation& operation : operations) {
      auto ticket = session.submit(operation, now());
      if (!ticket) throw std::runtime_error(ticket.error().text);
      tickets.push_back(*ticket);
    }
    std::vector<Seen> results(tickets.size());
    for (std::size_t done = 0; done < tickets.size();) {
      for (; !events.empty(); events.erase(events.begin())) {
        for (std::size_t i = 0; i < tickets.size(); ++i) {
          if (events.front().ticket == tickets[i] && events.front().kind != Event::Kind::closed) {
            results[i] = events.front();
            ++done;
          }
        }
      }
      if (done < tickets.size()) turn();
    }
    return results;
  }
  Seen run(const Operation& operation) { return run(std::vector<Operation>{operation}).front(); }

  // Writes and reads what is ready, waiting at most ten seconds.
  void turn() {
    poll_events();
    std::string out;
    for (const Bytes part : session.poll_output()) out += as_text(part);
    pollfd wait{fd_, static_cast<short>(out.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    const int limit = patience();
    if (!session.closed() && ::poll(&wait, 1, limit) != 1) {
      if (limit == 10'000) throw std::runtime_error("memcached does not answer");
      session.on_deadline(now());
    }
    if ((wait.revents & POLLOUT) != 0 && !out.empty()) {
      const ssize_t sent = ::send(fd_, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) session.on_output(static_cast<std::size_t>(sent), now());
    }
    if ((wait.revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !session.closed()) {
      const std::span<std::byte> space = session.input_space();
      const ssize_t got = ::recv(fd_, space.data(), space.size(), 0);
      if (got > 0) {
        session.on_input(static_cast<std::size_t>(got), now());
      } else {
        session.on_eof(now());
      }
    }
    poll_events();
  }

  static Now now() {
    using std::chrono::duration_cast;
    return {duration_cast<Deadline>(std::chrono::steady_clock::now().time_since_epoch()),
            duration_cast<std::chrono::milliseconds>(
                std::chrono::system_clock::now().time_since_epoch())};
  }

  SessionType session;
  std::vector<Seen> events;

 private:
  // The milliseconds until the session's own deadline, at most ten seconds.
  int patience() const {
    const auto due = session.poll_deadline();
    if (!due || *due > now().mono + 10s) return 10'000;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - now().mono).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }
  void poll_events() {
    Event event;
    while (session.poll_event(event)) {
      if (event.kind != Event::Kind::ready) events.push_back(seen(event));
    }
  }

  int fd_ = -1;
};

}  // namespace sheaf::protocol::memcached
