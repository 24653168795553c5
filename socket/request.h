#pragma once

// Request: one operation on its way through cluster, node and socket. Each layer adds its part by
// deriving from the layer below (node::Request, cluster::Request). The submitter owns the request;
// the layers borrow it until RequestSink::on_done, which is called exactly once, at the latest at
// the deadline.
//
// Thread rule: touched only under the lane's baton, from start to on_done.

#include <cstddef>
#include <cstdint>
#include <span>
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
  // For a request with `keys`: the result of one of them (protocol::Event::Kind::item). Views live
  // during the call, which must not start or end a request.
  virtual void on_item(Request&, std::uint32_t /*index*/, const protocol::Reply&, Now) {}
  // The request belongs to the submitter again. May start other requests; must not destroy the
  // node.
  virtual void on_done(Request& request, const Completion& completion) = 0;

 protected:
  ~RequestSink() = default;
};

class Request : public ListHook<Request> {
 public:
  Request() = default;

  protocol::Operation operation;
  RequestSink* sink = nullptr;

  // Bookkeeping of the socket that carries the request.
  ClientSocket* socket = nullptr;
  protocol::Ticket ticket;
  Deadline submitted_at{0};

  // The number of operations on keys that the request represents.
  std::uint32_t width() const noexcept {
    const auto keys = static_cast<std::uint32_t>(operation.keys.size());
    return keys == 0 ? 1 : keys;
  }
  // What a window counts besides the width: bytes that wait for an answer. The key of a command is
  // one of its words.
  std::size_t cost() const noexcept {
    std::size_t bytes = std::size_t{256} * width();
    for (const std::string_view value : operation.values) bytes += value.size();
    const auto add = [&bytes](std::span<const std::string_view> words) {
      for (const std::string_view word : words) bytes += word.size();
    };
    add(operation.words);
    for (const auto words : operation.commands) add(words);
    if (!operation.words.empty()) return bytes;
    return bytes + operation.key.size() + operation.value.size();
  }
};

}  // namespace sheaf::socket
