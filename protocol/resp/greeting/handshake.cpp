// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/greeting/handshake.h"

#include <sheaf/version.h>

#include "base/checks.h"
#include "base/text.h"
#include "protocol/resp/wire/server_error.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::size_t longest_id = 64;  // in an error

Reason reason_of(const ServerError& error) noexcept {
  switch (error.kind) {
    case ErrorKind::wrong_arguments:  // from AUTH with a user, on a server before ACLs
    case ErrorKind::denied:
      return Reason::authentication;
    default:
      return error.reason();
  }
}

bool turns_away(const Value& reply) noexcept {
  return reply.is_error() && ServerError::parse(reply.text()).turns_away();
}

bool means_no_cluster(const Value& reply) noexcept {
  return reply.is_error() && ServerError::parse(reply.text()).kind == ErrorKind::cluster_disabled;
}

bool is_permanent(const ServerError& error) noexcept {
  return error.permanent() || error.kind == ErrorKind::wrong_arguments;
}

}  // namespace

CloseReason refusal_of(std::string_view command, const ServerError& error, const Login* login) {
  const std::string words = printable(without_secrets(error.text, login), 200);
  return {reason_of(error), "the server refused " + std::string(command) + ": " + words,
          is_permanent(error)};
}

Handshake::Handshake(const HandshakeOptions& options) noexcept
    : options_(options), login_(options.login) {}

void Handshake::begin() noexcept {
  const Login* const login = login_.take();
  const bool shows = login != nullptr && !(login->user.empty() && login->password.empty());
  if (shows) enter(State::login);
}

OutputQueue::FrameId write_auth(CommandWriter& writer, const Login& login) {
  const std::string_view password = login.password.view();
  if (login.user.empty()) return writer.write_secret({"AUTH", password});
  return writer.write_secret({"AUTH", login.user, password});
}

void Handshake::enter(State state) noexcept {
  state_ = state;
  written_ = false;
}

void Handshake::write(CommandWriter& writer) {
  if (written_) return;
  written_ = true;
  switch (state_) {
    case State::login:
      last_frame_ = write_auth(writer, *login_.get());
      owed_ = 1;
      break;
    case State::greeting:
      last_frame_ = writer.write({"HELLO", 3});
      owed_ = 1;
      break;
    case State::asking:
      writer.write({"INFO", "server"});
      last_frame_ = writer.write({"INFO", "replication"});
      owed_ = 2;
      break;
    case State::last:
      writer.write({"CLIENT", "SETINFO", "LIB-NAME", "sheaf"});
      writer.write({"CLIENT", "SETINFO", "LIB-VER", SHEAF_VERSION});
      if (server_.cluster) writer.write({"CLUSTER", "MYID"});
      if (options_.readonly) writer.write({"READONLY"});
      last_frame_ = writer.write({"PING"});
      owed_ = 3u + (server_.cluster ? 1 : 0) + (options_.readonly ? 1 : 0);
      break;
    case State::ready:
    case State::failed:
      break;
  }
}

void Handshake::on_reply(const Value& reply) {
  SHEAF_CHECK(owed_ > 0);
  switch (state_) {
    case State::login:
      on_login(reply);
      break;
    case State::greeting:
      on_greeting(reply);
      break;
    case State::asking:
      on_info(reply);
      break;
    case State::last:
      on_last(reply);
      break;
    case State::ready:
    case State::failed:
      break;
  }
  --owed_;
}

void Handshake::on_login(const Value& reply) {
  if (reply.is_status("OK")) return enter(State::greeting);
  fail("AUTH", reply);
}

void Handshake::on_greeting(const Value& reply) {
  if (reply.is(Type::map) || reply.is(Type::array)) {
    server_ = ServerFacts::of_hello(reply);
    return enter(State::last);
  }
  if (reply.is_error() && !turns_away(reply)) return enter(State::asking);
  fail("HELLO", reply);
}

void Handshake::on_info(const Value& reply) {
  const bool is_error = reply.is_error();
  if (turns_away(reply) || (!is_error && !reply.is_text())) return fail("INFO", reply);
  if (!is_error) server_.add_info(reply.text());
  if (owed_ == 1) enter(State::last);
}

Handshake::Question Handshake::question() const noexcept {
  std::uint32_t left = owed_;
  if (--left == 0) return Question::ping;
  if (options_.readonly && --left == 0) return Question::readonly;
  if (server_.cluster && --left == 0) return Question::my_id;
  return Question::set_info;
}

void Handshake::on_last(const Value& reply) {
  const bool is_error = reply.is_error();
  const bool turned_away = turns_away(reply);
  switch (question()) {
    case Question::set_info:
      if (turned_away || (!is_error && !reply.is(Type::status))) fail("CLIENT SETINFO", reply);
      break;
    case Question::my_id:
      if (turned_away || (!is_error && !reply.is_text())) return fail("CLUSTER MYID", reply);
      if (!is_error) server_.id = reply.text();
      break;
    case Question::readonly:
      if (!reply.is_status("OK") && !means_no_cluster(reply)) fail("READONLY", reply);
      break;
    case Question::ping:
      if (turned_away || (!is_error && !reply.is_status("PONG"))) return fail("PING", reply);
      on_pong();
      break;
  }
}

void Handshake::on_pong() {
  if (options_.known == nullptr || !options_.known->is_stranger(server_.id)) {
    return enter(State::ready);
  }
  state_ = State::failed;
  failure_ = {Reason::foreign_server, "another server has the address: its ID " +
                                          printable(server_.id, longest_id) +
                                          " is not one of the cluster's"};
}

void Handshake::fail(std::string_view command, const Value& reply) {
  state_ = State::failed;
  if (!reply.is_error()) {
    failure_ = {Reason::protocol_error,
                "the server broke the protocol: an unexpected reply to " + std::string(command)};
    return;
  }
  failure_ =
      excused_if_stale(refusal_of(command, ServerError::parse(reply.text()), login_.get()), login_);
}

}  // namespace sheaf::protocol::resp
