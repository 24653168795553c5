#include "cli/system/reach.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace sheaf::cli {

namespace {

using Infos = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

std::expected<Infos, std::string> look_up(const std::string& host, const char* port, int flags) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), port, &wanted, &found);
  if (error == EAI_SYSTEM) return std::unexpected(std::string(std::strerror(errno)));
  if (error != 0) return std::unexpected(std::string(::gai_strerror(error)));
  return Infos(found, ::freeaddrinfo);
}

// A socket that closes itself.
class Socket {
 public:
  explicit Socket(int family)
      : fd_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  std::expected<void, std::string> connect(const sockaddr* to, socklen_t size,
                                           std::chrono::milliseconds timeout) const {
    if (fd_ >= 0 && ::connect(fd_, to, size) == 0) return {};
    if (fd_ < 0 || errno != EINPROGRESS) return std::unexpected(std::string(std::strerror(errno)));
    pollfd waiting{fd_, POLLOUT, 0};
    if (::poll(&waiting, 1, static_cast<int>(timeout.count())) <= 0) {
      return std::unexpected(std::string("no answer"));
    }
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return std::unexpected(std::string(std::strerror(error)));
    return {};
  }

 private:
  int fd_;
};

std::expected<void, std::string> reach_path(const std::string& path,
                                            std::chrono::milliseconds timeout) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::unexpected(std::string("path too long"));
  path.copy(address.sun_path, path.size());
  return Socket(AF_UNIX).connect(reinterpret_cast<const sockaddr*>(&address), sizeof address,
                                 timeout);
}

}  // namespace

std::expected<std::vector<std::string>, std::string> addresses_of(const std::string& host) {
  auto found = look_up(host, nullptr, 0);
  if (!found) return std::unexpected(std::move(found.error()));
  std::vector<std::string> all;
  for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0,
                      NI_NUMERICHOST) != 0) {
      continue;
    }
    if (std::ranges::find(all, text) == all.end()) all.emplace_back(text);
  }
  return all;
}

std::expected<void, std::string> reach(const std::string& address, std::uint16_t port,
                                       std::chrono::milliseconds timeout) {
  if (address.starts_with('/')) return reach_path(address, timeout);
  const auto found =
      look_up(address, std::to_string(port).c_str(), AI_NUMERICHOST | AI_NUMERICSERV);
  if (!found) return std::unexpected(found.error());
  const addrinfo& info = **found;
  return Socket(info.ai_family).connect(info.ai_addr, info.ai_addrlen, timeout);
}

}  // namespace sheaf::cli
