#pragma once

// SessionFactory: makes the session of each connection of a cluster, in the protocol of its
// servers. It is all that nodes and clusters know of a protocol.
//
// Thread rule: belongs to one lane; members say what may be called from any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <memory>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "protocol/login.h"
#include "protocol/session.h"

namespace sheaf::protocol {

class SessionFactory {
 public:
  virtual ~SessionFactory() = default;
  // `node` is the index of the node in the topology; any at any time. What its sessions share lives
  // in the factory, which outlives them.
  virtual std::unique_ptr<Session> make(unsigned node, Now now) = 0;
  // The same for a node that copies another and is only read: it serves reads of its copy where it
  // would else send them to the other.
  virtual std::unique_ptr<Session> make_reader(unsigned node, Now now) { return make(node, now); }
  // The node has left the topology, and all its sessions are gone: the index may be that of another
  // server from now on.
  virtual void forget(unsigned /*node*/) {}
  // The same sessions for another lane, if it may have some; else null. They have no login yet. Any
  // thread.
  virtual std::unique_ptr<SessionFactory> another() const { return nullptr; }
  // Sessions that start from now on log in as this one. Those that have started are told by their
  // connections (Session::renew_login).
  virtual void set_login(SharedLogin login) { login_->present = std::move(login); }
  // As whom they log in; empty: as nobody, or by a token.
  std::string_view user() const noexcept {
    return login_->present == nullptr ? std::string_view() : login_->present->user;
  }
  // Whether its sessions take this key as one of get_many's. Any thread.
  virtual bool takes_batches(std::string_view /*key*/) const noexcept { return false; }

 protected:
  SharedLoginSlot login() const noexcept { return login_; }

 private:
  std::shared_ptr<LoginSlot> login_ = std::make_shared<LoginSlot>();
};

}  // namespace sheaf::protocol
