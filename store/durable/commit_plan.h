#pragma once

// When a store's file is written, and what may be answered before that.
//
//   state    meaning                                       next
//   saved    the file has everything                       unsaved: note(true)
//   unsaved  changes wait for a commit                     saved: committed(); broken: failed()
//   broken   the last commit failed; the store is frozen   saved: committed()
//
// durability=acknowledged: the result of a request is sent once the file has it. A commit includes
// everything executed so far. While more requests wait to be executed, it is delayed, at most as
// long as the last commit took and at most 10 ms. So a request waits for two commits at worst, and
// a slow disk gets larger groups.
//
// durability=INTERVAL: results are sent at once and are in the file an interval later.
//
// Versions must grow over a restart even if they were sent before, or without, being saved: with an
// interval, and with persist=asked. Therefore the file promises in advance that no version beyond a
// ceiling was sent; a version beyond it needs a commit first.
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

  // Interval 0: acknowledged. `all_saved`: every version is saved. `clock` is the engine's after
  // loading the file, which promises nothing beyond it.
  CommitPlan(std::chrono::milliseconds interval, bool all_saved, const Timestamp& clock) noexcept
      : interval_(interval), all_saved_(all_saved), ceiling_{clock.wall, clock.counter, {}} {}

  // Call it after anything that may have changed the store.
  void note(bool unsaved, Deadline now) noexcept;
  // True if answers and notifications may be sent; `clock` is the newest version.
  bool may_tell(const Timestamp& clock) const noexcept;
  // `more`: further requests are ready and will be executed in a moment.
  bool due(const Timestamp& clock, Deadline now, bool more) const noexcept;
  // When due() becomes true at the latest; nothing if everything is saved.
  std::optional<Deadline> next() const noexcept;

  // The ceiling that the header of a commit promises.
  Timestamp promise(const Timestamp& clock, std::chrono::milliseconds wall) const noexcept;
  void committed(const Timestamp& promised, std::chrono::nanoseconds took) noexcept;
  void failed(Deadline now) noexcept;
  bool broken() const noexcept { return retry_at_.has_value(); }

 private:
  bool acknowledged() const noexcept { return interval_.count() == 0; }
  bool beyond_ceiling(const Timestamp& clock) const noexcept;

  std::chrono::milliseconds interval_;
  bool all_saved_;
  Timestamp ceiling_;
  std::chrono::nanoseconds hold_{0};
  std::optional<Deadline> unsaved_since_;
  std::optional<Deadline> retry_at_;
};

}  // namespace sheaf::store
