#include "extras/discovery/dns_socket.h"

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "base/read_clocks.h"
#include "base/stop_callback.h"
#include "extras/discovery/dns/message.h"

namespace sheaf::discovery {

class StopEvent::Writer final : private StopHandler {
 public:
  Writer(const std::stop_token& token, int fd) : fd_(fd), callback_(token, handler()) {}

 private:
  StopHandler& handler() noexcept { return *this; }
  void on_stop_requested() noexcept override {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(fd_, &one, sizeof one));  // a new counter always has room for it
  }

  int fd_;
  StopCallback callback_;
};

StopEvent::StopEvent(const std::stop_token* token) : token_(token) {
  if (token_ == nullptr || !token_->stop_possible()) return;
  fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd_ >= 0) writer_ = std::make_unique<Writer>(*token_, fd_);
}

StopEvent::~StopEvent() {
  writer_.reset();
  if (fd_ >= 0) ::close(fd_);
}

DnsSocket::~DnsSocket() {
  if (fd_ >= 0) ::close(fd_);
}

DnsSocket::Ended DnsSocket::open(const dns::NameServer& server, Over over, Deadline until) {
  over_ = over;
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;  // resolves no name
  hints.ai_socktype = over == Over::udp ? SOCK_DGRAM : SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(server.address.c_str(), std::to_string(server.port).c_str(), &hints, &found) !=
      0) {
    return EINVAL;
  }
  fd_ = ::socket(found->ai_family, hints.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  // The kernel picks a random port and accepts messages only from this peer.
  int error = fd_ < 0 || ::connect(fd_, found->ai_addr, found->ai_addrlen) != 0 ? errno : 0;
  ::freeaddrinfo(found);
  if (error != EINPROGRESS) return error;
  error = wait(POLLOUT, until);
  if (error != 0) return error;
  socklen_t size = sizeof error;
  return ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

DnsSocket::Ended DnsSocket::send(std::string_view query, Deadline until) {
  std::string bytes;
  if (over_ == Over::tcp) {  // RFC 1035 §4.2.2
    bytes = {static_cast<char>(query.size() >> 8), static_cast<char>(query.size() & 0xff)};
  }
  bytes.append(query);
  for (std::string_view left = bytes; !left.empty();) {
    const auto sent = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      left.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (const Ended ended = wait(POLLOUT, until); ended != 0) return ended;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

DnsSocket::Ended DnsSocket::receive(std::string& message, Deadline until) {
  if (over_ == Over::udp) {
    std::array<char, 8 * dns::max_udp_message> buffer;
    std::size_t got = 0;
    const Ended ended = read(buffer.data(), buffer.size(), got, until);
    message.assign(buffer.data(), got);
    return ended;
  }
  std::string head;
  if (const Ended ended = read_all(head, 2, until); ended != 0) return ended;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(head[i]); };
  return read_all(message, static_cast<std::size_t>(byte(0)) << 8 | byte(1), until);
}

DnsSocket::Ended DnsSocket::wait(short events, Deadline until) const {
  std::array<pollfd, 2> all{{{fd_, events, 0}, {stop_.descriptor(), POLLIN, 0}}};
  while (true) {
    if (stop_.stopped()) return ECANCELED;
    const auto left = until - read_monotonic();
    if (left.count() <= 0) return ETIMEDOUT;
    // Rounded up. Time and stop are checked again afterwards, and once a second while nothing
    // happens.
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    const int ready = ::poll(all.data(), all.size(), static_cast<int>(std::min<long>(ms, 1'000)));
    if (ready < 0 && errno != EINTR) return errno;
    if (ready > 0 && all[0].revents != 0 && !stop_.stopped()) return 0;
  }
}

DnsSocket::Ended DnsSocket::read(char* to, std::size_t size, std::size_t& got,
                                 Deadline until) const {
  // A peer that sends without a pause must not postpone the deadline.
  while (read_monotonic() < until) {
    const auto read = ::recv(fd_, to, size, 0);
    if (read > 0 || (read == 0 && over_ == Over::udp)) {
      got = static_cast<std::size_t>(read);
      return 0;
    }
    if (read == 0) return ECONNRESET;
    if (errno == EAGAIN) {
      if (const Ended ended = wait(POLLIN, until); ended != 0) return ended;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return ETIMEDOUT;
}

DnsSocket::Ended DnsSocket::read_all(std::string& to, std::size_t size, Deadline until) const {
  to.clear();
  std::array<char, 4'096> buffer;
  while (to.size() < size) {
    std::size_t got = 0;
    const Ended ended = read(buffer.data(), std::min(buffer.size(), size - to.size()), got, until);
    if (ended != 0) return ended;
    to.append(buffer.data(), got);
  }
  return 0;
}

}  // namespace sheaf::discovery
