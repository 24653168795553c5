// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/session.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"
#include "protocol/resp/wire/server_error.h"

namespace sheaf::protocol::resp {
namespace {

// No string of a server is longer, and a larger limit would not fit the reader's.
constexpr std::uint64_t largest_value = 512u << 20;
// For statistics, whatever value_limit is.
constexpr std::uint64_t longest_other_text = 1u << 20;
// For the rest of a reply around one text, and for lines.
constexpr std::uint32_t other_bytes = 128u << 10;
// For the reply to a command that is passed through. A map of all slots with replicas has 340,000.
constexpr std::uint32_t most_elements = 1u << 20;

SessionOptions bounded(SessionOptions options) {
  SHEAF_CHECK(options.max_in_flight >= 1);
  options.value_limit = std::min(options.value_limit, largest_value);
  return options;
}

ReplyLimits limits_of(const SessionOptions& options) {
  const std::uint64_t value_limit = std::min(options.value_limit, largest_value);
  ReplyLimits limits;
  limits.text = static_cast<std::uint32_t>(std::max(value_limit, longest_other_text));
  limits.bytes = limits.text + other_bytes;
  limits.elements = most_elements;
  return limits;
}

LifeOptions life_options(const SessionOptions& options) {
  LifeOptions life;
  life.input_limit = limits_of(options).bytes;
  life.handshake_limit = options.handshake_limit;
  life.keep_alive = options.keep_alive;
  life.answer_limit = options.answer_limit;
  life.over_tls = options.over_tls;
  life.peer = "a Redis server";
  life.greeting = "the greeting";
  life.greeting_hint = ": it hangs, or does not speak the Redis protocol";
  life.no_op = "a PING";
  return life;
}

}  // namespace

RespSession::RespSession(SessionOptions options)
    : SessionBase(life_options(options)),
      options_(bounded(std::move(options))),
      reader_(limits_of(options_)),
      commands_(life().output()),
      handshake_(options_.handshake),
      changes_(options_, handshake_.server(), requests(), life().output()),
      writer_(options_, handshake_.server(), requests(), life().output(), changes_, tracking_,
              mget_, mset_),
      renewal_(handshake_.login(), requests(), life().output()),
      identity_(options_, handshake_.server(), requests(), life().output()),
      answers_(options_, handshake_.server(), life(), requests(), changes_, tracking_, renewal_,
               identity_, mget_, mset_) {}

Peer RespSession::peer() const {
  const ServerFacts& server = handshake_.server();
  ServerRole role = ServerRole::unknown;
  if (server.role) {
    role = *server.role == Role::primary ? ServerRole::primary : ServerRole::replica;
  }
  return {server.name(), server.id, role};
}

// During the handshake the renewal waits until that is over. A connection cannot log out.
bool RespSession::renew_login(Now) {
  const UsedLogin& login = handshake_.login();
  if (life().state() == ConnectionLife::State::idle || closed() || !login.stale()) return true;
  if (login.present() == nullptr) return false;
  if (ready()) life().guarded([this] { renewal_.renew(); });
  return true;
}

// A change that was cancelled may have made room for the next one.
void RespSession::before_output() {
  if (!ready()) return;
  life().guarded([this] {
    if (changes_.go_on()) return;
    life().end({Reason::connection_lost, "a change was given up while it was being sent"});
  });
}

std::size_t RespSession::free_slots() const {
  const std::size_t used = requests().size();
  if (used >= options_.max_in_flight) return 0;
  if (life().output().size() >= options_.output_limit) return 0;
  return options_.max_in_flight - used;
}

Step RespSession::next_step(Event& event) {
  if (tracking_.next(event.notification)) {
    event.kind = Event::Kind::notification;
    return Step::event;
  }
  if (identity_.take_change() && !options_.handshake.readonly) {
    event.kind = Event::Kind::outdated;
    return Step::event;
  }
  if (const auto step = answers_.go_on(reader_.at_beginning(), event)) return *step;
  if (life().input().skipping()) return Step::need_input;
  switch (reader_.read(life().input().data())) {
    case ReplyReader::Progress::need_input:
      return Step::need_input;
    case ReplyReader::Progress::pass_over:
      return pass_over();
    case ReplyReader::Progress::broken:
      return life().broken(reader_.fault().message());
    case ReplyReader::Progress::complete:
      break;
  }
  life().input().consumed(reader_.size());
  return on_reply(event);
}

Step RespSession::on_reply(Event& event) {
  const Value reply = reader_.root();
  if (reply.is(Type::push)) {
    return answers_.in_array() ? life().broken("a push inside a reply") : on_push(reply);
  }
  return ready() ? answers_.on_reply(reply, reader_.bytes(), event) : on_greeting(reply, event);
}

// next_step() returns the events.
Step RespSession::on_push(const Value& push) {
  if (!tracking_.on_push(push)) ++life().counters().bad_notifications;
  return Step::again;
}

// A server that accepts no more clients says so before it has read anything.
Step RespSession::on_greeting(const Value& reply, Event& event) {
  const bool refused = reply.is_error() && ServerError::parse(reply.text()).ends_connection();
  if (!refused && !life().has_left(handshake_.due_frame())) {
    return life().broken("a reply to a request that has not been sent");
  }
  handshake_.on_reply(reply);
  if (handshake_.state() == Handshake::State::ready) {
    renewal_.renew();
    return life().become_ready(event);
  }
  if (handshake_.state() == Handshake::State::failed) {
    life().end(handshake_.failure());
  } else {
    handshake_.write(commands_);
  }
  return Step::again;
}

// Skips a reply without buffering it; the request that it answers is looked at once it has passed.
Step RespSession::pass_over() {
  if (!ready() || !answers_.may_be_large(reader_.passed_over())) {
    return life().broken(reader_.fault().message());
  }
  life().input().skip(reader_.size());
  return Step::again;
}

}  // namespace sheaf::protocol::resp
