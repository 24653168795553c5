#pragma once

// OpenRequests: the requests of one connection whose callers are still owed an event. Each protocol
// has its own way to pair replies with requests and keeps them in a table of its own; this is what
// the life of the connection needs to know of such a table.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>

#include "protocol/output_queue.h"
#include "protocol/session.h"

namespace sheaf::protocol {

// What a request of any protocol has.
struct OpenRequest {
  Ticket ticket;
  OutputQueue::FrameId frame = 0;
  bool acts_early = false;  // the server may act on it before all of it has left
  bool only_reads = false;  // whatever has left of it changes nothing: it may be sent again
  Sent sent = Sent::no;     // what is known of it, once the connection has ended
};

class OpenRequests {
 public:
  // How many callers are owed an event.
  virtual std::size_t waiting() const noexcept = 0;
  // The request of a caller who is owed an event, or null.
  virtual OpenRequest* find(Ticket ticket) noexcept = 0;
  // The next such request from `position` on, which moves to it; null after the last. Positions
  // begin at 0 and hold while nothing is added or dropped.
  virtual OpenRequest* next(std::size_t& position) noexcept = 0;
  // Its caller has had its event, or wants none any more. The reply may still come.
  virtual void abandon(OpenRequest& request) noexcept = 0;
  // The same, and no byte of it has left or will leave: nothing can come.
  virtual void drop(OpenRequest& request) noexcept = 0;

 protected:
  ~OpenRequests() = default;
};

}  // namespace sheaf::protocol
