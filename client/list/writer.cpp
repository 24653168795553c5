// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/writer.h"

#include <algorithm>
#include <utility>

#include "client/runtime/outcomes.h"

namespace sheaf::client::list {

using Kind = RegisterEvent::Kind;

namespace {

constexpr std::size_t segments_kept = 4;
constexpr std::chrono::milliseconds patience{1'000};
constexpr std::chrono::milliseconds closing_patience{100};

bool is_push(const EditRequest& request) { return request.edit.kind == Edit::Kind::push; }

Error error_of(Outcome outcome, Reason reason, std::string text, const EditRequest& request,
               Now now) {
  Error error = runtime::local_error(outcome, reason, std::move(text));
  error.elapsed = now.mono - request.started;
  return error;
}

}  // namespace

std::size_t EditRequest::bytes() const noexcept {
  std::size_t bytes = 0;
  for (const std::string& value : edit.values) bytes += value.size();
  return bytes;
}

Writer::Writer(Keys keys, std::unique_ptr<Register> list_register, WriterOptions options, Seed seed)
    : keys_(std::move(keys)),
      register_(std::move(list_register)),
      options_(options),
      random_(seed) {}

void Writer::add(EditRequest& request, Now now) {
  if (shut_down_) {
    return end(request, Failure(error_of(Outcome::shutdown, Reason::closed, "the client is closing",
                                         request, now)));
  }
  hurried_ = told_at_ != Deadline::min() && now.mono - told_at_ <= linger();
  due_ = std::min(due_, request.deadline);
  queue_.push_back(&request);
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
    case State::reading:
    case State::storing:
    case State::committing:
    case State::resting:
      break;
  }
  proceed(now);
}

EditRequest* Writer::poll_ended() {
  if (ended_.empty()) return nullptr;
  EditRequest* const request = ended_.front();
  ended_.pop_front();
  return request;
}

void Writer::let_go(Now now) {
  if (state_ != State::lingering) return;
  close(now);
  state_ = State::idle;
}

void Writer::on_answer(unsigned id, const socket::Completion& answer) {
  register_->on_answer(id, answer);
  proceed(answer.now);
}

void Writer::on_hint(Now now) {
  register_->on_hint(now);
  proceed(now);
}

void Writer::on_deadline(Now now) {
  expire(now);
  register_->on_deadline(now);
  if (now.mono >= wake_at_) {
    wake_at_ = never;
    if (state_ == State::lingering) let_go(now);
    if (state_ == State::resting) {
      state_ = State::idle;
      if (!queue_.empty()) open(now);
    }
  }
  proceed(now);
}

// What a commit was sent for ends with its answer; nothing else is begun any more.
void Writer::on_shutdown(Now now) {
  shut_down_ = retired_ = true;
  const auto tell_closing = [&](EditRequest& request) {
    end(request, Failure(error_of(Outcome::shutdown, Reason::closed, "the client is closing",
                                  request, now)));
  };
  if (state_ != State::committing) {
    put_back();
    close(now);
    state_ = State::idle;
  }
  for (EditRequest* request : std::exchange(queue_, {})) tell_closing(*request);
}

// While the client closes it waits for this, so not for long.
void Writer::close(Now now) {
  register_->close(now.mono + (shut_down_ ? closing_patience : patience), now);
}

// The register's answers, until it has none.
void Writer::proceed(Now now) {
  for (;;) {
    if (std::exchange(begin_, false)) begin(now);
    const RegisterEvent event = register_->poll_event();
    if (event.kind != Kind::none) {
      on_event(event, now);
    } else if (!begin_) {
      return;
    }
  }
}

void Writer::on_event(const RegisterEvent& event, Now now) {
  switch (event.kind) {
    case Kind::none:
      return;
    case Kind::lost:
      return on_lost(event.error, now);
    case Kind::failed:
      return on_failed(event.error, now);
    case Kind::unknown:
      return fail_group(event.error, now);
    case Kind::done:
      break;
  }
  switch (state_) {
    case State::opening:
      return begin(now);
    case State::reading:
      return on_segment(now);
    case State::storing:
      return commit(now);
    case State::committing:
      return on_committed(now);
    case State::idle:
    case State::lingering:
    case State::resting:
      return;
  }
}

void Writer::open(Now now) {
  state_ = State::opening;
  wake_at_ = never;
  commits_ = 0;
  register_->open(last_deadline(), now);
}

// The register is open and somebody waits: one more commit.
void Writer::begin(Now now) {
  if (incarnation_ != register_->incarnation()) {
    incarnation_ = register_->incarnation();
    segments_.clear();
  }
  began_at_ = now.mono;
  take_group();
  std::vector<const Edit*> edits;
  for (const EditRequest* request : group_) edits.push_back(&request->edit);
  const auto needed = needed_segment(register_->head(), edits, options_.plan);
  std::vector<Id> ids;
  if (!needed || know_segment(*needed, ids)) return plan_and_store(ids, now);
  state_ = State::reading;
  register_->exchange({keys_.segment(needed->id)}, {}, group_end(), now);
}

void Writer::take_group() {
  group_.clear();
  std::size_t items = 0;
  std::size_t bytes = 0;
  while (!queue_.empty()) {
    EditRequest& request = *queue_.front();
    items += request.edit.values.size();
    bytes += request.bytes();
    const bool joins = is_push(request) && items <= options_.commit_items &&
                       bytes <= options_.commit_bytes && alone_ == 0;
    if (!group_.empty() && !(joins && is_push(*group_.front()))) break;
    group_.push_back(&request);
    queue_.pop_front();
  }
  if (alone_ > 0) --alone_;
}

bool Writer::know_segment(const SegmentRef& ref, std::vector<Id>& ids) const {
  for (const NewSegment& segment : segments_) {
    if (segment.id == ref.id && segment.ids.size() == ref.count) return ids = segment.ids, true;
  }
  return false;
}

void Writer::on_segment(Now now) {
  std::vector<const Edit*> edits;
  for (const EditRequest* request : group_) edits.push_back(&request->edit);
  const SegmentRef needed = *needed_segment(register_->head(), edits, options_.plan);
  const std::optional<std::string>& bytes = register_->values().front();
  if (!bytes) return on_missing(needed.id, "segment", now);
  auto ids = parse_segment(*bytes, needed.count);
  if (!ids) return fail_damaged(std::move(ids.error()), Reason::other, now);
  segments_.push_front({needed.id, *ids});
  plan_and_store(*ids, now);
}

// Once: the head may have been an old one. Twice: it is gone. Pushes go behind it then.
void Writer::on_missing(Id id, const std::string& what, Now now) {
  const bool again = std::exchange(missing_, id) == id;
  if (again && is_push(*group_.front())) return plan_and_store({}, now);
  std::string text = missing_text(keys_.ids(), what, id);
  if (again) return fail_damaged(std::move(text), Reason::incomplete, now);
  close(now);
  on_lost(runtime::local_error(Outcome::refused, Reason::incomplete, std::move(text)), now);
}

void Writer::plan_and_store(const std::vector<Id>& ids, Now now) {
  std::vector<const Edit*> edits;
  for (const EditRequest* request : group_) edits.push_back(&request->edit);
  state_ = State::storing;
  plan_ = make_plan(register_->head(), ids, edits, options_.plan);
  if (!plan_.changes) return tell(now);
  std::vector<std::string> gets;
  if (plan_.removed) gets.push_back(keys_.item(*plan_.removed));
  std::vector<KeyAndValue> puts;
  puts.reserve(plan_.items.size() + plan_.segments.size());
  for (const NewItem& item : plan_.items) puts.push_back({keys_.item(item.id), *item.value});
  for (const NewSegment& segment : plan_.segments) {
    puts.push_back({keys_.segment(segment.id), encode_segment(segment.ids)});
  }
  if (gets.empty() && puts.empty()) return commit(now);
  register_->exchange(std::move(gets), std::move(puts), group_end(), now);
}

void Writer::commit(Now now) {
  if (plan_.removed && !register_->values().front()) {
    return on_missing(*plan_.removed, "item", now);
  }
  if (encode_head(plan_.head).size() > options_.head_limit) {
    return fail_damaged(
        "the list is too long: the table of its segments is above the limit of a value (" +
            std::to_string(options_.head_limit) + " bytes)",
        Reason::too_large, now);
  }
  state_ = State::committing;
  register_->commit(plan_.head, group_end(), now);
}

void Writer::on_committed(Now now) {
  keep_segments();
  tell(now);
}

void Writer::keep_segments() {
  for (NewSegment& segment : plan_.segments) segments_.push_front(std::move(segment));
  while (segments_.size() > segments_kept) segments_.pop_back();
}

void Writer::tell(Now now) {
  for (std::size_t i = 0; i < group_.size(); ++i) {
    if (group_[i] == nullptr) continue;
    EditOutcome outcome;
    outcome.found = plan_.results[i].found;
    outcome.length = plan_.results[i].length;
    outcome.dropped = plan_.results[i].dropped;
    if (plan_.removed) outcome.removed = register_->values().front();
    end(*group_[i], std::move(outcome));
  }
  group_.clear();
  told_at_ = now.mono;
  took_ = now.mono - began_at_;
  ++commits_;
  last_error_.clear();
  losses_ = 0;
  missing_ = 0;
  go_on(now);
}

// The register is open, and no commit is in work.
void Writer::go_on(Now now) {
  if (turn_over(now)) {
    close(now);
    rest(options_.rest, now);
  } else if (!queue_.empty()) {
    begin_ = true;
  } else if (hurried_ && !shut_down_) {
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

// Others go first, or the store gets a pause: once to twice `time`.
void Writer::rest(std::chrono::nanoseconds time, Now now) {
  state_ = State::resting;
  wake_at_ = now.mono + time +
             std::chrono::nanoseconds(static_cast<std::int64_t>(
                 random_.below(static_cast<std::uint64_t>(time.count()) + 1)));
}

void Writer::put_back() {
  for (auto at = group_.rbegin(); at != group_.rend(); ++at) {
    if (*at != nullptr) queue_.push_front(*at);
  }
  group_.clear();
}

void Writer::on_lost(const Error& error, Now now) {
  put_back();
  last_error_ = error.message();
  state_ = State::idle;
  if (queue_.empty()) return;
  if (++losses_ == 1) return open(now);
  rest(options_.rest * (1 << std::min(losses_, 5U)), now);
}

// Before anything was planned it concerns everybody; after that the edits in work, each of which is
// then tried alone.
void Writer::on_failed(const Error& error, Now now) {
  if (state_ == State::opening) {
    put_back();
    state_ = State::idle;
    for (EditRequest* request : std::exchange(queue_, {})) {
      Error own = error;
      own.elapsed = now.mono - request->started;
      end(*request, Failure(std::move(own)));
    }
    return;
  }
  if (group_.size() > 1) {
    alone_ = group_.size();
    return on_lost(error, now);
  }
  fail_group(error, now);
}

// The register is closed.
void Writer::fail_group(const Error& error, Now now) {
  for (EditRequest* request : std::exchange(group_, {})) {
    if (request == nullptr) continue;
    Error own = error;
    own.elapsed = now.mono - request->started;
    end(*request, Failure(std::move(own)));
  }
  state_ = State::idle;
  if (!queue_.empty() && !shut_down_) open(now);
}

void Writer::fail_damaged(std::string text, Reason reason, Now now) {
  Error error = runtime::local_error(Outcome::refused, reason, std::move(text));
  close(now);
  on_failed(error, now);
}

// Those whose time is over. Before its commit has been sent an edit has no effect: the attempt is
// given up, for what it has written must not become part of a later one.
void Writer::expire(Now now) {
  if (now.mono < due_) return;
  const auto late = [now](const EditRequest* r) { return r != nullptr && r->deadline <= now.mono; };
  if (state_ == State::committing) {
    for (EditRequest*& request : group_) {
      if (!late(request)) continue;
      end(*request, Failure(error_of(Outcome::unknown, Reason::timed_out, {}, *request, now)));
      request = nullptr;
    }
  } else if (std::ranges::any_of(group_, late)) {
    close(now);
    put_back();
    state_ = State::idle;
  }
  for (EditRequest* request : queue_) {
    if (late(request)) end_late(*request, now);
  }
  std::erase_if(queue_, late);
  if (state_ == State::opening && queue_.empty()) {
    close(now);
    state_ = State::idle;
  }
  if (state_ == State::idle && !queue_.empty()) open(now);
  due_ = never;
  for (const EditRequest* request : queue_) due_ = std::min(due_, request->deadline);
  for (const EditRequest* request : group_) {
    if (request != nullptr) due_ = std::min(due_, request->deadline);
  }
}

void Writer::end_late(EditRequest& request, Now now) {
  std::string text = "the list was not changed: others were changing it, or the node was slow";
  if (!last_error_.empty()) text += "; before: " + last_error_;
  end(request,
      Failure(error_of(Outcome::not_sent, Reason::timed_out, std::move(text), request, now)));
}

void Writer::end(EditRequest& request, Result<EditOutcome> outcome) {
  request.outcome.emplace(std::move(outcome));
  ended_.push_back(&request);
}

Deadline Writer::group_end() const {
  Deadline end{0};
  for (const EditRequest* request : group_) {
    if (request != nullptr) end = std::max(end, request->deadline);
  }
  return end;
}

Deadline Writer::last_deadline() const {
  Deadline end{0};
  for (const EditRequest* request : queue_) end = std::max(end, request->deadline);
  return end;
}

}  // namespace sheaf::client::list
