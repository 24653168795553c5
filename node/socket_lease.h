#pragma once

// SocketLease: a pooled socket on loan. It is move-only, and its destructor gives the socket back.
//
// Lifetime: ends before the pool that lent it. Thread rule: under the lane's baton.

#include <utility>

#include "node/socket_pool.h"

namespace sheaf::node {

class SocketLease {
 public:
  SocketLease() = default;
  SocketLease(SocketPool& pool, socket::ClientSocket& socket) noexcept
      : pool_(&pool), socket_(&socket) {
    pool.lend(socket);
  }
  SocketLease(SocketLease&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        socket_(std::exchange(other.socket_, nullptr)) {}
  SocketLease& operator=(SocketLease&& other) noexcept {
    if (this != &other) {
      give_back();
      pool_ = std::exchange(other.pool_, nullptr);
      socket_ = std::exchange(other.socket_, nullptr);
    }
    return *this;
  }
  ~SocketLease() { give_back(); }

  explicit operator bool() const noexcept { return socket_ != nullptr; }
  socket::ClientSocket& operator*() const noexcept { return *socket_; }
  socket::ClientSocket* operator->() const noexcept { return socket_; }
  void give_back() noexcept {
    if (socket_ != nullptr) pool_->give_back(*socket_);
    pool_ = nullptr;
    socket_ = nullptr;
  }

 private:
  SocketPool* pool_ = nullptr;
  socket::ClientSocket* socket_ = nullptr;
};

}  // namespace sheaf::node
