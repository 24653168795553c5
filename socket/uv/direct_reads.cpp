#include "socket/uv/direct_reads.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sheaf::socket {
namespace {

// With more connections that something is due on, one question to the kernel is cheaper.
constexpr std::size_t most_at_once = 2;
constexpr std::size_t most_to_search = 64;
// A thread that waits in reads asks about other connections this often.
constexpr std::chrono::milliseconds longest_silence{5};

}  // namespace

void DirectReads::remove(Readable& connection) noexcept {
  std::erase(connections_, &connection);
  std::erase(unwatched_, &connection);
}

// The connection that a reply is due on. Null if there are several or none, or if one is dialed.
Readable* DirectReads::only_awaited() const noexcept {
  if (connections_.size() <= 1 || dials_ > 0) return only();
  if (connections_.size() > most_to_search) return nullptr;
  Readable* awaited = nullptr;
  for (Readable* const connection : connections_) {
    if (!connection->expecting()) continue;
    if (awaited != nullptr) return nullptr;
    awaited = connection;
  }
  return awaited;
}

bool DirectReads::try_read() const {
  if (Readable* const connection = only()) return connection->try_read(false);
  if (dials_ > 0 || connections_.size() > most_to_search) return false;
  std::array<Readable*, most_at_once> due{};
  std::size_t count = 0;
  for (Readable* const connection : connections_) {
    if (!connection->expecting()) continue;
    if (count == due.size()) return false;
    due[count++] = connection;
  }
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    // What the first has brought may have ended the second.
    if (std::find(connections_.begin(), connections_.end(), due[i]) == connections_.end()) continue;
    any = due[i]->try_read(false) || any;
  }
  return any;
}

bool DirectReads::wait(std::chrono::nanoseconds left) const {
  // The kernel counts in ticks and may be late, so a wait that ends soon is left to libuv.
  if (left < 2 * longest_read) return false;
  Readable* const connection = only_awaited();
  return connection != nullptr && connection->try_read(true);
}

bool DirectReads::may_wait(Deadline now, int loop) {
  if (may_neglect_others(now)) return true;
  ask_about_all_by(now + longest_silence);
  return all_quiet(loop);
}

bool DirectReads::all_quiet(int loop) {
  asked_.assign(1, {loop, POLLIN, 0});
  for (const Readable* const connection : unwatched_) {
    asked_.push_back({connection->descriptor(), POLLIN, 0});
  }
  return ::poll(asked_.data(), asked_.size(), 0) == 0;
}

void DirectReads::watch_all() {
  for (Readable* const connection : unwatched_) {
    connection->watched_ = true;
    connection->watch();
  }
  unwatched_.clear();
}

bool let_reads_wait(int fd) noexcept {
  constexpr timeval limit{0, std::chrono::microseconds(longest_read).count()};
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0) return false;
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

}  // namespace sheaf::socket
