#pragma once

// When a store's file is written, and what may be told before that.
//
//   state    what holds                                    next
//   saved    the file has everything                       unsaved: note(true)
//   unsaved  changes wait for a commit                     saved: committed(); broken: failed()
//   broken   the last commit failed; the store is frozen   saved: committed()
//
// durability=acknowledged: what was executed is told when the file has it. A commit takes in all
// that has been executed; while more requests wait to be executed it waits for them, at most as
// long as the last commit took. So it is as slow as two commits at worst, and a slow disk gets
// larger groups.
//
// durability=INTERVAL: what was executed is told at once, and is in the file an interval later.
// Versions must grow over a restart all the same, so the file promises ahead that none beyond a
// ceiling was told; a version beyond it needs a commit first.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "protocol/statestore/clock.h"

namespace sheaf::store {

class CommitPlan {
 public:
  using Timestamp = protocol::statestore::Timestamp;

  // 0: acknowledged. `clock` is the engine's after the file was loaded; the file promises no more.
  CommitPlan(std::chrono::milliseconds interval, const Timestamp& clock) noexcept
      : interval_(interval), ceiling_{clock.wall, clock.counter, {}} {}

  // After whatever may have changed the store.
  void note(bool unsaved, Deadline now) noexcept;
  // Whether answers and notifications may go out, `clock` being the newest version.
  bool may_tell(const Timestamp& clock) const noexcept;
  // `more`: further requests are there and will be executed in a moment.
  bool due(const Timestamp& clock, Deadline now, bool more) const noexcept;
  // When due() is true at the latest; none if everything is saved.
  std::optional<Deadline> next() const noexcept;

  // What the header of a commit promises.
  Timestamp promise(const Timestamp& clock, std::chrono::milliseconds wall) const noexcept;
  void committed(const Timestamp& promised, std::chrono::nanoseconds took) noexcept;
  void failed(Deadline now) noexcept;
  bool broken() const noexcept { return retry_at_.has_value(); }

 private:
  bool acknowledged() const noexcept { return interval_.count() == 0; }
  bool beyond_ceiling(const Timestamp& clock) const noexcept;

  std::chrono::milliseconds interval_;
  Timestamp ceiling_;
  std::chrono::nanoseconds hold_{0};
  std::optional<Deadline> unsaved_since_;
  std::optional<Deadline> retry_at_;
};

}  // namespace sheaf::store
