#pragma once

// ConnectionForBatch: an extra connection for a blocking batch of gets, where that is faster than
// sharing the client's own (docs/design/0011-extra-connections.md).
//
// Thread rule: belongs to the caller.

#include <cstdint>
#include <span>

#include "client/calls/batch.h"
#include "client/calls/extra_connection.h"

namespace sheaf::client::calls {

class ConnectionForBatch {
 public:
  // Borrows one, if the batch should have one and one is free or soon will be.
  ConnectionForBatch(runtime::Context& context, const cluster::BatchPlan& plan,
                     const BatchTerms& terms, Stop stop);

  // False: the batch uses the client's own path.
  bool is_extra() const noexcept { return static_cast<bool>(lease_); }
  runtime::Path& path() const noexcept { return lease_ ? *lease_ : context_.path(); }
  HowToWait how_to_wait() const noexcept { return how_; }
  // Some of its nodes have not answered all over the extra connection.
  void distrust(std::span<const std::uint32_t> nodes) const { lease_.distrust(nodes); }

 private:
  runtime::Context& context_;
  runtime::ExtraConnections::Lease lease_;
  HowToWait how_;
};

// How the caller of a batch waits if it uses the client's own path.
HowToWait on_own_path(runtime::Context& context, const cluster::BatchPlan& plan) noexcept;

}  // namespace sheaf::client::calls
