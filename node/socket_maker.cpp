#include "node/socket_maker.h"

#include <utility>

namespace sheaf::node {

using socket::ClientSocket;

std::unique_ptr<ClientSocket> SocketMaker::make(socket::ClientSocketOwner& owner,
                                                std::chrono::nanoseconds timeout, Now now) {
  return dial(parts_.sessions.make(options_.index, now), owner, timeout, now);
}

std::unique_ptr<ClientSocket> SocketMaker::make_pooled(socket::ClientSocketOwner& owner,
                                                       std::chrono::nanoseconds timeout, Now now) {
  if (options_.role != Role::replica) return make(owner, timeout, now);
  return dial(parts_.sessions.make_reader(options_.index, now), owner, timeout, now);
}

std::unique_ptr<ClientSocket> SocketMaker::dial(std::unique_ptr<protocol::Session> session,
                                                socket::ClientSocketOwner& owner,
                                                std::chrono::nanoseconds timeout, Now now) {
  auto socket = std::make_unique<ClientSocket>(parts_.loop, parts_.dialer, options_.endpoint,
                                               std::move(session), owner, now.mono + timeout);
  socket->id = (std::uint64_t{options_.index} + 1) << number_bits | ++*options_.connections;
  return socket;
}

}  // namespace sheaf::node
