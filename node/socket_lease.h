#pragma once

// A pooled socket on loan: move-only; its end gives the socket back. A socket may be lent many
// times at once; when the last loan ends and the socket is not as good as new, it is closed, never
// kept.
//
// Lifetime: ends before the node that lent it. Thread rule: under the lane's baton.

#include <utility>

#include "socket/client_socket.h"

namespace sheaf::node {

class ClientNode;

class SocketLease {
 public:
  SocketLease() = default;
  SocketLease(ClientNode& node, socket::ClientSocket& socket) noexcept;
  SocketLease(SocketLease&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)),
        socket_(std::exchange(other.socket_, nullptr)) {}
  SocketLease& operator=(SocketLease&& other) noexcept {
    if (this != &other) {
      give_back();
      node_ = std::exchange(other.node_, nullptr);
      socket_ = std::exchange(other.socket_, nullptr);
    }
    return *this;
  }
  ~SocketLease() { give_back(); }

  explicit operator bool() const noexcept { return socket_ != nullptr; }
  socket::ClientSocket& operator*() const noexcept { return *socket_; }
  socket::ClientSocket* operator->() const noexcept { return socket_; }
  void give_back() noexcept;

 private:
  ClientNode* node_ = nullptr;
  socket::ClientSocket* socket_ = nullptr;
};

}  // namespace sheaf::node
