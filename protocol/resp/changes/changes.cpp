// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/changes/changes.h"

#include <array>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "protocol/resp/wire/refusal.h"

namespace sheaf::protocol::resp {

using protocol::Reply;
using Part = Pending::Part;

namespace {

constexpr std::array<Argument, 1> multi{"MULTI"};
constexpr std::array<Argument, 1> execute{"EXEC"};
constexpr std::array<Argument, 1> give_up{"DISCARD"};
constexpr std::array<Argument, 1> forget_watched{"UNWATCH"};

constexpr std::string_view is_moving =
    "TRYAGAIN the slot is moving to another node, and transactions cannot follow it";

bool counts(const Change& change) noexcept {
  return change.verb == Verb::increment || change.verb == Verb::decrement;
}

// True if scripts are switched off, unsupported, or forbidden for this user.
bool has_no_scripts(const ServerError& error) noexcept {
  return error.kind == ErrorKind::unknown_command || error.kind == ErrorKind::scripts_disabled ||
         error.kind == ErrorKind::no_perm;
}

// True if the command that compares is unsupported, in this form or at all, or forbidden here.
bool has_no_comparison(const ServerError& error) noexcept {
  return error.kind == ErrorKind::unknown_command || error.kind == ErrorKind::syntax ||
         error.kind == ErrorKind::no_perm;
}

// The text is borrowed.
Reply refusal_of(const Change& change, std::string_view text) noexcept {
  const ServerError error = ServerError::parse(text);
  Reply reply = refusal(error);
  if (counts(change) && error.kind == ErrorKind::bad_number) reply.reason = Reason::wrong_type;
  return reply;
}

Status status_without_key(const Change& change) noexcept {
  const bool extends = change.verb == Verb::append || change.verb == Verb::prepend;
  return extends ? Status::not_stored : Status::absent;
}

}  // namespace

// ---- steps

Ticket Changes::begin(const Operation& operation) {
  auto change = std::make_unique<Change>(operation);
  queue_.reserve(2);
  Pending& request = queue_.add(true);
  request.change = std::move(change);
  request.slot = hash_slot(operation.key);
  request.only_reads = true;  // so far
  const Ticket ticket = request.ticket;
  try {
    if (watches(*request.change) && queue_.any_aside()) {
      queue_.set_aside(request);  // go_on() takes the oldest one first
    } else {
      write_first(request);
    }
  } catch (const std::bad_alloc&) {
    queue_.finish(*queue_.find(ticket));
    throw;
  }
  return ticket;
}

bool Changes::go_on() {
  if (Pending* const request = transaction()) {
    if (transaction_ != Transaction::open) return true;
    if (request->state == Pending::State::waiting) {
      write_transaction(*request);
      return true;
    }
    discard(*request);
    request->part = Part::closing;
  }
  if (is_open()) return false;
  if (std::exchange(unwatches_, false)) unwatch();
  if (Pending* const request = queue_.take_back()) write_first(*request);
  return true;
}

void Changes::write_first(Pending& request) {
  if (watches(*request.change) && busy()) return queue_.set_aside(request);
  const bool compares = by_comparison(*request.change);
  if (needs_present(*request.change) || (by_transaction() && !compares)) return write_read(request);
  compares ? write_comparison(request) : write_script(request);
}

// If the request asks, its old place stays for the PONG.
Pending& Changes::next_place(Pending& request) {
  if (request.asks) request.part = Part::closing;
  return queue_.move_to_end(request, request.asks);
}

void Changes::write_read(Pending& request) {
  const std::array<Argument, 2> get{"GET", request.change->key};
  request.question = Question::present;
  if (!watches(*request.change)) return write_alone(request, get);
  const std::array<Argument, 2> watch{"WATCH", request.change->key};
  request.frame = commands_.write_together(std::array<Command, 3>{watch, get, multi});
  output_.close_gate();
  request.part = Part::watching;
  request.asks = false;
  request.opens = true;
  transaction_ = Transaction::opening;
  watching_ = request.sequence;
  unwatches_ = false;  // the end of the transaction also unwatches
}

bool Changes::by_comparison(const Change& change) const noexcept {
  if (no_comparisons_) return false;
  if (change.verb == Verb::remove) return server_.at_least(Software::valkey, {9, 0, 0});
  return change.condition == Condition::if_version && server_.at_least(Software::valkey, {8, 1, 0});
}

void Changes::write_comparison(Pending& request) {
  const Change& change = *request.change;
  const std::string_view wanted =
      needs_present(change) ? std::string_view(change.present) : change.value;
  Words words;
  if (change.verb == Verb::remove) {
    words.add("DELIFEQ");
    words.add(change.key);
    words.add(wanted);
  } else {
    words.add("SET");
    words.add(change.key);
    words.add(change.value);
    words.add("IFEQ");
    words.add(wanted);
    add_life(words, change.ttl);
  }
  request.question = Question::comparison;
  request.only_reads = false;
  write_alone(request, words.command());
}

void Changes::write_script(Pending& request) {
  request.question = Question::script;
  request.only_reads = false;
  write_alone(request, script_of(*request.change).command());
}

// Nothing of a transaction is written until the server has confirmed that it is open.
void Changes::write_transaction(Pending& request) {
  const Change& change = *request.change;
  const Verdict& verdict = verdict_;
  Words words;
  if (verdict.act == Verdict::Act::remove) {
    words.add("DEL");
    words.add(change.key);
  } else {
    words.add("SET");
    words.add(change.key);
    words.add(verdict.value);
    if (verdict.keeps_life) {
      words.add("KEEPTTL");
    } else {
      add_life(words, change.ttl);
    }
  }
  commands_.write_together(std::array<Command, 2>{words.command(), execute});
  request.frame = output_.pass_gate();
  request.question = Question::execute;
  request.part = Part::queued;
  request.opens = false;
  request.only_reads = false;
  transaction_ = Transaction::ending;
}

// DISCARD also unwatches, so the next transaction need not wait for the answer.
void Changes::discard(Pending& request) {
  commands_.write(give_up);
  request.frame = output_.pass_gate();
  transaction_ = Transaction::none;
}

// Writes a step outside a transaction. ASKING applies only to the next command
// (request_writer.cpp).
void Changes::write_alone(Pending& request, Command command) {
  request.asks = request.change->asking;
  request.acts_early = request.asks;
  request.part = request.asks ? Part::asking : Part::own;
  request.frame =
      request.asks
          ? commands_.write_together(std::array<Command, 3>{asking_command, command, ping_command})
          : commands_.write(command);
}

void Changes::unwatch() {
  queue_.reserve(1);
  const OutputQueue::FrameId frame = commands_.write(forget_watched);
  Pending& request = queue_.add(false);
  request.question = Question::unwatch;
  request.frame = frame;
}

// ---- replies

bool Changes::on_earlier(Pending& request, const Value& value) {
  const std::string_view wanted = request.part == Part::queued ? "QUEUED" : "OK";
  if (value.is_error()) {
    if (request.change->refusal.empty()) request.change->refusal = value.text();
  } else if (!value.is_status(wanted)) {
    return false;
  }
  request.part = Part::own;
  return true;
}

Changes::Progress Changes::on_reply(Pending& request, const Value& value, Reply& reply) {
  if (request.part == Part::opening) return on_opened(request, value, reply);
  switch (request.question) {
    case Question::present:
      return on_present(request, value, reply);
    case Question::comparison:
      return on_compared(request, value, reply);
    case Question::script:
      return on_script(request, value, reply);
    default:
      return on_executed(request, value, reply);
  }
}

Changes::Progress Changes::on_present(Pending& request, const Value& value, Reply& reply) {
  Change& change = *request.change;
  Verdict verdict;
  std::optional<std::string_view> present;
  if (value.is(Type::text)) present = value.text();
  if (value.is_error() && change.refusal.empty()) change.refusal = value.text();
  if (!change.refusal.empty()) {
    reply = refusal_of(change, change.refusal);
  } else if (value.is(Type::too_large) || (present && present->size() > options_.value_limit)) {
    reply = refusal(Reason::too_large, "the value is above value_limit");
  } else if (!present && !value.is_null()) {
    return Progress::broken;
  } else if (request.state == Pending::State::waiting) {
    verdict = judge(change, present, options_.value_limit);
    reply.status = verdict.status;
    if (verdict.status == Status::refused) reply = refusal_of(change, verdict.refusal);
  }
  if (request.opens) {
    verdict_ = verdict;
    result_ = reply;
    request.part = Part::opening;
    return Progress::goes_on;
  }
  if (verdict.act == Verdict::Act::nothing) return Progress::answered;
  const bool compares = by_comparison(change);
  if (by_transaction() && !compares) {
    reply = refusal_of(change, is_moving);
    return Progress::answered;
  }
  change.present.assign(*present);
  Pending& next = next_place(request);
  compares ? write_comparison(next) : write_script(next);
  return Progress::goes_on;
}

// Handles the reply to MULTI.
Changes::Progress Changes::on_opened(Pending& request, const Value& value, Reply& reply) {
  Change& change = *request.change;
  const bool writes = verdict_.act != Verdict::Act::nothing;
  if (is_open()) return Progress::broken;
  if (value.is_error()) {
    if (writes) change.refusal = value.text();
    reply = writes ? refusal_of(change, change.refusal) : result_;
    request.opens = false;
    output_.open_gate();
    transaction_ = Transaction::none;
    unwatches_ = true;
    return Progress::answered;
  }
  if (!value.is_status("OK")) return Progress::broken;
  transaction_ = Transaction::open;
  if (writes && request.state == Pending::State::waiting) return Progress::goes_on;
  reply = result_;
  discard(request);
  return Progress::answered;
}

// If the value was not equal, it must be read; by then it may be the wanted one again.
Changes::Progress Changes::on_compared(Pending& request, const Value& value, Reply& reply) {
  const Change& change = *request.change;
  const bool removes = change.verb == Verb::remove;
  if (value.is_error()) {
    if (!has_no_comparison(ServerError::parse(value.text()))) {
      reply = refusal_of(change, value.text());
      return Progress::answered;
    }
    no_comparisons_ = true;
  } else if (removes ? value.number() == 1 : value.is_status("OK")) {
    add_version(change, reply);
    return Progress::answered;
  } else if (!(removes ? value.number() == 0 : value.is_null())) {
    return Progress::broken;
  }
  if (request.state != Pending::State::waiting) return Progress::answered;
  request.only_reads = true;
  // Another reply may have shown that the command is unknown: then it begins as others do.
  Pending& next = next_place(request);
  by_comparison(*next.change) ? write_read(next) : write_first(next);
  return Progress::goes_on;
}

Changes::Progress Changes::on_script(Pending& request, const Value& value, Reply& reply) {
  const Change& change = *request.change;
  if (value.is_error()) {
    const ServerError error = ServerError::parse(value.text());
    if (!has_no_scripts(error) || by_transaction()) {
      reply = refusal_of(change, value.text());
      return Progress::answered;
    }
    no_scripts_ = true;
    if (request.state != Pending::State::waiting) return Progress::answered;
    write_first(next_place(request));
    return Progress::goes_on;
  }
  if (counts(change)) return read_count(value, reply);
  if (!value.is(Type::number)) return Progress::broken;
  switch (value.number().value_or(2)) {
    case 1:
      add_version(change, reply);
      return Progress::answered;
    case 0:
      reply.status = Status::not_stored;
      return Progress::answered;
    case -1:
      reply.status = status_without_key(change);
      return Progress::answered;
    default:
      return Progress::broken;
  }
}

Changes::Progress Changes::read_count(const Value& value, Reply& reply) const noexcept {
  if (value.is_null()) {
    reply.status = Status::absent;
    return Progress::answered;
  }
  if (!value.is(Type::text)) return Progress::broken;
  const auto number = parse_number(value.text());
  if (!number || *number < 0) return Progress::broken;
  reply.number = static_cast<std::uint64_t>(*number);
  return Progress::answered;
}

Changes::Progress Changes::on_executed(Pending& request, const Value& value, Reply& reply) {
  const Change& change = *request.change;
  transaction_ = Transaction::none;
  if (value.is_error()) {
    const bool is_earlier = !change.refusal.empty();
    reply = refusal_of(change, is_earlier ? std::string_view(change.refusal) : value.text());
    const ErrorKind kind = ServerError::parse(value.text()).kind;
    const bool may_be_open = kind == ErrorKind::no_perm || kind == ErrorKind::unknown_command;
    return may_be_open ? Progress::last : Progress::answered;
  }
  if (!change.refusal.empty()) {
    reply = refusal_of(change, change.refusal);
    return value.is(Type::array) && value.size() == 0 ? Progress::last : Progress::broken;
  }
  if (value.is_null()) {
    if (request.state != Pending::State::waiting) return Progress::answered;
    request.only_reads = true;
    queue_.set_aside(request);
    return Progress::goes_on;
  }
  if (!value.is(Type::array) || value.size() != 1) return Progress::broken;
  const Value own = *value.begin();
  if (own.is_error()) {
    reply = refusal_of(change, own.text());
  } else if (change.verb == Verb::remove) {
    if (!own.is(Type::number)) return Progress::broken;
    if (own.number() == 0) reply.status = Status::absent;
  } else {
    if (!own.is_status("OK")) return Progress::broken;
    if (counts(change)) {
      reply.number = static_cast<std::uint64_t>(parse_number(change.present).value_or(0));
    }
    add_version(change, reply);
  }
  return Progress::answered;
}

// The new value has this version.
void Changes::add_version(const Change& change, Reply& reply) noexcept {
  if (change.verb != Verb::set) return;
  version_ = ValueVersion::of(change.value);
  reply.version = version_.text();
}

}  // namespace sheaf::protocol::resp
