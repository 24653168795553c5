#pragma once

// One operation on its way through cluster, node and socket. The submitter owns it; the layers
// below borrow it until RequestSink::on_done, which comes exactly once, at the latest by the
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
  std::string_view route;     // what places it instead of the key; empty = the key
  bool at_owner = false;      // its key's owner or nobody, whatever the failover mode
  std::uint64_t only_on = 0;  // a connection that must carry it, else it is not sent; 0 = any

  // Bookkeeping of the layers below.
  static constexpr std::size_t no_place = static_cast<std::size_t>(-1);
  unsigned node = 0;                      // index in the topology
  std::size_t deadline_place = no_place;  // in the cluster's deadline queue
  ClientSocket* socket = nullptr;         // carries it, once submitted
  protocol::Ticket ticket;
  Deadline submitted_at{0};
  std::uint32_t items = 0;  // keys of get_many that were told

  // What decides its place.
  std::string_view place() const noexcept { return route.empty() ? operation.key : route; }
  // How many operations on keys it stands for, and how many of them have no answer.
  std::uint32_t width() const noexcept {
    const auto keys = static_cast<std::uint32_t>(operation.keys.size());
    return keys == 0 ? 1 : keys;
  }
  std::uint32_t open() const noexcept { return width() - items; }
  // What the window counts, beside the width: bytes that wait for an answer.
  std::size_t cost() const noexcept {
    return operation.key.size() + operation.value.size() + std::size_t{256} * width();
  }
};

}  // namespace sheaf::socket
