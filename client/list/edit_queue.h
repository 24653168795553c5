#pragma once

// EditQueue: the edits that a writer was given. Each waits, is then one of the group in work, and
// ends with an outcome.
//
//   waiting -> group       take_group: one commit; pushes that wait together become one group
//   group   -> waiting     put_back: the attempt was lost or given up
//   group   -> ended       committed, failed, late, or cancelled
//   waiting -> ended       failed, late, or cancelled
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/result.h>

#include "base/clock.h"
#include "client/list/edit.h"

namespace sheaf::client::list {

// What has become of an edit.
struct EditOutcome {
  bool found = true;                   // insert, update, remove: there was such an index
  std::uint64_t length = 0;            // right after this edit
  std::optional<std::string> removed;  // remove
  std::uint64_t dropped = 0;           // drop
};

// An edit of a caller. It must stay where it is until it has ended.
class EditRequest {
 public:
  Edit edit;
  Deadline started{0};
  Deadline deadline{0};
  std::optional<Result<EditOutcome>> outcome;  // set when it has ended

  std::size_t bytes() const noexcept;
  bool late(Now now) const noexcept { return deadline <= now.mono; }
};

class EditQueue {
 public:
  // How many pushes become one group; a single edit may have more.
  struct Limits {
    std::size_t items = 2'000;
    std::size_t bytes = 4u << 20;
  };
  explicit EditQueue(Limits limits) : limits_(limits) {}

  // The request comes back by poll_ended().
  void add(EditRequest& request);
  // The next request that has ended; null if there is none.
  EditRequest* poll_ended();

  bool waiting() const noexcept { return !waiting_.empty(); }
  bool all_polled() const noexcept { return ended_.empty(); }
  std::size_t group_size() const noexcept { return group_.size(); }
  bool group_late(Now now) const;
  // No edit, waiting or in work, has an earlier deadline.
  Deadline earliest() const noexcept { return earliest_; }
  Deadline last_waiting() const;
  Deadline last_of_group() const;

  // There is an edit that waits, and no group.
  void take_group();
  void put_back();
  // Each of the group is tried alone next time: one of them was refused.
  void divide_group() {
    alone_ = group_.size();
    put_back();
  }
  // Before any of the group has expired.
  std::vector<const Edit*> group_edits() const;

  // Ends the group: as planned, or with an error.
  void end_group(const Plan& plan, const std::optional<std::string>& removed);
  void fail_group(const Error& error, Now now);
  void fail_waiting(const Error& error, Now now);
  // Ends one that waits or is in work; the others stay.
  void cancel(EditRequest& request, const Error& error, Now now);
  bool in_group(const EditRequest& request) const;
  // Ends those whose deadline has come; the others stay.
  void expire_group(const Error& error, Now now);
  void expire_waiting(const Error& error, Now now);
  // Ends a request that was not added.
  void fail(EditRequest& request, const Error& error, Now now);

 private:
  void end(EditRequest& request, Result<EditOutcome> outcome);
  void find_earliest();

  const Limits limits_;
  std::deque<EditRequest*> waiting_;
  std::vector<EditRequest*> group_;  // null: that one has expired
  std::deque<EditRequest*> ended_;
  std::size_t alone_ = 0;  // so many edits are not put together
  Deadline earliest_ = never;
};

}  // namespace sheaf::client::list
