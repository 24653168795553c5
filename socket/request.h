#pragma once

// Request: one operation on its way through cluster, node and socket. Each layer adds its part by
// deriving from the one below (node::Request, cluster::Request). The submitter owns the whole; the
// layers borrow it until RequestSink::on_done, which comes exactly once, at the latest by the
// deadline.
//
// Thread rule: touched only under the lane's baton, from start to on_done.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/intrusive_list.h"
#include "protocol/session.h"
#include "socket/completion.h"

namespace sheaf::socket {

class ClientSocket;
class Request;

class RequestSink {
 public:
  // get_many only: what there is to say of one of its keys (protocol::Event::Kind::item). Views
  // live during the call, which starts and ends nothing.
  virtual void on_item(Request&, std::uint32_t /*index*/, const protocol::Reply&, Now) {}
  // The request is the submitter's again. May start other requests; must not destroy the node.
  virtual void on_done(Request& request, const Completion& completion) = 0;

 protected:
  ~RequestSink() = default;
};

class Request : public ListHook<Request> {
 public:
  Request() = default;

  protocol::Operation operation;
  RequestSink* sink = nullptr;

  // Bookkeeping of the socket that carries it.
  ClientSocket* socket = nullptr;
  protocol::Ticket ticket;
  Deadline submitted_at{0};

  // How many operations on keys it stands for.
  std::uint32_t width() const noexcept {
    const auto keys = static_cast<std::uint32_t>(operation.keys.size());
    return keys == 0 ? 1 : keys;
  }
  // What a window counts beside the width: bytes that wait for an answer. Of a command the key is
  // one of its words.
  std::size_t cost() const noexcept {
    std::size_t bytes = std::size_t{256} * width();
    if (operation.words.empty()) return bytes + operation.key.size() + operation.value.size();
    for (const std::string_view word : operation.words) bytes += word.size();
    return bytes;
  }
};

}  // namespace sheaf::socket
