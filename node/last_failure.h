#pragma once

// LastFailure: why the last connection of a node failed or ended. Users read it in the `not_sent`
// errors of requests while the node is down.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: a plain value.

#include <string>

#include "protocol/session.h"

namespace sheaf::node {

class LastFailure {
 public:
  void note(const protocol::CloseReason& why) {
    if (why.reason == Reason::closed) return;  // by us
    text_ = why.text;
    refused_log_in_ = why.reason == Reason::authentication;
  }
  // A connection is ready.
  void clear() noexcept { text_.clear(); }

  const std::string& text() const noexcept {
    static const std::string silence = "requests timed out without any answer";
    return text_.empty() ? silence : text_;
  }
  Reason reason() const noexcept {
    return refused_log_in_ ? Reason::authentication : Reason::node_down;
  }

 private:
  std::string text_;
  bool refused_log_in_ = false;
};

}  // namespace sheaf::node
