#pragma once

// Reader: reads part of a list: the head, the segments that overlap, the items asked for, nothing
// else. It takes no lock. Everything that a head names exists and never changes while that head is
// the newest, so everything read belongs together. If something is missing, the head is an old one
// by now and is read again.
//
//   head -> segments -> items -> done
//   any  -> head      something is missing, or the connection was lost
//
// If the head is the same the second time and something is still missing, the list is damaged. That
// is an error or, if asked for, holes among the items. A hole counts only if the head is still the
// same after the hole was seen. All reads of one round use one connection: a store that has lost
// its memory answers on a new one.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/list/edit.h"
#include "client/list/pending_operations.h"

namespace sheaf::client::list {

struct ReadTerms {
  Deadline started{0};
  Deadline deadline{0};
  std::chrono::nanoseconds step_timeout{0};  // for one operation
};

// An item that is missing.
struct Hole {
  std::size_t place = 0;  // in ReadOutcome::items
  Id segment = 0;         // 0: the tail
  Id item = 0;            // 0: the whole segment is missing
};

struct ReadOutcome {
  std::uint64_t length = 0;        // of the list
  std::vector<std::string> items;  // empty where there are holes
  std::vector<Hole> holes;         // by place
};

class Reader final : public calls::Procedure {
 public:
  using Out = Result<ReadOutcome>;

  // Reads the items from `first` to `last`, both included; negative indexes count from the end.
  static std::unique_ptr<Reader> range(Keys keys, std::int64_t first, std::int64_t last,
                                       const ReadTerms& terms);
  // The same, but missing items become holes.
  static std::unique_ptr<Reader> with_holes(Keys keys, std::int64_t first, std::int64_t last,
                                            const ReadTerms& terms);
  static std::unique_ptr<Reader> length(Keys keys, const ReadTerms& terms);

  Out take_out() { return std::move(*out_); }

  void start(Now now) override { read_head(now); }
  void on_answer(unsigned id, const socket::Completion& answer) override;
  void on_deadline(Now) override {}
  bool on_cancel(Now now) override;
  void on_shutdown(Now now) override;
  bool poll_command(calls::Command& command) override { return pending_.poll(command); }
  Deadline poll_deadline() const override { return never; }
  bool done() const override { return out_.has_value(); }

 private:
  enum class State : std::uint8_t { head, segments, items, done };

  Reader(Keys keys, bool items, std::int64_t first, std::int64_t last, const ReadTerms& terms);
  void get(std::string key, std::size_t place, Now now);
  void read_head(Now now);
  void on_head(const socket::Completion& answer);
  void read_segments(Now now);
  void on_segment(std::size_t place, const socket::Completion& answer);
  void read_items(Now now);
  void on_item(std::size_t place, const socket::Completion& answer);
  void on_missing(const std::string& what, Id id, Now now);
  void collect();
  void on_error(const socket::Completion& answer);
  void fail(Error error, Now now);
  void finish(Now now);
  void deliver(Now now);

  const Keys keys_;
  bool holes_allowed_ = false;
  const bool wants_items_;
  const std::int64_t first_;
  const std::int64_t last_;
  const ReadTerms terms_;
  PendingOperations pending_;
  State state_ = State::head;
  std::uint64_t round_ = 0;
  unsigned lost_ = 0;  // connections lost so far
  std::uint64_t connection_ = 0;
  std::string head_bytes_;
  bool missed_ = false;  // something that head_bytes_ names was missing
  std::uint64_t length_ = 0;
  std::vector<SegmentRef> segments_;  // those that overlap the range
  Slice slice_;                       // the range, counted from the first of segments_
  std::vector<Id> ids_;               // the items asked for; 0: their segment is gone
  std::vector<Id> owners_;            // the segment of each of ids_
  std::unordered_set<Id> gone_;       // segments and items, in this round
  bool verifying_ = false;  // the head is being read again, to see if it is still the same
  std::size_t unanswered_ = 0;
  std::unordered_map<Id, std::vector<Id>> known_segments_;
  std::unordered_map<Id, std::string> known_items_;
  std::optional<Out> out_;
};

}  // namespace sheaf::client::list
