#pragma once

// ConnectionForKey: an extra connection for one blocking operation on one key, where that is faster
// than sharing the client's own (docs/design/0011-extra-connections.md).
//
// Thread rule: belongs to the caller.

#include "client/calls/extra_connection.h"
#include "client/calls/requests.h"
#include "client/calls/work.h"

namespace sheaf::client::calls {

// The owner of a key in the topology of an epoch.
struct FoundOwner {
  std::uint64_t epoch = 0;
  std::uint32_t node = cluster::nobody;  // not looked for
};

class ConnectionForKey {
 public:
  // Borrows one, if the operation should have one and one is free.
  ConnectionForKey(runtime::Context& context, const KeyRequest& request, Deadline now);

  explicit operator bool() const noexcept { return static_cast<bool>(lease_); }
  runtime::Path& path() const noexcept { return *lease_; }
  const FoundOwner& owner() const noexcept { return owner_; }
  HowToWait how_to_wait() const noexcept { return {0, wait_on_extra_connection(request_.stop)}; }
  // The operation failed on it, and was on that node last. Returns true if it should go over the
  // client's own connection now: it had no effect, and that connection may still carry it out.
  bool failed(const Error& error, std::uint32_t node);

 private:
  runtime::Context& context_;
  const KeyRequest& request_;
  FoundOwner owner_;
  runtime::ExtraConnections::Lease lease_;
};

}  // namespace sheaf::client::calls
