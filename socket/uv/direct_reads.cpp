#include "socket/uv/direct_reads.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <utility>

namespace sheaf::socket {

void DirectReads::remove(Readable& connection) noexcept {
  std::erase(connections_, &connection);
  if (unwatched_ == &connection) unwatched_ = nullptr;
}

bool DirectReads::wait(std::chrono::nanoseconds left) const {
  // The kernel counts in ticks and may be late, so a wait that ends soon is left to libuv.
  if (left < 2 * longest_read) return false;
  Readable* const connection = only();
  return connection != nullptr && connection->try_read(true);
}

void DirectReads::watch_all() {
  if (unwatched_ != nullptr) std::exchange(unwatched_, nullptr)->watch();
}

bool let_reads_wait(int fd) noexcept {
  constexpr timeval limit{0, std::chrono::microseconds(longest_read).count()};
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0) return false;
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

}  // namespace sheaf::socket
