#include "cli/migrate/key_dump.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/text.h"
#include "cli/migrate/dump_line.h"

namespace sheaf::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A walk by age misses an item that the server moves between its lists meanwhile. Only old servers,
// which do not know the other walk, are asked for it.
constexpr std::string_view by_hash = "lru_crawler metadump hash\r\n";
constexpr std::string_view by_age = "lru_crawler metadump all\r\n";
constexpr std::size_t chunk = 64 * 1024;
constexpr std::size_t longest_line = 4 * 1024;  // an encoded key of up to 750 bytes, and numbers

class Connection {
 public:
  bool connect(int family, const sockaddr* address, socklen_t size, milliseconds patience) {
    descriptor_ = Descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!descriptor_.valid()) return false;
    if (::connect(descriptor_.get(), address, size) == 0) return true;
    if (errno != EINPROGRESS || !wait(POLLOUT, patience)) return false;
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(descriptor_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    errno = error;
    return error == 0;
  }
  bool send(std::string_view bytes, milliseconds patience) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      if (sent >= 0 || errno == EINTR) continue;
      if (errno != EAGAIN || !wait(POLLOUT, patience)) return false;
    }
    return true;
  }
  // Appends what has arrived. False: nothing arrived in time, or the server has closed.
  bool receive(std::string& text, milliseconds patience) {
    const std::size_t size = text.size();
    text.resize(size + chunk);
    ssize_t got = -1;
    for (;;) {
      got = ::recv(descriptor_.get(), text.data() + size, chunk, 0);
      if (got >= 0 || (errno != EINTR && errno != EAGAIN)) break;
      if (errno == EAGAIN && !wait(POLLIN, patience)) break;
    }
    const int error = got == 0 ? ECONNRESET : errno;
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    errno = error;
    return got > 0;
  }

 private:
  // Interruptions do not extend the wait.
  bool wait(short event, milliseconds patience) const {
    const auto end = Clock::now() + patience;
    for (;;) {
      pollfd wanted{descriptor_.get(), event, 0};
      const auto left = std::chrono::ceil<milliseconds>(end - Clock::now()).count();
      const int ready = ::poll(&wanted, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
      if (ready > 0) return true;
      if (ready == 0) errno = ETIMEDOUT;
      if (ready == 0 || errno != EINTR) return false;
    }
  }
  Descriptor descriptor_;
};

std::unexpected<std::string> failure(const NodeConfig& server, const std::string& what) {
  return std::unexpected("the keys of " + server.identity() + " cannot be listed: " + what);
}

std::expected<void, std::string> connect_path(const NodeConfig& server, milliseconds patience,
                                              Connection& connection) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (server.host.size() >= sizeof address.sun_path) return failure(server, "its path is too long");
  server.host.copy(address.sun_path, server.host.size());
  if (connection.connect(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address,
                         patience)) {
    return {};
  }
  return failure(server, std::strerror(errno));
}

std::expected<void, std::string> connect_host(const NodeConfig& server, milliseconds patience,
                                              Connection& connection) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const std::string port = std::to_string(server.port);
  const int error = ::getaddrinfo(server.host.c_str(), port.c_str(), &hints, &list);
  if (error != 0) return failure(server, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(list, &::freeaddrinfo);
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    if (connection.connect(one->ai_family, one->ai_addr, one->ai_addrlen, patience)) return {};
  }
  return failure(server, std::strerror(errno));
}

}  // namespace

std::expected<void, std::string> dump_keys(const NodeConfig& server, milliseconds patience,
                                           const std::function<bool(std::string key)>& take) {
  Connection connection;
  auto connected = is_path(server.host) ? connect_path(server, patience, connection)
                                        : connect_host(server, patience, connection);
  if (!connected) return connected;
  std::string_view request = by_hash;
  if (!connection.send(request, patience)) return failure(server, std::strerror(errno));
  const auto enough = Clock::now() + patience;
  std::string text;
  for (;;) {
    std::size_t at = 0;
    for (std::size_t end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
      std::string_view line = std::string_view(text).substr(at, end - at);
      if (line.ends_with('\r')) line.remove_suffix(1);
      DumpLine read = read_dump_line(line);
      if (read.kind == DumpLine::Kind::begin) continue;
      if (read.kind == DumpLine::Kind::end) return {};
      if (read.kind == DumpLine::Kind::key) {
        if (!take(std::move(read.key))) return {};
      } else if (request == by_hash && line.starts_with("BADCLASS ")) {
        request = by_age;
        if (!connection.send(request, patience)) return failure(server, std::strerror(errno));
      } else if (read.kind == DumpLine::Kind::busy && Clock::now() < enough) {
        ::poll(nullptr, 0, 50);
        if (!connection.send(request, patience)) return failure(server, std::strerror(errno));
      } else {
        return failure(server, "it answered \"" + printable(line, 80) + "\"");
      }
    }
    text.erase(0, at);
    if (text.size() > longest_line) return failure(server, "it sent a line without an end");
    if (!connection.receive(text, patience)) return failure(server, std::strerror(errno));
  }
}

}  // namespace sheaf::cli
