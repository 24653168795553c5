// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/reader.h"

#include <algorithm>
#include <utility>

#include "client/runtime/outcomes.h"

namespace sheaf::client::list {

using protocol::Status;

namespace {

constexpr std::size_t read_window = 256;
constexpr unsigned most_lost = 20;
constexpr Id tail_id = 0;  // no segment has it

}  // namespace

Reader::Reader(Keys keys, bool items, std::int64_t first, std::int64_t last, const ReadTerms& terms)
    : keys_(std::move(keys)),
      wants_items_(items),
      first_(first),
      last_(last),
      terms_(terms),
      pending_(read_window, keys_.route()) {}

std::unique_ptr<Reader> Reader::range(Keys keys, std::int64_t first, std::int64_t last,
                                      const ReadTerms& terms) {
  return std::unique_ptr<Reader>(new Reader(std::move(keys), true, first, last, terms));
}

std::unique_ptr<Reader> Reader::with_holes(Keys keys, std::int64_t first, std::int64_t last,
                                           const ReadTerms& terms) {
  std::unique_ptr<Reader> reader = range(std::move(keys), first, last, terms);
  reader->holes_allowed_ = true;
  return reader;
}

std::unique_ptr<Reader> Reader::length(Keys keys, const ReadTerms& terms) {
  return std::unique_ptr<Reader>(new Reader(std::move(keys), false, 0, -1, terms));
}

void Reader::get(std::string key, std::size_t place, Now now) {
  PendingOperation operation(protocol::Verb::get, std::move(key));
  operation.attempt = round_;
  operation.place = place;
  operation.connection = state_ == State::head ? 0 : connection_;
  // A range may have many items, and the last ones are sent late.
  operation.deadline = state_ == State::items
                           ? terms_.deadline
                           : std::min(terms_.deadline, now.mono + terms_.step_timeout);
  pending_.add(std::move(operation));
}

void Reader::read_head(Now now) {
  ++round_;
  pending_.drop_waiting();
  state_ = State::head;
  get(keys_.head(), 0, now);
}

void Reader::on_head(const socket::Completion& answer) {
  const bool absent = answer.reply.status != Status::done;
  const std::string_view bytes = absent ? std::string_view() : answer.reply.value;
  const bool same = connection_ == answer.connection && bytes == head_bytes_;
  if (!same) missed_ = false;
  if (std::exchange(verifying_, false) && same) return deliver(answer.now);
  gone_.clear();
  if (connection_ != answer.connection) {
    known_segments_.clear();
    known_items_.clear();
  }
  connection_ = answer.connection;
  head_bytes_ = bytes;
  ids_.clear();
  if (absent) return length_ = 0, finish(answer.now);
  const auto head = parse_head(bytes, keys_.ids());
  if (!head) {
    Error error = runtime::make_error(answer, terms_.started);
    error.outcome = Outcome::refused;
    error.reason = Reason::other;
    error.text = head.error();
    return fail(std::move(error), answer.now);
  }
  length_ = head->length();
  slice_ = make_slice(first_, last_, length_);
  segments_.clear();
  if (!wants_items_ || slice_.empty()) return finish(answer.now);
  known_segments_[tail_id] = head->tail;
  std::vector<SegmentRef> table = head->segments;
  table.push_back({tail_id, static_cast<unsigned>(head->tail.size())});
  std::uint64_t begin = 0;
  std::uint64_t before = 0;  // items before the first segment that overlaps
  for (const SegmentRef& segment : table) {
    const std::uint64_t end = begin + segment.count;
    if (begin < slice_.end && end > slice_.begin) {
      if (segments_.empty()) before = begin;
      segments_.push_back(segment);
    }
    begin = end;
  }
  slice_ = {slice_.begin - before, slice_.end - before};
  read_segments(answer.now);
}

void Reader::read_segments(Now now) {
  state_ = State::segments;
  unanswered_ = 0;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    if (known_segments_.contains(segments_[i].id)) continue;
    ++unanswered_;
    get(keys_.segment(segments_[i].id), i, now);
  }
  if (unanswered_ == 0) read_items(now);
}

void Reader::on_segment(std::size_t place, const socket::Completion& answer) {
  const SegmentRef& ref = segments_[place];
  if (answer.reply.status == Status::done) {
    auto ids = parse_segment(answer.reply.value, ref.count);
    if (!ids) {
      Error error = runtime::make_error(answer, terms_.started);
      error.outcome = Outcome::refused;
      error.text = std::move(ids.error());
      return fail(std::move(error), answer.now);
    }
    known_segments_.emplace(ref.id, std::move(*ids));
  } else if (holes_allowed_) {
    gone_.insert(ref.id);
  } else {
    return on_missing("segment", ref.id, answer.now);
  }
  if (--unanswered_ == 0) read_items(answer.now);
}

void Reader::read_items(Now now) {
  state_ = State::items;
  collect();
  unanswered_ = 0;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (ids_[i] == 0 || known_items_.contains(ids_[i])) continue;
    ++unanswered_;
    get(keys_.item(ids_[i]), i, now);
  }
  if (unanswered_ == 0) finish(now);
}

// Collects the ids of the items asked for, and the segments that they are in.
void Reader::collect() {
  ids_.clear();
  owners_.clear();
  std::uint64_t at = 0;
  for (const SegmentRef& ref : segments_) {
    const bool gone = gone_.contains(ref.id);
    for (unsigned i = 0; i < ref.count; ++i, ++at) {
      if (at < slice_.begin || at >= slice_.end) continue;
      ids_.push_back(gone ? 0 : known_segments_[ref.id][i]);
      owners_.push_back(ref.id);
    }
  }
}

void Reader::on_item(std::size_t place, const socket::Completion& answer) {
  const Id id = ids_[place];
  if (answer.reply.status == Status::done) {
    known_items_.emplace(id, answer.reply.value);
  } else if (holes_allowed_) {
    gone_.insert(id);
  } else {
    return on_missing("item", id, answer.now);
  }
  if (--unanswered_ == 0) finish(answer.now);
}

void Reader::on_missing(const std::string& what, Id id, Now now) {
  if (std::exchange(missed_, true)) {
    return fail(runtime::local_error(Outcome::refused, Reason::incomplete,
                                     missing_text(keys_.ids(), what, id)),
                now);
  }
  read_head(now);
}

void Reader::on_error(const socket::Completion& answer) {
  const bool again = answer.reason == Reason::connection_lost ||
                     (answer.reason == Reason::timed_out && answer.outcome == Outcome::unknown);
  if (again && ++lost_ <= most_lost && answer.now.mono < terms_.deadline) {
    return read_head(answer.now);
  }
  fail(runtime::make_error(answer, terms_.started), answer.now);
}

void Reader::on_answer(unsigned id, const socket::Completion& answer) {
  const std::unique_ptr<PendingOperation> operation = pending_.answered(id);
  if (operation == nullptr || operation->attempt != round_) return;
  if (!answer.answered && state_ != State::done) return on_error(answer);
  switch (state_) {
    case State::head:
      return on_head(answer);
    case State::segments:
      return on_segment(operation->place, answer);
    case State::items:
      return on_item(operation->place, answer);
    case State::done:
      return;
  }
}

bool Reader::on_cancel(Now now) {
  fail(runtime::local_error(Outcome::not_sent, Reason::cancelled, {}), now);
  return true;
}

void Reader::on_shutdown(Now now) {
  if (state_ == State::done) return;
  fail(runtime::local_error(Outcome::shutdown, Reason::closed, "the client is closing"), now);
}

void Reader::fail(Error error, Now now) {
  error.elapsed = now.mono - terms_.started;
  ++round_;
  pending_.drop_waiting();
  state_ = State::done;
  out_.emplace(Failure(std::move(error)));
}

void Reader::finish(Now now) {
  if (gone_.empty()) return deliver(now);
  verifying_ = true;
  read_head(now);
}

void Reader::deliver(Now now) {
  ++round_;
  state_ = State::done;
  ReadOutcome outcome;
  outcome.length = length_;
  outcome.items.reserve(ids_.size());
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const Id id = ids_[i];
    if (id == 0 || gone_.contains(id)) {
      outcome.holes.push_back({i, owners_[i], id});
      outcome.items.emplace_back();
      continue;
    }
    auto item = known_items_.extract(id);
    if (item.empty()) {
      return fail(runtime::local_error(
                      Outcome::refused, Reason::other,
                      "the list is damaged: it names item " + std::to_string(id) + " twice"),
                  now);
    }
    outcome.items.push_back(std::move(item.mapped()));
  }
  out_.emplace(std::move(outcome));
}

}  // namespace sheaf::client::list
