#include "node/socket_maker.h"

namespace sheaf::node {

std::unique_ptr<socket::ClientSocket> SocketMaker::make(socket::ClientSocketOwner& owner,
                                                        std::chrono::nanoseconds timeout, Now now) {
  auto socket = std::make_unique<socket::ClientSocket>(
      parts_.loop, parts_.dialer, options_.endpoint, parts_.sessions.make(options_.index, now),
      owner, now.mono + timeout);
  socket->id = (std::uint64_t{options_.index} + 1) << number_bits | ++*options_.connections;
  return socket;
}

}  // namespace sheaf::node
