#pragma once

// GuardAccess: turns a session into a guard or another result.
//
// Thread rule: any thread.

#include <memory>
#include <utility>

#include <sheaf/locker.h>

#include "client/lock/lock_session.h"

namespace sheaf::client::lock {

struct GuardAccess {
  // The result of a settled session.
  LockResult operator()(std::shared_ptr<LockSession> session) const noexcept {
    if (session->acquired()) return LockGuard(std::move(session));
    if (const auto& failure = session->failure()) return Failure(*failure);
    return {};
  }
};

}  // namespace sheaf::client::lock
