#pragma once

// Request: a request as a node sees it. It adds to the socket's part what decides which connection
// may carry it and what is counted and logged when it ends.
//
// Thread rule: touched only under the lane's baton, from start to on_done.

#include <memory>

#include "socket/request.h"

namespace sheaf::node {

class Request : public socket::Request {
 public:
  std::uint64_t only_on = 0;  // the connection that must carry it, else it is not sent; 0 = any
  Deadline started_at{0};     // when whoever starts it did so; log records measure from here
  bool counted = true;        // in statistics; the client's own requests are not
  // It only reads, and the node copies another: any answer but a value, and the loss of the
  // connection, is offered to the node's owner, who may ask elsewhere.
  bool provisional = false;
  std::shared_ptr<void> parent;  // of its call, for the observer

  // How many operations on keys have no answer yet, as far as they are counted.
  std::uint32_t unanswered() const noexcept { return counted ? width() - items_ : 0; }

 private:
  friend class ClientNode;
  std::uint32_t items_ = 0;  // keys of get_many that have been answered by themselves
};

}  // namespace sheaf::node
