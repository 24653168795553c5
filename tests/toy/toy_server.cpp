#include "tests/toy/toy_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace sheaf::toy {
namespace {

int listen_on(std::uint16_t& port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(descriptor, any, size) != 0 || ::listen(descriptor, 16) != 0) {
    throw std::runtime_error("no port for a toy server");
  }
  ::getsockname(descriptor, any, &size);
  port = ntohs(address.sin_port);
  return descriptor;
}

std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

}  // namespace

ToyServer::ToyServer() { start(); }

void ToyServer::start() {
  listener_ = listen_on(port_);
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { serve(); });
}

void ToyServer::stop() {
  if (!thread_.joinable()) return;
  ::eventfd_write(wake_, 1);
  thread_.join();
  ::close(wake_);
}

void ToyServer::serve() {
  std::vector<Connection> connections;
  for (;;) {
    std::vector<pollfd> polled{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Connection& each : connections) polled.push_back({each.descriptor, POLLIN, 0});
    ::poll(polled.data(), polled.size(), -1);
    if (polled[0].revents != 0) break;
    for (std::size_t i = connections.size(); i-- > 0;) {
      if (polled[i + 2].revents == 0 || read(connections[i])) continue;
      ::close(connections[i].descriptor);
      connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (polled[1].revents != 0) {
      connections.push_back({::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), {}});
    }
  }
  ::close(listener_);
  for (const Connection& each : connections) ::close(each.descriptor);
}

bool ToyServer::read(Connection& connection) {
  std::array<char, 64 * 1024> buffer{};
  const ssize_t size = ::recv(connection.descriptor, buffer.data(), buffer.size(), 0);
  if (size <= 0) return false;
  connection.input.append(buffer.data(), static_cast<std::size_t>(size));
  std::string out;
  for (std::size_t end = 0; (end = connection.input.find('\n')) != std::string::npos;) {
    const std::string answer = reply(std::string_view(connection.input).substr(0, end));
    if (answer.empty()) return false;
    out.append(answer).append("\n");
    connection.input.erase(0, end + 1);
  }
  for (std::size_t sent = 0; sent < out.size();) {
    const ssize_t part =
        ::send(connection.descriptor, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (part <= 0) return false;
    sent += static_cast<std::size_t>(part);
  }
  return true;
}

std::string ToyServer::reply(std::string_view line) {
  const std::string_view verb = take_word(line);
  if (verb == "hello") return "welcome";
  if (verb == "ping") return "pong";
  const std::string key(take_word(line));
  const auto found = values_.find(key);
  const bool there = found != values_.end();
  if (verb == "get") return there ? "value " + found->second : "absent";
  if (verb == "set") {
    values_[key] = std::string(line);
    return "stored";
  }
  if (verb != "remove") return {};
  if (there) values_.erase(found);
  return there ? "removed" : "absent";
}

}  // namespace sheaf::toy
