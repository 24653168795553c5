#pragma once

// CommitAttempt: carries one group of edits into an open register: it plans them, stores what the
// plan needs and commits the new head.
//
//   idle       -> reading     the edits need a segment that is not known
//   idle       -> storing     they need none, or it is known: they are planned
//   reading    -> storing     the segment has come: they are planned
//   storing    -> committing  new items and segments are stored, and the item that a remove returns
//                             is read; storing is skipped if there is nothing to write or read
//   committing -> idle        committed
//   reading, idle -> confirming  the plan changes nothing, so no commit will show if the head is
//                             still the newest: it is read again
//   confirming -> idle        committed: it is; lost: another client has changed the list
//   reading, storing -> idle  lost: something is missing, so the head may have been an old one;
//                             failed: it is missing again, or damaged, or the list is too long
//   any        -> idle        give_up: the register was closed
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <optional>
#include <string>
#include <vector>

#include "client/list/edit.h"
#include "client/list/register.h"
#include "client/list/segment_cache.h"

namespace sheaf::client::list {

class CommitAttempt {
 public:
  // Keys and register outlive this object.
  CommitAttempt(const Keys& keys, Register& list_register, std::uint64_t head_limit,
                const PlanOptions& plan)
      : keys_(keys), register_(list_register), head_limit_(head_limit), options_(plan) {}

  // How far the attempt has come. After `lost` and `failed` the register is still open.
  struct Progress {
    enum class Kind : std::uint8_t { goes_on, committed, lost, failed };
    Kind kind = Kind::goes_on;
    Error error;  // lost, failed
  };

  // The register must be open. The edits must live until committing; they are pushes, or one edit
  // of another kind.
  Progress begin(std::vector<const Edit*> edits, Deadline until, Now now);
  // Call when the register has done what it was asked for.
  Progress on_done(Now now);
  void give_up() noexcept { state_ = State::idle; }

  bool committing() const noexcept { return state_ == State::committing; }
  // Valid once committed.
  const Plan& plan() const noexcept { return plan_; }
  std::optional<std::string> removed() const;

 private:
  enum class State : std::uint8_t { idle, reading, storing, confirming, committing };
  using Kind = Progress::Kind;

  Progress on_segment(Now now);
  Progress on_missing(Id id, const char* what, Now now);
  Progress plan_and_store(const std::vector<Id>& ids, Now now);
  Progress confirm(Now now);
  Progress on_confirmed();
  Progress commit(Now now);
  Progress on_committed();
  Progress end(Kind kind, Reason reason, std::string text);

  const Keys& keys_;
  Register& register_;
  const std::uint64_t head_limit_;
  const PlanOptions options_;
  State state_ = State::idle;
  std::vector<const Edit*> edits_;
  Deadline until_{0};
  SegmentRef needed_;  // while reading
  Plan plan_;
  Id missing_ = 0;  // what the previous attempt did not find
  SegmentCache segments_;
};

}  // namespace sheaf::client::list
