// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/writer.h"

#include <algorithm>
#include <utility>

#include "client/runtime/outcomes.h"

namespace sheaf::client::list {

using Kind = RegisterEvent::Kind;
using runtime::local_error;

namespace {

// How long the register tries to close in the store. It is short, because a client that closes
// waits for it.
constexpr std::chrono::milliseconds patience{1'000};
constexpr std::chrono::milliseconds closing_patience{100};

Error closing_error() {
  return local_error(Outcome::shutdown, Reason::closed, "the client is closing");
}

Error late_error(const std::string& last_error) {
  std::string text =
      "the list was not changed: other writers were changing it, or the node was slow";
  if (!last_error.empty()) text += "; before: " + last_error;
  return local_error(Outcome::not_sent, Reason::timed_out, std::move(text));
}

}  // namespace

Writer::Writer(Keys keys, std::unique_ptr<Register> list_register, WriterOptions options, Seed seed)
    : keys_(std::move(keys)),
      register_(std::move(list_register)),
      options_(options),
      random_(seed),
      edits_(options_.group),
      attempt_(keys_, *register_, options_.head_limit, options_.plan) {}

// ---- inputs

// An edit that comes during a commit, or while others have their turn, just waits.
void Writer::add(EditRequest& request, Now now) {
  if (life_ >= Life::shut_down) return edits_.fail(request, closing_error(), now);
  hurried_ = ended_at_ != Deadline::min() && now.mono - ended_at_ <= linger();
  edits_.add(request);
  switch (state_) {
    case State::idle:
      open(now);
      break;
    case State::lingering:
      go_on(now);
      break;
    case State::opening:
      register_->prolong(request.deadline);
      break;
    case State::working:
    case State::ready:
    case State::resting:
      break;
  }
  proceed(now);
}

void Writer::on_answer(unsigned id, const socket::Completion& answer) {
  register_->on_answer(id, answer);
  proceed(answer.now);
}

void Writer::on_hint(Now now) {
  register_->on_hint(now);
  proceed(now);
}

// Late edits end first, so that nothing is begun for them.
void Writer::on_deadline(Now now) {
  expire(now);
  register_->on_deadline(now);
  if (now.mono >= wake_at_) wake(now);
  if (now.mono >= overdue_at_) {
    life_ = Life::overdue;
    overdue_at_ = never;
  }
  proceed(now);
}

// Nothing came while the register was kept open, or the others have had their turn.
void Writer::wake(Now now) {
  wake_at_ = never;
  if (state_ == State::lingering) {
    close(now);
    state_ = State::idle;
  } else if (state_ == State::resting) {
    state_ = State::idle;
    if (edits_.waiting()) open(now);
  }
}

// A commit that was sent ends with its answer; nothing else begins any more.
void Writer::on_shutdown(Now now) {
  life_ = Life::shut_down;
  if (!attempt_.committing()) {
    edits_.put_back();
    close(now);
    state_ = State::idle;
  }
  edits_.fail_waiting(closing_error(), now);
  if (register_->closing()) overdue_at_ = now.mono + closing_patience;
}

// ---- the register

// Takes the register's events until there are none. When the end of a group makes room for the next
// one, that one begins here and not inside the end of the first: otherwise a long queue would
// become as many nested calls.
void Writer::proceed(Now now) {
  for (;;) {
    if (state_ == State::ready) begin(now);
    const RegisterEvent event = register_->poll_event();
    if (event.kind != Kind::none) {
      on_event(event, now);
    } else if (state_ != State::ready) {
      return;
    }
  }
}

// After lost, failed and unknown the register has closed itself.
void Writer::on_event(const RegisterEvent& event, Now now) {
  if (event.kind != Kind::done) attempt_.give_up();
  switch (event.kind) {
    case Kind::none:
      return;
    case Kind::done:
      if (state_ == State::opening) return begin(now);
      return on_progress(attempt_.on_done(now), now);
    case Kind::lost:
      return on_lost(event.error, now);
    case Kind::failed:
      return on_failed(event.error, now);
    case Kind::unknown:
      return fail_group(event.error, now);
  }
}

void Writer::open(Now now) {
  state_ = State::opening;
  wake_at_ = never;
  commits_ = 0;
  register_->open(edits_.last_waiting(), now);
}

void Writer::close(Now now) {
  attempt_.give_up();
  register_->close(now.mono + (life_ >= Life::shut_down ? closing_patience : patience), now);
}

// ---- one group after the other

// The register is open and edits wait: one more commit begins.
void Writer::begin(Now now) {
  state_ = State::working;
  wake_at_ = never;
  began_at_ = now.mono;
  edits_.take_group();
  on_progress(attempt_.begin(edits_.group_edits(), edits_.last_of_group(), now), now);
}

// An attempt that ends by itself, without the store, leaves the register open.
void Writer::on_progress(const CommitAttempt::Progress& progress, Now now) {
  using Attempt = CommitAttempt::Progress::Kind;
  switch (progress.kind) {
    case Attempt::goes_on:
      return;
    case Attempt::committed:
      return on_committed(now);
    case Attempt::lost:
      close(now);
      return on_lost(progress.error, now);
    case Attempt::failed:
      close(now);
      return on_failed(progress.error, now);
  }
}

void Writer::on_committed(Now now) {
  if (options_.counts != nullptr) {
    ++options_.counts->commits;
    options_.counts->edits += edits_.group_size();
  }
  edits_.end_group(attempt_.plan(), attempt_.removed());
  ended_at_ = now.mono;
  took_ = now.mono - began_at_;
  ++commits_;
  last_error_.clear();
  losses_ = 0;
  go_on(now);
}

// The register is open, and no commit is in progress. If this client has had its turn, others come
// first; then the edits that wait; then edits that are likely to come soon.
void Writer::go_on(Now now) {
  if (turn_over(now)) {
    close(now);
    rest(options_.rest, now);
  } else if (edits_.waiting()) {
    state_ = State::ready;
  } else if (hurried_ && life_ < Life::shut_down) {
    hurried_ = false;
    state_ = State::lingering;
    wake_at_ = now.mono + linger();
  } else {
    close(now);
    state_ = State::idle;
  }
}

bool Writer::turn_over(Now now) const {
  const Deadline good_until = register_->good_until();
  if (now.mono < good_until) return false;
  return commits_ >= options_.turn_commits || now.mono >= good_until + options_.turn_extra;
}

std::chrono::nanoseconds Writer::linger() const {
  return std::clamp<std::chrono::nanoseconds>(2 * took_, options_.least_linger,
                                              options_.most_linger);
}

// Rests once to twice `time`, so that resting writers do not all come back together.
void Writer::rest(std::chrono::nanoseconds time, Now now) {
  state_ = State::resting;
  wake_at_ = now.mono + time +
             std::chrono::nanoseconds(static_cast<std::int64_t>(
                 random_.below(static_cast<std::uint64_t>(time.count()) + 1)));
}

// ---- errors

// Nothing of the attempt takes effect: the same edits start again. The first loss usually means
// that one other writer was faster. A writer that loses again makes room, longer each time.
void Writer::on_lost(const Error& error, Now now) {
  if (options_.counts != nullptr) ++options_.counts->conflicts;
  edits_.put_back();
  last_error_ = error.message();
  state_ = State::idle;
  if (!edits_.waiting()) return;
  if (++losses_ == 1) return open(now);
  rest(options_.rest * (1 << std::min(losses_, 5U)), now);
}

// Before a group has begun, the error concerns every edit. After that it concerns the edits of the
// group: if there are several, any one of them may be the cause, so each is tried alone.
void Writer::on_failed(const Error& error, Now now) {
  if (state_ == State::opening) {
    state_ = State::idle;
    return edits_.fail_waiting(error, now);
  }
  if (edits_.group_size() <= 1) return fail_group(error, now);
  edits_.divide_group();
  on_lost(error, now);
}

// The register is already closed.
void Writer::fail_group(const Error& error, Now now) {
  edits_.fail_group(error, now);
  state_ = State::idle;
  if (edits_.waiting() && life_ < Life::shut_down) open(now);
}

// ---- deadlines and cancellations

// Ends the edits whose deadline has come. An edit that still waits has had no effect.
void Writer::expire(Now now) {
  if (now.mono < edits_.earliest()) return;
  if (edits_.group_late(now)) expire_group(now);
  edits_.expire_waiting(late_error(last_error_), now);
  go_on_without(now);
}

// Some edits have ended early. Either there is no edit left to open the register for, or edits
// remain whose attempt was given up.
void Writer::go_on_without(Now now) {
  if (state_ == State::opening && !edits_.waiting()) {
    close(now);
    state_ = State::idle;
  }
  if (state_ == State::idle && edits_.waiting()) open(now);
}

// A commit that was sent may have taken effect, so its late edits are `unknown`, and the others
// keep waiting for its answer. Before that the whole attempt is given up: what it has written must
// not become part of a later one.
void Writer::expire_group(Now now) {
  if (attempt_.committing()) {
    return edits_.expire_group(local_error(Outcome::unknown, Reason::timed_out, {}), now);
  }
  give_up_group(now);
}

void Writer::give_up_group(Now now) {
  close(now);
  edits_.put_back();
  state_ = State::idle;
}

void Writer::cancel(EditRequest& request, Now now) {
  const bool in_group = edits_.in_group(request);
  const bool sent = in_group && attempt_.committing();
  if (in_group && !sent) give_up_group(now);
  edits_.cancel(request,
                local_error(sent ? Outcome::unknown : Outcome::not_sent, Reason::cancelled, {}),
                now);
  go_on_without(now);
  proceed(now);
}

}  // namespace sheaf::client::list
