#pragma once

// LastFailure: why the last connection of a node failed or ended. Users see it in the `not_sent`
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
    no_tls_ = why.no_tls;
  }
  // A connection is ready.
  void clear() noexcept {
    text_.clear();
    refused_log_in_ = no_tls_ = false;
  }

  const std::string& text() const noexcept {
    static const std::string silence = "requests timed out without any answer";
    return text_.empty() ? silence : text_;
  }
  Reason reason() const noexcept {
    return refused_log_in_ ? Reason::authentication : Reason::node_down;
  }
  bool no_tls() const noexcept { return no_tls_; }

 private:
  std::string text_;
  bool refused_log_in_ = false;
  bool no_tls_ = false;
};

}  // namespace sheaf::node
