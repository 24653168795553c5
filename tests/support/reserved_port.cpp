#include "tests/support/reserved_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace sheaf::test {

ReservedPort::ReservedPort() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int on = 1;
  if (descriptor_ < 0 || ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(descriptor_, generic, size) != 0 || ::getsockname(descriptor_, generic, &size) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw std::system_error(error, std::generic_category(), "no free port");
  }
  number_ = ntohs(address.sin_port);
}

ReservedPort::ReservedPort(ReservedPort&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), number_(other.number_) {}

ReservedPort& ReservedPort::operator=(ReservedPort&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(number_, other.number_);
  return *this;
}

ReservedPort::~ReservedPort() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace sheaf::test
