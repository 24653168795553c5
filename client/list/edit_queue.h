#pragma once

// EditQueue: the edits given to a writer. Each one waits, joins the group in progress, and ends
// with an outcome.
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

// The outcome of an edit.
struct EditOutcome {
  bool found = true;                   // insert, update, remove: the index existed
  std::uint64_t length = 0;            // right after this edit
  std::optional<std::string> removed;  // remove
  std::uint64_t dropped = 0;           // drop
};

// A caller's edit. It must not move until it has ended.
class EditRequest {
 public:
  Edit edit;
  Deadline started{0};
  Deadline deadline{0};
  std::optional<Result<EditOutcome>> outcome;  // set when the edit has ended

  std::size_t bytes() const noexcept;
  bool late(Now now) const noexcept { return deadline <= now.mono; }
};

class EditQueue {
 public:
  // The most that pushes may add up to in one group; a single edit may have more.
  struct Limits {
    std::size_t items = 2'000;
    std::size_t bytes = 4u << 20;
  };
  explicit EditQueue(Limits limits) : limits_(limits) {}

  // The request comes back from poll_ended().
  void add(EditRequest& request);
  // The next request that has ended, or null.
  EditRequest* poll_ended();

  bool waiting() const noexcept { return !waiting_.empty(); }
  bool all_polled() const noexcept { return ended_.empty(); }
  std::size_t group_size() const noexcept { return group_.size(); }
  bool group_late(Now now) const;
  // The earliest deadline of all edits that wait or are in progress, or an earlier time.
  Deadline earliest() const noexcept { return earliest_; }
  Deadline last_waiting() const;
  Deadline last_of_group() const;

  // Needs an edit that waits, and no group in progress.
  void take_group();
  void put_back();
  // The store refused one edit of the group, so each of them is tried alone next time.
  void divide_group() {
    alone_ = group_.size();
    put_back();
  }
  // Only before an edit of the group has expired or was cancelled.
  std::vector<const Edit*> group_edits() const;

  // Ends the group, as planned or with an error.
  void end_group(const Plan& plan, const std::optional<std::string>& removed);
  void fail_group(const Error& error, Now now);
  void fail_waiting(const Error& error, Now now);
  // Ends one edit that waits or is in progress; the others stay.
  void cancel(EditRequest& request, const Error& error, Now now);
  bool in_group(const EditRequest& request) const;
  // Ends the edits whose deadline has come; the others stay.
  void expire_group(const Error& error, Now now);
  void expire_waiting(const Error& error, Now now);
  // Ends a request that was not added.
  void fail(EditRequest& request, const Error& error, Now now);

 private:
  void end(EditRequest& request, Result<EditOutcome> outcome);
  void find_earliest();

  const Limits limits_;
  std::deque<EditRequest*> waiting_;
  std::vector<EditRequest*> group_;  // null: that edit has expired or was cancelled
  std::deque<EditRequest*> ended_;
  std::size_t alone_ = 0;  // the next so many edits are each a group of their own
  Deadline earliest_ = never;
};

}  // namespace sheaf::client::list
