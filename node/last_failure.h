#pragma once

// LastFailure: why the last connection of a node failed or ended. Users see it in the `not_sent`
// errors of requests while the node is down.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: a plain value.

#include <string>
#include <string_view>

#include "protocol/session.h"

namespace sheaf::node {

class LastFailure {
 public:
  // `named_by`: the server that named the node's address; empty: the configuration did.
  void note(const protocol::CloseReason& why, std::string_view named_by = {}) {
    if (why.reason == Reason::closed) return;  // by us
    text_ = why.text;
    if (!named_by.empty() && why.reason == Reason::connect_failed) {
      text_.append(" (").append(named_by).append(" named this address)");
    }
    const bool says_more = why.reason == Reason::authentication ||
                           why.reason == Reason::foreign_server ||
                           (why.reason == Reason::protocol_error && why.not_understood);
    reason_ = says_more ? why.reason : Reason::node_down;
    not_understood_ = why.not_understood;
  }
  // A connection is ready.
  void clear() noexcept {
    text_.clear();
    reason_ = Reason::node_down;
    not_understood_ = false;
  }

  const std::string& text() const noexcept {
    static const std::string silence = "requests timed out without any answer";
    return text_.empty() ? silence : text_;
  }
  // Also says what the server is, if it is the wrong one; else that the node is down.
  Reason reason() const noexcept { return reason_; }
  bool not_understood() const noexcept { return not_understood_; }

 private:
  std::string text_;
  Reason reason_ = Reason::node_down;
  bool not_understood_ = false;
};

}  // namespace sheaf::node
