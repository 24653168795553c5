// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/answers.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "protocol/resp/wire/refusal.h"
#include "protocol/resp/wire/whole_text.h"

namespace sheaf::protocol::resp {

using protocol::Reply;
using Part = Pending::Part;
using Array = Pending::Array;

namespace {

constexpr std::size_t longest_stats = 1 << 20;

// True for an answer to PING of a server that serves this client. Errors are such answers, too: an
// ACL may forbid PING, and Redis answers it by MISCONF while its disk is full.
bool is_pong(const Value& value) noexcept {
  return value.is_status("PONG") ||
         (value.is_error() && !ServerError::parse(value.text()).turns_away());
}

bool asks_ping(Question question) noexcept {
  return question == Question::probe || question == Question::version;
}

Reply answer_to_command(const Value& value, std::string_view bytes) noexcept {
  Reply reply;
  if (value.is(Type::too_large)) {
    reply = refusal(Reason::too_large,
                    "the command was carried out; its reply is above value_limit, 1048576 values "
                    "or 32 levels");
    reply.executed = true;
  } else {
    reply.value = bytes;
  }
  return reply;
}

// Reads the reply to a command that acted (1) or found no key (0).
bool read_count(const Value& value, Reply& reply) noexcept {
  if (!value.is(Type::number) || value.element().value > 1) return false;
  if (value.element().value == 0) reply.status = Status::absent;
  return true;
}

}  // namespace

Step Answers::on_reply(const Value& reply, std::string_view bytes, Event& event) {
  Pending* const request = queue_.due();
  const bool of_login = request != nullptr && request->question == Question::login;
  if (of_login && life_.has_left(request->frame)) return on_login(*request, reply);
  if (reply.is_error()) {
    const ServerError error = ServerError::parse(reply.text());
    if (error.ends_connection()) return on_fatal(request, error, event);
    if (error.kind == ErrorKind::read_only) identity_.on_read_only();
    if (request != nullptr && error.redirect && !concerns(*request, error.redirect->slot)) {
      return life_.broken("a redirect for a slot that was not requested: " +
                          printable(error.text, 200));
    }
  }
  if (request == nullptr) return life_.broken("a reply without a request");
  if (!may_come(*request)) return life_.broken("a reply to a request that has not been sent");
  switch (request->part) {
    case Part::asking:
      return on_asking(*request, reply);
    case Part::watching:
    case Part::queued:
      return on_earlier(*request, reply);
    case Part::opening:
      return on_change(*request, reply, event);
    case Part::own:
      if (request->change) return on_change(*request, reply, event);
      return on_own(*request, reply, bytes, event);
    case Part::closing:
      return on_closing(*request, reply);
  }
  return Step::again;
}

// In a frame of several commands the first may be answered while the others are still leaving, but
// not the one whose value is leaving.
bool Answers::may_come(const Pending& request) const noexcept {
  const OutputQueue& output = life_.output();
  const OutputQueue::Progress progress = output.progress(request.frame);
  if (progress == OutputQueue::Progress::written) return true;
  if (progress == OutputQueue::Progress::waiting) return false;
  if (is_list(request)) {
    return request.array == Array::none && request.at + 1 < request.keys;
  }
  switch (request.part) {
    case Part::asking:
    case Part::watching:
      return true;
    case Part::queued:
      return !output.needs_borrowed(request.frame);
    case Part::own:
      return (request.asks || request.opens) && !output.needs_borrowed(request.frame);
    case Part::opening:
    case Part::closing:
      break;
  }
  return false;
}

bool Answers::may_be_large(std::optional<Type> type) noexcept {
  const Pending* const request = queue_.due();
  if (request == nullptr || request->part != Part::own) return false;
  switch (request->question) {
    case Question::command:
    case Question::commands:
      return true;
    case Question::stats:
      return type == Type::text || type == Type::verbatim;
    case Question::many:
      return type == Type::text && request->array != Array::awaited;
    case Question::value:
    case Question::touch_by_value:
    case Question::exchange:
    case Question::present:
      return type == Type::text;
    default:
      return false;
  }
}

// A request that was certainly refused is reported as refused. All others end with the connection.
Step Answers::on_fatal(Pending* request, const ServerError& error, Event& event) {
  CloseReason reason{error.reason(), "the server refuses the connection: ", error.permanent()};
  reason.text += printable(error.text, 200);
  if (error.kind == ErrorKind::too_many_clients) reason.reason = Reason::connection_lost;
  const bool answers_one = request != nullptr && request->part == Part::own && !is_list(*request) &&
                           life_.has_left(request->frame) &&
                           error.execution() != Execution::unknown;
  if (!answers_one) {
    life_.end(std::move(reason));
    return Step::again;
  }
  life_.end_after_event(std::move(reason));
  return answer(*request, refusal(error), event);
}

// A server that does not know ASKING executes the next command as usual.
Step Answers::on_asking(Pending& request, const Value& reply) {
  if (!reply.is_status("OK") && !reply.is_error()) return broken_type();
  request.part = Part::own;
  return Step::again;
}

Step Answers::on_earlier(Pending& request, const Value& reply) {
  return changes_.on_earlier(request, reply) ? Step::again : broken_type();
}

Step Answers::on_change(Pending& request, const Value& value, Event& event) {
  Reply reply;
  switch (changes_.on_reply(request, value, reply)) {
    case Changes::Progress::answered:
      return answer(request, reply, event);
    case Changes::Progress::last:
      life_.end_after_event({Reason::connection_lost,
                             "a refused transaction left the state of its connection in doubt: " +
                                 printable(reply.text, 200)});
      return answer(request, reply, event);
    case Changes::Progress::goes_on:
      return Step::again;
    case Changes::Progress::broken:
      break;
  }
  return broken_type();
}

Step Answers::on_closing(Pending& request, const Value& reply) {
  if (request.opens && reply.is_error()) {
    return life_.broken("a transaction that cannot be discarded: " + printable(reply.text(), 200));
  }
  if (!reply.is_status(request.opens ? "OK" : "PONG") && !reply.is_error()) return broken_type();
  queue_.finish(request);
  return Step::again;
}

Step Answers::on_own(Pending& request, const Value& value, std::string_view bytes, Event& event) {
  if (is_list(request)) return on_key(request, value, bytes, event);
  if (request.question == Question::tracking) return on_tracking(request, value);
  if (request.question == Question::identity) return on_identity(request, value);
  Reply reply;
  if (request.question == Question::command) reply.value = bytes;
  if (value.is_error() && !(asks_ping(request.question) && is_pong(value))) {
    reply = refusal(ServerError::parse(value.text()));
  } else if (!read(request, value, reply)) {
    return broken_type();
  }
  return answer(request, reply, event);
}

// The server is executing the commands sent after AUTH, but we cannot know under which rights.
Step Answers::on_login(Pending& request, const Value& reply) {
  queue_.finish(request);
  if (auto reason = renewal_.on_reply(reply)) life_.end(std::move(*reason));
  return Step::again;
}

Step Answers::on_tracking(Pending& request, const Value& value) {
  if (!tracking_.on_reply(value)) return broken_type();
  queue_.finish(request);
  return Step::again;
}

Step Answers::on_identity(Pending& request, const Value& value) {
  if (!identity_.on_reply(value)) return broken_type();
  queue_.finish(request);
  return Step::again;
}

Step Answers::on_key(Pending& list, const Value& value, std::string_view bytes, Event& event) {
  Reply reply;
  const bool stores = list.question == Question::store_many;
  const bool passed = list.question == Question::commands;
  if (value.is_error()) {
    if (list.array == Array::open) return broken_type();
    const ServerError error = ServerError::parse(value.text());
    reply = refusal(error);
    reply.unsure = !passed && (!stores || error.execution() != Execution::unknown);
    if (list.array == Array::awaited) {
      if (!reply.unsure) return answer(list, reply, event);
      list.array = Array::refused;
      stores ? mset_.on_refusal(error) : mget_.on_refusal(reply.redirect.has_value());
    }
  } else if (passed) {
    reply = answer_to_command(value, bytes);
  } else if (stores) {
    if (!value.is_status("OK")) return broken_type();
    if (list.array == Array::awaited) list.array = Array::stored;
    reply = stored(list);
  } else if (list.array == Array::awaited || !read_value(value, reply)) {
    return broken_type();
  }
  if (reply.status == Status::absent) {
    list.misses = true;
    reply.unsure = list.array == Array::open;
  }
  return on_item(list, reply, event);
}

Step Answers::on_item(Pending& list, const Reply& reply, Event& event) {
  const std::uint32_t index = list.at++;
  const bool wanted = list.state == Pending::State::waiting;
  if (wanted && (reply.status != Status::absent || reply.unsure)) {
    event.kind = Event::Kind::item;
    event.ticket = list.ticket;
    event.index = index;
    event.reply = reply;
    event.sent = Sent::maybe;
    return Step::event;
  }
  return list.at == list.keys ? end_list(list, event) : Step::again;
}

Step Answers::end_list(Pending& list, Event& event) {
  if (list.question == Question::many && list.array != Array::refused) {
    mget_.on_answer(list.misses);
  }
  return answer(list, {}, event);
}

std::optional<Step> Answers::go_on(bool at_beginning, Event& event) {
  Pending* const list = queue_.due();
  if (list == nullptr || !is_list(*list)) return std::nullopt;
  if (list->at == list->keys) return end_list(*list, event);
  if (list->array == Array::stored) return on_item(*list, stored(*list), event);
  if (list->array == Array::refused) {
    Reply reply;
    reply.status = Status::refused;
    reply.unsure = true;
    return on_item(*list, reply, event);
  }
  if (list->question == Question::store_many || !at_beginning) return std::nullopt;
  if (list->array == Array::awaited) return read_array_head(*list);
  return read_usual_text(*list, event);
}

bool Answers::in_array() noexcept {
  const Pending* const request = queue_.due();
  return request != nullptr && request->array == Array::open;
}

// The only array that may come has an element for each key.
std::optional<Step> Answers::read_array_head(Pending& list) {
  const std::string_view data = life_.input().data();
  if (!data.starts_with('*')) return std::nullopt;
  if (!may_come(list)) return life_.broken("a reply to a request that has not been sent");
  const std::string head = "*" + std::to_string(list.keys) + "\r\n";
  if (!data.starts_with(head)) return head.starts_with(data) ? Step::need_input : broken_type();
  life_.input().consumed(head.size());
  list.array = Array::open;
  return Step::again;
}

// A text of usual size that is there as a whole.
std::optional<Step> Answers::read_usual_text(Pending& list, Event& event) {
  const std::string_view data = life_.input().data();
  const auto whole = read_whole_text(data);
  if (!whole || whole->text.size() > options_.value_limit) return std::nullopt;
  if (list.array != Array::open && !may_come(list)) return std::nullopt;
  life_.input().consumed(whole->size);
  if (list.question == Question::many) return on_item(list, found(whole->text), event);
  Reply reply;
  reply.value = data.substr(0, whole->size);
  return on_item(list, reply, event);
}

Step Answers::answer(Pending& request, const Reply& reply, Event& event) {
  const bool wanted = request.state == Pending::State::waiting;
  if (wanted) {
    event.kind = Event::Kind::reply;
    event.ticket = request.ticket;
    event.index = 0;
    event.reply = reply;
    event.sent = Sent::maybe;
  } else if (request.has_caller()) {
    ++life_.counters().late_replies;
  }
  if (request.asks || request.opens) {
    request.part = Part::closing;
    queue_.forget(request);
    request.ticket = {};  // replies still owed to PING or DISCARD belong to the session
  } else {
    queue_.finish(request);
  }
  return wanted ? Step::event : Step::again;
}

// ---- reading replies

bool Answers::read(const Pending& request, const Value& value, Reply& reply) {
  switch (request.question) {
    case Question::value:
    case Question::many:
      return read_value(value, reply);
    case Question::touch_by_value:
      if (!read_value(value, reply)) return false;
      if (reply.status != Status::absent) reply = {};
      return true;
    case Question::touch:
    case Question::remove:
      return read_count(value, reply);
    case Question::store:
      if (value.is_status("OK")) {
        reply.version = request.version.text();
        return true;
      }
      reply.status = Status::not_stored;
      return request.conditional && value.is_null();
    case Question::exchange:
      return read_former(request, value, reply);
    case Question::probe:
      return is_pong(value);
    case Question::version:
      if (!is_pong(value)) return false;
      name_version(reply);
      return true;
    case Question::stats:
      return read_stats(value, reply);
    case Question::command:
      reply = answer_to_command(value, reply.value);
      return true;
    case Question::unwatch:
      return value.is_status("OK");
    case Question::watch: {
      Reply exists;
      reply.polls = tracking_.polls();
      return read_count(value, exists);
    }
    case Question::store_many:
    case Question::commands:
    case Question::tracking:
    case Question::present:
    case Question::script:
    case Question::comparison:
    case Question::execute:
    case Question::identity:
    case Question::login:
      break;  // others read them
  }
  return false;
}

bool Answers::read_value(const Value& value, Reply& reply) noexcept {
  switch (value.type()) {
    case Type::null:
      reply.status = Status::absent;
      return true;
    case Type::text:
      if (value.text().size() <= options_.value_limit) {
        reply = found(value.text());
        return true;
      }
      [[fallthrough]];
    case Type::too_large:
      reply = refusal(Reason::too_large, "the value is above value_limit");
      return true;
    default:
      return false;
  }
}

Reply Answers::found(std::string_view value) noexcept {
  event_version_ = ValueVersion::of(value);
  Reply reply;
  reply.value = value;
  reply.version = event_version_.text();
  return reply;
}

// What is known of the key of a list that was stored.
Reply Answers::stored(const Pending& list) noexcept {
  Reply reply;
  if (list.state != Pending::State::waiting) return reply;
  event_version_ = ValueVersion::of(list.values[list.at]);
  reply.version = event_version_.text();
  return reply;
}

// If the former value is above the limit, the key was still changed, unless it had to be absent.
bool Answers::read_former(const Pending& request, const Value& value, Reply& reply) noexcept {
  if (!read_value(value, reply)) return false;
  if (reply.status != Status::refused) return true;
  reply.executed = !request.conditional;
  reply.text = reply.executed ? "the key was changed; its previous value is above value_limit"
                              : "nothing was stored; the present value is above value_limit";
  return true;
}

// The format of servers of the Redis protocol: NAME:VALUE lines, with empty lines and lines that
// begin with "#" in between.
bool Answers::read_stats(const Value& value, Reply& reply) {
  const bool is_long = value.is(Type::too_large);
  if (!is_long && !value.is(Type::text) && !value.is(Type::verbatim)) return false;
  std::string_view text = value.text();
  if (is_long || text.size() > longest_stats) {
    reply = refusal(Reason::too_large, "the statistics are above 1 MiB");
    return true;
  }
  event_text_.clear();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon == line.npos || line.starts_with('#')) continue;
    event_text_.append(line.substr(0, colon)).append(1, ' ');
    event_text_.append(line.substr(colon + 1)).append(1, '\n');
  }
  reply.value = event_text_;
  return true;
}

void Answers::name_version(Reply& reply) {
  if (!server_.version) {
    reply = refusal(Reason::other, "the server has not reported its version");
    return;
  }
  event_text_ = server_.name();
  reply.value = event_text_;
}

}  // namespace sheaf::protocol::resp
