// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/authentication.h"

#include <string>

#include "protocol/statestore/reason_codes.h"

namespace sheaf::protocol::statestore {

using mqtt5::PropertyId;
using mqtt5::PropertyWriter;
using mqtt5::ReasonCode;
using State = ConnectionLife::State;

namespace {

// The bytes before the properties of AUTH: type, length, reason code, length of the properties.
constexpr std::size_t longest_auth_head = 1 + 4 + 1 + 4;

// Only a connection's token can be renewed.
bool only_token_differs(const Login& used, const Login& present) noexcept {
  return !used.method.empty() && used.method == present.method && used.user == present.user &&
         used.password == present.password;
}

}  // namespace

std::size_t size_of_properties(const Login* login) noexcept {
  if (login == nullptr || login->method.empty()) return 0;
  const std::size_t method = PropertyWriter::text_size(login->method);
  return method + (login->token.empty() ? 0 : PropertyWriter::text_size(login->token.view()));
}

void add_properties(PropertyWriter& out, const Login* login) {
  if (login == nullptr || login->method.empty()) return;
  out.text(PropertyId::authentication_method, login->method);
  if (!login->token.empty()) out.text(PropertyId::authentication_data, login->token.view());
}

std::string_view Authentication::method() const noexcept {
  const Login* const login = login_.get();
  return login == nullptr ? std::string_view() : std::string_view(login->method);
}

// ---- output

void Authentication::send(ReasonCode code) {
  const std::size_t size = size_of_properties(login_.get());
  std::string raw;
  raw.reserve(size);
  ByteWriter to_raw(raw);
  PropertyWriter properties(to_raw);
  add_properties(properties, login_.get());
  mqtt5::Auth auth;
  auth.code = code;
  auth.properties.raw = raw;
  life_.output().reserve(longest_auth_head + size);
  ByteWriter out(life_.output().buffer());
  auth.encode(out);
  wipe(raw);
  frame_ = life_.output().end_secret();
}

void Authentication::ask(Now now) {
  login_.take();
  send(ReasonCode::reauthenticate);
  continued_ = false;
  due_ = now.mono + answer_limit_;
}

bool Authentication::renew(std::size_t packet_limit, Now now) {
  if (life_.state() == State::idle || life_.closed() || !login_.stale()) return true;
  const Login* const used = login_.get();
  const Login* const present = login_.present();
  if (used == nullptr || present == nullptr || !only_token_differs(*used, *present)) return false;
  if (longest_auth_head + size_of_properties(present) > packet_limit) return false;
  if (due_ == never && life_.ready()) life_.guarded([&] { ask(now); });
  return true;
}

// The token may have been renewed while this connection was being made.
void Authentication::become_ready(Now now) {
  const Login* const present = login_.present();
  if (!login_.stale() || present == nullptr || login_.get() == nullptr) return;
  if (only_token_differs(*login_.get(), *present)) ask(now);
}

// ---- input from the server

bool Authentication::accepts(const mqtt5::Properties& properties) {
  const auto& theirs = properties.authentication_method;
  if (!theirs || *theirs == method()) return true;
  broken(life_, "CONNACK is of another authentication method", ReasonCode::protocol_error);
  return false;
}

Step Authentication::on_auth(const mqtt5::Frame& frame, std::string_view packet, Now now) {
  const auto auth = mqtt5::Auth::parse(frame, packet);
  if (!auth) return broken(life_, auth.error());
  const bool expected = life_.state() == State::greeting || due_ != never;
  if (method().empty() || !expected || !life_.has_left(frame_)) {
    return out_of_place(life_, frame.type);
  }
  if (auth->properties.authentication_method.value_or(std::string_view{}) != method()) {
    return broken(life_, "AUTH is of another authentication method", ReasonCode::protocol_error);
  }
  if (auth->code == ReasonCode::continue_authentication) return on_continue();
  if (auth->code != ReasonCode::success || due_ == never) {
    return broken(life_, "AUTH with a reason code that was not expected",
                  ReasonCode::protocol_error);
  }
  due_ = never;
  become_ready(now);
  return Step::again;
}

Step Authentication::on_continue() {
  if (continued_) {
    life_.end(
        excused_if_stale({Reason::authentication,
                          "the server wants more steps than the authentication method has", true},
                         login_),
        disconnect_packet(ReasonCode::unspecified_error));
    return Step::again;
  }
  continued_ = true;
  send(ReasonCode::continue_authentication);
  return Step::again;
}

bool Authentication::is_refused_by(ReasonCode code) const noexcept {
  if (method().empty()) return false;
  if (is_about_identity(code)) return true;
  return due_ != never && code == ReasonCode::administrative_action;
}

void Authentication::on_deadline(Now now) {
  if (now.mono < due_) return;
  life_.end({Reason::connection_lost, "the server did not answer a re-authentication in time"},
            disconnect_packet(ReasonCode::unspecified_error));
}

}  // namespace sheaf::protocol::statestore
