#pragma once

// Makes the protocol session of a connection; the client layer implements it, so that nodes know no
// protocol.

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "protocol/session.h"

namespace sheaf::node {

class SessionFactory {
 public:
  virtual ~SessionFactory() = default;
  // `node` is the index of the node in the topology.
  virtual std::unique_ptr<protocol::Session> make(unsigned node, Now now) = 0;
  // The same sessions for another lane, if it may have some; else null. Any thread.
  virtual std::unique_ptr<SessionFactory> another() const { return nullptr; }
  // Whether its sessions take this key as one of get_many's. Any thread.
  virtual bool lists(std::string_view /*key*/) const noexcept { return false; }
};

}  // namespace sheaf::node
