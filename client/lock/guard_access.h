#pragma once

// GuardAccess: makes guards and results of sessions.
//
// Thread rule: any thread.

#include <memory>
#include <utility>

#include <sheaf/locker.h>

#include "client/lock/lock_session.h"

namespace sheaf::client::lock {

struct GuardAccess {
  // The result of a session that is settled.
  LockResult operator()(std::shared_ptr<LockSession> session) const noexcept {
    if (session->acquired()) return LockGuard(std::move(session));
    if (const auto& failure = session->failure()) return Failure(*failure);
    return {};
  }
};

}  // namespace sheaf::client::lock
