#pragma once

// OpenRequests: the requests of one connection whose callers are still owed an event. Each protocol
// pairs replies with requests in its own way, in a table of its own. This interface is what the
// life of the connection needs from such a table.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>

#include "protocol/output_queue.h"
#include "protocol/session.h"

namespace sheaf::protocol {

// What every protocol keeps of a request.
struct OpenRequest {
  Ticket ticket;
  OutputQueue::FrameId frame = 0;
  bool acts_early = false;  // the server may act on it before all of it has left
  bool only_reads = false;  // it changes nothing, however much has left: it may be sent again
  Sent sent = Sent::no;     // what is known of it, once the connection has ended
};

class OpenRequests {
 public:
  // Number of callers that are owed an event.
  virtual std::size_t waiting() const noexcept = 0;
  // The request of a caller that is owed an event, or null.
  virtual OpenRequest* find(Ticket ticket) noexcept = 0;
  // The next such request at or after `position`, which moves to it; null after the last. Positions
  // begin at 0 and stay valid while nothing is added or dropped.
  virtual OpenRequest* next(std::size_t& position) noexcept = 0;
  // Its caller has had its event, or no longer wants one. The reply may still come.
  virtual void abandon(OpenRequest& request) noexcept = 0;
  // The same, but no byte of it has left or will leave: no reply can come.
  virtual void drop(OpenRequest& request) noexcept = 0;

 protected:
  ~OpenRequests() = default;
};

}  // namespace sheaf::protocol
