#pragma once

// Writer: everything that one client writes to one list, one commit after the other. Pushes that
// wait at the same time become one commit; other edits go alone.
//
//   idle -> opening -> reading -> storing -> committing -> idle | reading | lingering | resting
//
//   opening     the register gets ready
//   reading     the one segment that the edits need, unless it is known
//   storing     new items and segments, side by side; the item that a remove returns
//   committing  the new head; then everybody waiting is told
//   lingering   open for a moment more when edits came one right after the other: a program that
//   pushes
//               in a loop pays two round trips for each, not six
//   resting     the register was in use for its time: others get their turn first
//
// A lost attempt begins again with the same edits, as long as their deadlines last; an edit whose
// deadline comes before its commit was sent has no effect. A commit without an answer is `unknown`
// for its edits, and never repeated.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "base/random.h"
#include "client/list/edit.h"
#include "client/list/register.h"

namespace sheaf::client::list {

// What an edit comes to.
struct EditOutcome {
  bool found = true;                   // insert, update, remove: there was such an index
  std::uint64_t length = 0;            // right after this edit
  std::optional<std::string> removed;  // remove
  std::uint64_t dropped = 0;           // drop
};

// An edit and whoever waits for it. It stays where it is until it was told.
class EditRequest {
 public:
  Edit edit;
  Deadline started{0};
  Deadline deadline{0};
  std::optional<Result<EditOutcome>> outcome;  // set when it has ended

  std::size_t bytes() const noexcept;
};

struct WriterOptions {
  std::size_t commit_items = 2'000;     // of pushes put together
  std::size_t commit_bytes = 4u << 20;  // but one edit may have more
  // How soon the next edit must come to count as one right after the other: twice as long as the
  // last commit took, within these bounds.
  std::chrono::milliseconds least_linger{2};
  std::chrono::milliseconds most_linger{20};
  // After the register's time others get their turn, but not before so many commits unless those
  // take so much longer: a slow machine would do nothing but hand over.
  unsigned turn_commits = 32;
  std::chrono::milliseconds turn_extra{75};
  std::chrono::milliseconds rest{2};  // 1 to 2 times as long, at random
  std::uint64_t head_limit = 16u << 20;
  PlanOptions plan;
};

class Writer final : public calls::Procedure {
 public:
  Writer(Keys keys, std::unique_ptr<Register> list_register, WriterOptions options, Seed seed);

  // The request comes back by poll_ended(), at the latest at its deadline.
  void add(EditRequest& request, Now now);
  // The next request that has ended; null if there is none.
  EditRequest* poll_ended();
  // Lets go of the register if nobody waits.
  void let_go(Now now);
  // The register is being let go.
  bool letting_go() const noexcept { return register_->closing(); }
  // Nothing is wanted or in flight, and no edit waits.
  bool idle() const noexcept { return state_ == State::idle && queue_.empty(); }
  // It will not be used again: done as soon as it is idle.
  void retire() noexcept { retired_ = true; }

  void start(Now) override {}
  void on_answer(unsigned id, const socket::Completion& answer) override;
  void on_deadline(Now now) override;
  void on_hint(Now now) override;
  void on_shutdown(Now now) override;
  bool poll_command(calls::Command& command) override { return register_->poll_command(command); }
  Deadline poll_deadline() const override {
    return std::min({due_, register_->poll_deadline(), wake_at_});
  }
  std::string_view watched_key() const override { return register_->watched_key(); }
  bool done() const override { return retired_ && idle() && ended_.empty(); }

 private:
  enum class State : std::uint8_t {
    idle,
    opening,
    reading,
    storing,
    committing,
    lingering,
    resting
  };

  void proceed(Now now);
  void on_event(const RegisterEvent& event, Now now);
  void open(Now now);
  void begin(Now now);
  void take_group();
  bool know_segment(const SegmentRef& ref, std::vector<Id>& ids) const;
  void on_segment(Now now);
  void on_missing(Id id, const std::string& what, Now now);
  void plan_and_store(const std::vector<Id>& ids, Now now);
  void commit(Now now);
  void on_committed(Now now);
  void keep_segments();
  void tell(Now now);
  void go_on(Now now);
  void on_lost(const Error& error, Now now);
  void on_failed(const Error& error, Now now);
  void fail_group(const Error& error, Now now);
  void fail_damaged(std::string text, Reason reason, Now now);
  void expire(Now now);
  void put_back();
  void end(EditRequest& request, Result<EditOutcome> outcome);
  void end_late(EditRequest& request, Now now);
  Deadline group_end() const;
  Deadline last_deadline() const;
  void close(Now now);
  bool turn_over(Now now) const;
  std::chrono::nanoseconds linger() const;
  void rest(std::chrono::nanoseconds time, Now now);

  const Keys keys_;
  const std::unique_ptr<Register> register_;
  const WriterOptions options_;
  Random random_;
  State state_ = State::idle;
  bool retired_ = false;
  bool shut_down_ = false;
  std::deque<EditRequest*> queue_;
  std::vector<EditRequest*> group_;  // of the commit in work; null: its caller has been told
  std::deque<EditRequest*> ended_;
  Plan plan_;
  std::size_t alone_ = 0;  // so many edits are not put together: one of them was refused
  bool hurried_ = false;   // the last edit came right after the outcome of one before it
  Deadline told_at_ = Deadline::min();
  Deadline began_at_{0};              // the commit in work, or the last one
  std::chrono::nanoseconds took_{0};  // from there to the outcome
  unsigned commits_ = 0;              // since the register was opened
  bool begin_ = false;                // the register is open for the next group
  unsigned losses_ = 0;               // attempts in a row
  Id missing_ = 0;                    // what the last attempt did not find
  Deadline due_ = never;              // no deadline of an edit is earlier
  Deadline wake_at_ = never;          // lingering, resting
  std::string last_error_;            // of attempts that were lost

  // Segments by id: those that were read or written last.
  std::uint64_t incarnation_ = 0;
  std::deque<NewSegment> segments_;
};

}  // namespace sheaf::client::list
