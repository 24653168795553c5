#pragma once

// SessionFactory: makes the session of each connection of a cluster, in the protocol of its
// servers. It is all that nodes and clusters know of a protocol.
//
// Thread rule: belongs to one lane; members say what may be called from any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "protocol/known_servers.h"
#include "protocol/login.h"
#include "protocol/session.h"

namespace sheaf::protocol {

// What a connection is for.
enum class SessionUse : std::uint8_t {
  requests,
  // Requests to a node that copies another: the session makes the node serve reads from its copy,
  // which it would otherwise redirect.
  reads,
  probes,
  watches
};

class SessionFactory {
 public:
  virtual ~SessionFactory() = default;
  // `node` is the node's index in the topology; any index at any time. State that sessions share
  // lives in the factory, which outlives them.
  virtual std::unique_ptr<Session> make(unsigned node, SessionUse use, Now now) = 0;
  // The node has left the topology, and all its sessions are gone: from now on the index may mean
  // another server.
  virtual void forget(unsigned /*node*/) {}
  // Sessions that start from now on use this login. Those already started learn of it from their
  // connections (Session::renew_login).
  virtual void set_login(SharedLogin login) { login_->present = std::move(login); }
  // The user that they log in as; empty: no user, or a token.
  std::string_view user() const noexcept {
    return login_->present == nullptr ? std::string_view() : login_->present->user;
  }
  // Sessions made from now on refuse servers that are strangers when they greet. Null: none is one.
  void judge_by(std::shared_ptr<const KnownServers> known) noexcept { known_ = std::move(known); }
  const std::shared_ptr<const KnownServers>& known() const noexcept { return known_; }
  // True if its sessions accept this key in a get_many. Any thread.
  virtual bool takes_batches(std::string_view /*key*/) const noexcept { return false; }
  // The same for a set_many.
  virtual bool sets_batches(std::string_view /*key*/, std::string_view /*value*/) const noexcept {
    return false;
  }

 protected:
  SharedLoginSlot login() const noexcept { return login_; }

 private:
  std::shared_ptr<const KnownServers> known_;
  std::shared_ptr<LoginSlot> login_ = std::make_shared<LoginSlot>();
};

}  // namespace sheaf::protocol
