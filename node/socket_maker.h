#pragma once

// SocketMaker: makes all connections to one node (for its pool, its prober and watch lines) and
// gives each a number that is never used again.
//
// Lifetime: the options and parts must outlive it. Thread rule: belongs to one lane.

#include <memory>

#include "node/node_options.h"
#include "socket/client_socket.h"

namespace sheaf::node {

class SocketMaker {
 public:
  SocketMaker(const NodeOptions& options, const NodeParts& parts) noexcept
      : options_(options), parts_(parts) {}

  // Starts to dial. The session must be ready within `timeout`.
  std::unique_ptr<socket::ClientSocket> make(protocol::SessionUse use,
                                             socket::ClientSocketOwner& owner,
                                             std::chrono::nanoseconds timeout, Now now);
  // The same for the node's pool; on a replica the session is made for reading.
  std::unique_ptr<socket::ClientSocket> make_pooled(socket::ClientSocketOwner& owner,
                                                    std::chrono::nanoseconds timeout, Now now);
  // The node to which a connection leads.
  static unsigned node_of(std::uint64_t connection) noexcept {
    return static_cast<unsigned>(connection >> number_bits) - 1;
  }

 private:
  static constexpr unsigned number_bits = 40;  // of a connection's number; the others: node + 1

  const NodeOptions& options_;
  const NodeParts& parts_;
};

}  // namespace sheaf::node
