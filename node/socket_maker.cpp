#include "node/socket_maker.h"

#include <utility>

namespace sheaf::node {

using protocol::SessionUse;
using socket::ClientSocket;

std::unique_ptr<ClientSocket> SocketMaker::make(protocol::SessionUse use,
                                                socket::ClientSocketOwner& owner,
                                                std::chrono::nanoseconds timeout, Now now) {
  auto socket = std::make_unique<ClientSocket>(parts_.loop, parts_.dialer, options_.endpoint,
                                               parts_.sessions.make(options_.index, use, now),
                                               owner, now.mono + timeout);
  socket->id = (std::uint64_t{options_.index} + 1) << number_bits | ++*options_.connections;
  return socket;
}

std::unique_ptr<ClientSocket> SocketMaker::make_pooled(socket::ClientSocketOwner& owner,
                                                       std::chrono::nanoseconds timeout, Now now) {
  const bool reads = options_.role == Role::replica;
  return make(reads ? SessionUse::reads : SessionUse::requests, owner, timeout, now);
}

}  // namespace sheaf::node
