#pragma once

// Writer: everything that one client writes to one list, one commit after the other. Pushes that
// wait at the same time share a commit; each other edit has its own. EditQueue holds the edits,
// CommitAttempt carries a group of them into the register; the writer decides when the register is
// opened, how long it is kept, and what follows an error.
//
//   idle      -> opening     an edit has come; the register gets ready
//   opening   -> working     it is open: the first group begins
//   working   -> ready       committed, and edits wait
//             -> lingering   committed, none waits, but edits came in quick succession: the
//                            register stays open for a moment, so that a program that pushes in a
//                            loop pays two round trips for each, not six
//             -> resting     committed, and the register was in use for its time: it is closed, and
//                            others get their turn first
//             -> idle        committed, and none waits; unknown; failed
//   ready     -> working     the end of the group before is handled: the next one begins
//   lingering -> ready       an edit has come
//             -> idle        none has come
//   resting   -> opening     the rest is over, and edits wait; idle if none does
//   opening, working -> opening | resting   lost: the same edits start again; at once the first
//                                           time, after a rest when it happens again
//   opening, working -> idle               the deadline of an edit came, or it was cancelled,
//                                          before its commit was sent
//
// An edit that is late or cancelled before its commit was sent has no effect: its attempt is given
// up and the others of its group start again. A commit without an answer is `unknown` for its edits
// and is never repeated.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <algorithm>
#include <memory>
#include <string>

#include <sheaf/metrics.h>

#include "base/random.h"
#include "client/list/commit_attempt.h"
#include "client/list/edit_queue.h"
#include "client/list/register.h"

namespace sheaf::client::list {

struct WriterOptions {
  EditQueue::Limits group;
  // An edit is in quick succession if it comes within twice the time that the last commit took;
  // that time is kept within these bounds.
  std::chrono::milliseconds least_linger{2};
  std::chrono::milliseconds most_linger{20};
  // After the register's time others get their turn, but not before this many commits, unless those
  // take this much longer: a slow machine would do nothing but hand over.
  unsigned turn_commits = 32;
  std::chrono::milliseconds turn_extra{75};
  std::chrono::milliseconds rest{2};  // 1 to 2 times as long, at random
  std::uint64_t head_limit = 16u << 20;
  PlanOptions plan;
  ListMetrics* counts = nullptr;  // added to if set; outlives the writer
};

class Writer final : public calls::Procedure {
 public:
  Writer(Keys keys, std::unique_ptr<Register> list_register, WriterOptions options, Seed seed);

  // The request comes back from poll_ended(), at its deadline at the latest.
  void add(EditRequest& request, Now now);
  // Ends an edit that its caller no longer wants. It must not have ended yet.
  void cancel(EditRequest& request, Now now);
  // The next request that has ended, or null.
  EditRequest* poll_ended() { return edits_.poll_ended(); }
  // True while the store has not answered that the register is closed. Once a client that closes
  // has waited long enough for that, it is false too.
  bool releasing() const noexcept { return register_->closing() && life_ != Life::overdue; }
  // No edit waits, and nothing is wanted or in flight.
  bool idle() const noexcept { return state_ == State::idle && !edits_.waiting(); }
  // The writer will not be used again: it is done as soon as it is idle.
  void retire() noexcept { life_ = std::max(life_, Life::retired); }

  void start(Now) override {}
  void on_answer(unsigned id, const socket::Completion& answer) override;
  void on_deadline(Now now) override;
  void on_hint(Now now) override;
  void on_shutdown(Now now) override;
  bool poll_command(calls::Command& command) override { return register_->poll_command(command); }
  Deadline poll_deadline() const override {
    return std::min({edits_.earliest(), register_->poll_deadline(), wake_at_, overdue_at_});
  }
  std::string_view watched_key() const override { return register_->watched_key(); }
  bool done() const override { return life_ >= Life::retired && idle() && edits_.all_polled(); }

 private:
  enum class State : std::uint8_t { idle, opening, working, ready, lingering, resting };
  // Each includes those before it. `overdue`: a release was waited for long enough.
  enum class Life : std::uint8_t { used, retired, shut_down, overdue };

  void proceed(Now now);
  void on_event(const RegisterEvent& event, Now now);
  void open(Now now);
  void begin(Now now);
  void on_progress(const CommitAttempt::Progress& progress, Now now);
  void on_committed(Now now);
  void go_on(Now now);
  void on_lost(const Error& error, Now now);
  void on_failed(const Error& error, Now now);
  void fail_group(const Error& error, Now now);
  void expire(Now now);
  void expire_group(Now now);
  void give_up_group(Now now);
  void go_on_without(Now now);
  void close(Now now);
  void wake(Now now);
  bool turn_over(Now now) const;
  std::chrono::nanoseconds linger() const;
  void rest(std::chrono::nanoseconds time, Now now);

  const Keys keys_;
  const std::unique_ptr<Register> register_;
  const WriterOptions options_;
  Random random_;
  State state_ = State::idle;
  Life life_ = Life::used;
  Deadline overdue_at_ = never;  // when a closing client stops waiting for a release in flight
  EditQueue edits_;
  CommitAttempt attempt_;
  Deadline wake_at_ = never;  // lingering, resting
  unsigned losses_ = 0;       // attempts lost in a row
  std::string last_error_;    // of the last attempt that was lost

  // The timing of successive edits.
  bool hurried_ = false;                 // the last edit came soon after the outcome before it
  Deadline ended_at_ = Deadline::min();  // the last outcome
  Deadline began_at_{0};                 // the commit in progress, or the last one
  std::chrono::nanoseconds took_{0};     // from there to the outcome
  unsigned commits_ = 0;                 // since the register was opened
};

}  // namespace sheaf::client::list
