#pragma once

// DoneHandle: what the copies of a ComputeDone share. If the last of them is destroyed before the
// computation has ended, the computation has failed.
//
// Thread rule: any thread.

#include <memory>
#include <utility>

#include "client/compute/pending_compute.h"

namespace sheaf::client::compute {

class DoneHandle {
 public:
  explicit DoneHandle(std::shared_ptr<PendingCompute> its_pending) noexcept
      : pending(std::move(its_pending)) {}
  ~DoneHandle();
  DoneHandle(const DoneHandle&) = delete;
  DoneHandle& operator=(const DoneHandle&) = delete;

  const std::shared_ptr<PendingCompute> pending;
};

}  // namespace sheaf::client::compute
