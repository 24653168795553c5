// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/binary_session.h"

#include <utility>

#include "base/text.h"
#include "protocol/memcached/meta_lines.h"

namespace sheaf::protocol::memcached {
namespace {

using protocol::Reply;

// "the server refused the log-in (Auth failure.)"
std::string sentence(std::string_view start, StatusCode status, std::string_view text) {
  std::string all(start);
  all.append(" (").append(text.empty() ? std::string(to_string(status)) : printable(text, 128));
  return all.append(")");
}

Reason reason_of(StatusCode status) noexcept {
  switch (status) {
    case StatusCode::value_too_large:
      return Reason::too_large;
    case StatusCode::non_numeric:
      return Reason::wrong_type;
    case StatusCode::auth_error:
      return Reason::not_authorized;
    case StatusCode::unknown_command:
      return Reason::unknown_command;
    case StatusCode::invalid_arguments:
      return Reason::wrong_arguments;
    case StatusCode::out_of_memory:
      return Reason::quota;
    default:
      return Reason::other;
  }
}

// After these errors the server closes, or reads the next request from its middle (after an unknown
// opcode it skips key and extras twice).
bool ends_connection(StatusCode status) noexcept {
  return status == StatusCode::invalid_arguments || status == StatusCode::auth_error ||
         status == StatusCode::auth_continue || status == StatusCode::unknown_command;
}

// The server says nothing about the login: it cannot serve anybody now.
bool is_about_now(StatusCode status) noexcept {
  return status == StatusCode::out_of_memory || status == StatusCode::busy ||
         status == StatusCode::temporary_failure || status == StatusCode::internal_error;
}

// The result that a failure status means; nothing if the failure is an error.
std::optional<Status> result_of(const Pending& request, StatusCode status) noexcept {
  const bool absent = status == StatusCode::key_not_found;
  switch (request.question) {
    case Question::get:
    case Question::touch:
    case Question::arithmetic:
      if (absent) return Status::absent;
      break;
    case Question::store:
      if (absent) return request.by_version ? Status::absent : Status::not_stored;
      if (status == StatusCode::key_exists || status == StatusCode::not_stored) {
        return Status::not_stored;
      }
      break;
    case Question::append:
      if (absent || status == StatusCode::not_stored) return Status::not_stored;
      break;
    case Question::remove:
      if (absent) return Status::absent;
      if (status == StatusCode::key_exists) return Status::not_stored;
      break;
    default:
      break;
  }
  return std::nullopt;
}

// A failure has its text where other replies have a value.
std::string_view text_of(const Header& header, std::string_view packet) noexcept {
  return packet.substr(packet.size() - header.value_length());
}

}  // namespace

void BinarySession::greet() {
  if (auto text = bad_binary_login(take_login())) {
    return life().end({Reason::bad_configuration, std::move(*text), true});
  }
  writer_.write_version();
}

Step BinarySession::next_reply(Event& event) {
  const std::string_view data = life().input().data();
  ByteReader reader(data);
  const auto header = Header::parse(reader, Magic::reply);
  if (!header && header.error() == PacketError::bad_magic && options().only_version) {
    return on_text_greeting();
  }
  if (!header) return on_header_error(header.error());
  Pending* const request = requests().due();
  if (request == nullptr) return broken("a reply without a request");
  const std::uint32_t index = header->opaque - request->opaque;  // a key's position in get_many
  const bool item = request->question == Question::many && index < request->opaques - 1;
  if (index >= request->opaques || (item && index < request->at)) {
    return broken("a reply out of turn");
  }
  if (header->opcode != (item ? Opcode::get_quiet : request->opcode)) {
    return broken("a reply with the opcode of another request");
  }
  const bool good = header->status() == StatusCode::success;
  if (!answers().may_come(*request, item || !good)) return Step::again;
  if (good && (item || request->question == Question::get) &&
      header->value_length() > options().value_limit) {
    return on_oversized(*request, *header, event);
  }
  if (header->packet_length() > life().input().limit())
    return broken("a reply longer than any expected");
  if (data.size() < header->packet_length()) return Step::need_input;
  life().input().consumed(header->packet_length());
  const std::string_view packet = data.substr(0, header->packet_length());
  if (item) return on_item(*request, *header, packet, event);
  return on_packet(*request, *header, packet, event);
}

Step BinarySession::on_header_error(PacketError error) {
  if (error == PacketError::incomplete) return Step::need_input;
  if (error == PacketError::too_many_connections) {
    return life().end_with(ready() ? Reason::connection_lost : Reason::connect_failed,
                           "the server has too many open connections");
  }
  return broken(error);
}

Step BinarySession::on_packet(Pending& request, const Header& header, std::string_view packet,
                              Event& event) {
  const bool good = header.status() == StatusCode::success;
  if (good && ready()) return on_success(request, packet, event);
  ByteReader reader(packet);
  if (const auto reply = parse_reply(reader); !reply) return broken(reply.error());
  const std::string_view text = text_of(header, packet);
  if (!ready()) return on_greeting(request, header, text, event);
  if (request.question == Question::many) {
    return broken(sentence("a refused no-op", header.status(), text));
  }
  return on_failure(request, header.status(), text, event);
}

// ---- greeting

// The server has read VERSION and the line end after it as a command of the text protocol.
Step BinarySession::on_text_greeting() {
  const std::string_view data = life().input().data();
  const std::size_t end = data.substr(0, max_reply_line).find("\r\n");
  if (end == std::string_view::npos) {
    return data.size() < max_reply_line ? Step::need_input
                                        : on_header_error(PacketError::bad_magic);
  }
  const auto line = ReplyLine::parse(data.substr(0, end)).value_or(ReplyLine{});
  if (line.code == ReplyLine::Code::client_error && line.text.starts_with("unauthenticated")) {
    learn_dialect(Dialect::text_and_log_in);
    return life().end_with(Reason::connect_failed,
                           "the server speaks text and requires a log-in (-Y)");
  }
  if (line.code == ReplyLine::Code::error || line.code == ReplyLine::Code::client_error) {
    learn_dialect(Dialect::text);
    return life().end_with(Reason::connect_failed, "the server speaks text only");
  }
  return on_header_error(PacketError::bad_magic);
}

Step BinarySession::on_greeting(Pending& request, const Header& header, std::string_view text,
                                Event& event) {
  const Question question = request.question;
  requests().finish(request);
  if (question == Question::version) return on_version(header, text, event);
  const StatusCode status = header.status();
  if (status == StatusCode::success) return life().become_ready(event);
  if (question == Question::probe && status == StatusCode::auth_error) {
    return refuse_login("the server requires a user name and a password");
  }
  if (question == Question::probe && !ends_connection(status)) return life().become_ready(event);
  if (question == Question::probe) {
    return life().end_with(Reason::connect_failed,
                           sentence("the server refused a no-op", status, text));
  }
  if (status == StatusCode::unknown_command) {
    return refuse_login("the server has no log-in (SASL is off), but a user name is configured");
  }
  std::string why =
      sentence("the server refused the log-in", status, without_secrets(text, login()));
  if (is_about_now(status)) return life().end_with(Reason::connect_failed, std::move(why));
  return refuse_login(std::move(why));
}

Step BinarySession::on_version(const Header& header, std::string_view text, Event& event) {
  if (header.status() != StatusCode::success) {
    return life().end_with(
        Reason::connect_failed,
        sentence("the server does not report its version", header.status(), text));
  }
  learn_version(text);
  if (options().only_version) return life().become_ready(event);
  if (has_credentials()) {
    writer_.write_login(*login());
  } else {
    writer_.write_no_op();
  }
  return Step::again;
}

// ---- replies

Step BinarySession::on_failure(Pending& request, StatusCode status, std::string_view text,
                               Event& event) {
  if (const auto result = result_of(request, status)) {
    Reply reply;
    reply.status = *result;
    return answers().answer(request, reply, event);
  }
  const std::string_view why = text.empty() ? to_string(status) : text;
  if (ends_connection(status)) {
    return answers().refuse_and_end(request, reason_of(status), why, event);
  }
  if (request.question == Question::probe) return answers().answer(request, {}, event);
  if (request.question == Question::stats && status == StatusCode::key_not_found) {
    return answers().refuse(request, Reason::bad_argument, "no such group of statistics", event);
  }
  return answers().refuse(request, reason_of(status), why, event);
}

Step BinarySession::on_success(Pending& request, std::string_view packet, Event& event) {
  ByteReader reader(packet);
  Reply reply;
  switch (request.question) {
    case Question::get: {
      const auto got = GetReply::parse(reader);
      if (!got) return broken(got.error());
      reply.value = got->value;
      reply.flags = got->flags;
      reply.version = answers().version_text(got->cas);
      return answers().answer(request, reply, event);
    }
    case Question::touch: {
      const auto touched = TouchReply::parse(reader);
      if (!touched) return broken(touched.error());
      reply.flags = touched->flags;
      reply.version = answers().version_text(touched->cas);
      return answers().answer(request, reply, event);
    }
    case Question::arithmetic: {
      const auto counted = ArithmeticReply::parse(reader);
      if (!counted) return broken(counted.error());
      reply.number = counted->number;
      reply.version = answers().version_text(counted->cas);
      return answers().answer(request, reply, event);
    }
    case Question::version: {
      const auto version = TextReply::parse(reader);
      if (!version) return broken(version.error());
      reply.value = version->text;
      return answers().answer(request, reply, event);
    }
    case Question::stats: {
      const auto stat = StatReply::parse(reader);
      if (!stat) return broken(stat.error());
      if (stat->last()) return answers().end_stats(request, event);
      return answers().add_stat(request, stat->name, stat->value);
    }
    default: {
      const auto plain = PlainReply::parse(reader);
      if (!plain) return broken(plain.error());
      reply.version = answers().version_text(plain->cas);
      return answers().answer(request, reply, event);
    }
  }
}

// Handles the reply to one key of get_many.
Step BinarySession::on_item(Pending& request, const Header& header, std::string_view packet,
                            Event& event) {
  const std::uint32_t index = header.opaque - request.opaque;
  request.at = index + 1;
  Reply reply;
  ByteReader reader(packet);
  if (header.status() == StatusCode::success) {
    const auto got = GetReply::parse(reader);
    if (!got) return broken(got.error());
    reply.value = got->value;
    reply.flags = got->flags;
    reply.version = answers().version_text(got->cas);
    return answers().item(request, index, reply, event);
  }
  if (const auto parsed = parse_reply(reader); !parsed) return broken(parsed.error());
  const StatusCode status = header.status();
  const std::string_view text = text_of(header, packet);
  if (ends_connection(status)) return broken(sentence("a refused get", status, text));
  if (status == StatusCode::key_not_found) {
    reply.status = Status::absent;
  } else {
    reply.status = Status::refused;
    reply.reason = reason_of(status);
    reply.text = text.empty() ? to_string(status) : text;
  }
  return answers().item(request, index, reply, event);
}

// The value is above the limit: its head decides the answer, and its bytes are skipped.
Step BinarySession::on_oversized(Pending& request, const Header& header, Event& event) {
  if (header.extra_length != GetReply::extra_size || header.key_length != 0) {
    return broken(PacketError::bad_shape);
  }
  life().input().skip(Header::wire_size + header.total_body_length);
  if (request.question != Question::many)
    return answers().answer(request, Answers::above_value_limit(), event);
  const std::uint32_t index = header.opaque - request.opaque;
  request.at = index + 1;
  return answers().item(request, index, Answers::above_value_limit(), event);
}

}  // namespace sheaf::protocol::memcached
