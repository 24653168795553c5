#pragma once

// NegotiatingSession: a session whose server may speak another protocol. It reports to the
// negotiation how the connection ended, and its close reason says whether the next connection will
// use another way.
//
// Thread rule: that of the inner session.
// Pure: no socket, clock, entropy, thread or callback.

#include <memory>

#include "protocol/memcached/negotiation.h"
#include "protocol/memcached/session.h"
#include "protocol/session_wrapper.h"

namespace sheaf::protocol::memcached {

class NegotiatingSession final : public SessionWrapper<MemcachedSession> {
 public:
  // The session was begun in the negotiation's next way. The negotiation outlives this object.
  NegotiatingSession(std::unique_ptr<MemcachedSession> session, Negotiation& negotiation)
      : SessionWrapper(std::move(session)), negotiation_(negotiation), way_(negotiation.next()) {}

  bool poll_event(Event& event) override;
  // A question is never ready: it ends once it is answered.
  bool ready() const override { return way_ != Way::question && SessionWrapper::ready(); }
  bool closed() const override { return answered_ || SessionWrapper::closed(); }
  const CloseReason& close_reason() const override {
    return ended_ ? reason_ : SessionWrapper::close_reason();
  }

 private:
  void on_answer(Dialect answered, Event& event);
  void on_end();

  Negotiation& negotiation_;
  Way way_;
  bool was_ready_ = false;
  bool answered_ = false;
  bool ended_ = false;
  CloseReason reason_;  // once it has ended
};

}  // namespace sheaf::protocol::memcached
