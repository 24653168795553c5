#include "cli/dev/blocking_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace sheaf::cli {

using protocol::resp::Argument;
using protocol::resp::CommandWriter;
using protocol::resp::ReplyReader;

std::expected<BlockingConnection, std::string> BlockingConnection::open(
    std::uint16_t port, std::chrono::milliseconds limit) {
  BlockingConnection connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port);
  const int fd = connection.descriptor_;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  timeval time{};
  time.tv_sec = seconds.count();
  time.tv_usec = std::chrono::microseconds(limit - seconds).count();
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return connection.failure("cannot connect");
  }
  return connection;
}

BlockingConnection::BlockingConnection(BlockingConnection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      port_(other.port_),
      output_(std::move(other.output_)),
      reader_(std::move(other.reader_)),
      input_(std::move(other.input_)),
      used_(other.used_) {}

BlockingConnection::~BlockingConnection() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::expected<void, std::string> BlockingConnection::flush() {
  while (!output_.empty()) {
    const Bytes part = output_.parts().front();
    const ssize_t sent = ::send(descriptor_, part.data(), part.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return failure("cannot send");
    if (sent > 0) output_.taken(static_cast<std::size_t>(sent));
  }
  return {};
}

BlockingConnection::Reply BlockingConnection::read() {
  constexpr std::size_t chunk = 64 * 1024;
  for (;;) {
    const std::string_view left = std::string_view(input_).substr(used_);
    switch (reader_.read(left)) {
      case ReplyReader::Progress::complete: {
        auto reply = reader_.keep();
        used_ += reader_.size();
        return reply;
      }
      case ReplyReader::Progress::broken:
        return std::unexpected(reader_.fault().message());
      case ReplyReader::Progress::pass_over:
        return std::unexpected("a text that is too large");
      case ReplyReader::Progress::need_input:
        break;
    }
    input_.erase(0, std::exchange(used_, 0));
    const std::size_t size = input_.size();
    input_.resize(size + chunk);
    const ssize_t got = ::recv(descriptor_, input_.data() + size, chunk, 0);
    const int error = errno;
    input_.resize(size + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got == 0) return std::unexpected("127.0.0.1:" + std::to_string(port_) + " has closed");
    errno = error;
    if (got < 0 && error != EINTR) return failure("no reply");
  }
}

BlockingConnection::Reply BlockingConnection::ask(protocol::resp::Command command) {
  CommandWriter(output_).write(command);
  if (auto sent = flush(); !sent) return std::unexpected(std::move(sent.error()));
  return read();
}

BlockingConnection::Reply BlockingConnection::ask(std::span<const std::string> words) {
  return ask(std::vector<Argument>(words.begin(), words.end()));
}

std::unexpected<std::string> BlockingConnection::failure(const std::string& what) const {
  const std::string why = std::generic_category().message(errno);
  return std::unexpected(what + ": 127.0.0.1:" + std::to_string(port_) + ": " + why);
}

}  // namespace sheaf::cli
