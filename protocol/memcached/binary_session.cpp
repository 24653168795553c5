// BinarySession: from received bytes to replies, and what each reply does.
//
// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/binary_session.h"

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

// Behind these the server closes, or reads the next request from its middle (an opcode that it does
// not know makes it swallow key and extras twice).
bool ends_connection(StatusCode status) noexcept {
  return status == StatusCode::invalid_arguments || status == StatusCode::auth_error ||
         status == StatusCode::auth_continue || status == StatusCode::unknown_command;
}

// What a failure means where it is no error; nothing where it is one.
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

// Where a failure keeps its words.
std::string_view text_of(const Header& header, std::string_view packet) noexcept {
  return packet.substr(packet.size() - header.value_length());
}

}  // namespace

BinarySession::Step BinarySession::next_step(Event& event) {
  if (skip_ > 0) return skip_bytes();
  const std::string_view data = input_.data();
  ByteReader reader(data);
  const auto header = Header::parse(reader, Magic::reply);
  if (!header && header.error() == PacketError::bad_magic && options().only_version) {
    return on_text_greeting();
  }
  if (!header) return on_header_error(header.error());
  Pending* const request = queue_.due();
  if (request == nullptr) return broken("a reply to nothing that was asked");
  const std::uint32_t index = header->opaque - request->opaque;  // of a key of get_many
  const bool part = request->question == Question::many && index < request->opaques - 1;
  if (index >= request->opaques || (part && index < request->at)) {
    return broken("a reply to nothing that is due");
  }
  if (header->opcode != (part ? Opcode::get_quiet : request->opcode)) {
    return broken("a reply with the opcode of another request");
  }
  const bool good = header->status() == StatusCode::success;
  if (!may_answer(*request, part || !good)) return Step::again;
  if (good && (part || request->question == Question::get) &&
      header->value_length() > options().value_limit) {
    return on_oversized(*request, *header, event);
  }
  if (header->packet_length() > input_.limit()) return broken("a reply longer than any expected");
  if (data.size() < header->packet_length()) return Step::need_input;
  input_.consumed(header->packet_length());
  const std::string_view packet = data.substr(0, header->packet_length());
  if (part) return on_part(*request, *header, packet, event);
  return on_packet(*request, *header, packet, event);
}

BinarySession::Step BinarySession::on_header_error(PacketError error) {
  if (error == PacketError::incomplete) return Step::need_input;
  if (error == PacketError::too_many_connections) {
    return end_with(is(State::ready) ? Reason::connection_lost : Reason::connect_failed,
                    "the server has too many open connections");
  }
  return broken(to_string(error));
}

BinarySession::Step BinarySession::on_packet(Pending& request, const Header& header,
                                             std::string_view packet, Event& event) {
  const bool good = header.status() == StatusCode::success;
  if (good && is(State::ready)) return on_success(request, packet, event);
  ByteReader reader(packet);
  if (const auto reply = parse_reply(reader); !reply) return broken(to_string(reply.error()));
  const std::string_view text = text_of(header, packet);
  if (is(State::greeting)) return on_greeting(request, header, text, event);
  if (request.question == Question::many) {
    return broken(sentence("a refused no-op", header.status(), text));
  }
  return on_failure(request, header.status(), text, event);
}

// ---- greeting

// A server that has read VERSION and the line end behind it as a command.
BinarySession::Step BinarySession::on_text_greeting() {
  const std::string_view data = input_.data();
  const std::size_t end = data.substr(0, max_reply_line).find("\r\n");
  if (end == std::string_view::npos) {
    return data.size() < max_reply_line ? Step::need_input
                                        : on_header_error(PacketError::bad_magic);
  }
  const auto line = ReplyLine::parse(data.substr(0, end)).value_or(ReplyLine{});
  if (line.code == ReplyLine::Code::client_error && line.text.starts_with("unauthenticated")) {
    learn_dialect(Dialect::text_and_log_in);
    return end_with(Reason::connect_failed, "the server speaks text and wants a log-in (-Y)");
  }
  if (line.code == ReplyLine::Code::error || line.code == ReplyLine::Code::client_error) {
    learn_dialect(Dialect::text);
    return end_with(Reason::connect_failed, "the server speaks text only");
  }
  return on_header_error(PacketError::bad_magic);
}

BinarySession::Step BinarySession::on_greeting(Pending& request, const Header& header,
                                               std::string_view text, Event& event) {
  const Question question = request.question;
  queue_.finish(request);
  if (question == Question::version) return on_version(header, text, event);
  const StatusCode status = header.status();
  if (status == StatusCode::success) return become_ready(event);
  if (question == Question::probe && status == StatusCode::auth_error) {
    return end_with(Reason::authentication, "the server wants a user name and a password", true);
  }
  if (question == Question::probe) {
    return end_with(Reason::connect_failed, sentence("the server refused a no-op", status, text));
  }
  if (status == StatusCode::unknown_command) {
    return end_with(Reason::authentication,
                    "the server knows no log-in (SASL is off), but a user name is configured",
                    true);
  }
  return end_with(Reason::authentication, sentence("the server refused the log-in", status, text),
                  true);
}

BinarySession::Step BinarySession::on_version(const Header& header, std::string_view text,
                                              Event& event) {
  if (header.status() != StatusCode::success) {
    return end_with(Reason::connect_failed,
                    sentence("the server does not tell its version", header.status(), text));
  }
  learn_version(text);
  if (options().only_version) return become_ready(event);
  if (has_credentials()) {
    write_login();
  } else {
    write_probe();
  }
  return Step::again;
}

// ---- replies

BinarySession::Step BinarySession::on_failure(Pending& request, StatusCode status,
                                              std::string_view text, Event& event) {
  if (const auto result = result_of(request, status)) {
    Reply reply;
    reply.status = *result;
    return answer(request, reply, event);
  }
  const std::string_view words = text.empty() ? to_string(status) : text;
  if (ends_connection(status)) return refuse_and_end(request, reason_of(status), words, event);
  if (request.question == Question::stats && status == StatusCode::key_not_found) {
    return refuse(request, Reason::bad_argument, "no such group of statistics", event);
  }
  return refuse(request, reason_of(status), words, event);
}

BinarySession::Step BinarySession::on_success(Pending& request, std::string_view packet,
                                              Event& event) {
  ByteReader reader(packet);
  Reply reply;
  switch (request.question) {
    case Question::get: {
      const auto got = GetReply::parse(reader);
      if (!got) return broken(to_string(got.error()));
      reply.value = got->value;
      reply.flags = got->flags;
      reply.version = version_text(got->cas);
      return answer(request, reply, event);
    }
    case Question::touch: {
      const auto touched = TouchReply::parse(reader);
      if (!touched) return broken(to_string(touched.error()));
      reply.flags = touched->flags;
      reply.version = version_text(touched->cas);
      return answer(request, reply, event);
    }
    case Question::arithmetic: {
      const auto counted = ArithmeticReply::parse(reader);
      if (!counted) return broken(to_string(counted.error()));
      reply.number = counted->number;
      reply.version = version_text(counted->cas);
      return answer(request, reply, event);
    }
    case Question::version: {
      const auto version = TextReply::parse(reader);
      if (!version) return broken(to_string(version.error()));
      reply.value = version->text;
      return answer(request, reply, event);
    }
    case Question::stats: {
      const auto stat = StatReply::parse(reader);
      if (!stat) return broken(to_string(stat.error()));
      if (stat->last()) return end_stats(request, event);
      return add_stat(request, stat->name, stat->value);
    }
    default: {
      const auto plain = PlainReply::parse(reader);
      if (!plain) return broken(to_string(plain.error()));
      reply.version = version_text(plain->cas);
      return answer(request, reply, event);
    }
  }
}

// Of get_many: the reply to one of its keys.
BinarySession::Step BinarySession::on_part(Pending& request, const Header& header,
                                           std::string_view packet, Event& event) {
  const std::uint32_t index = header.opaque - request.opaque;
  request.at = index + 1;
  Reply reply;
  ByteReader reader(packet);
  if (header.status() == StatusCode::success) {
    const auto got = GetReply::parse(reader);
    if (!got) return broken(to_string(got.error()));
    reply.value = got->value;
    reply.flags = got->flags;
    reply.version = version_text(got->cas);
    return tell(request, index, reply, event);
  }
  if (const auto parsed = parse_reply(reader); !parsed) return broken(to_string(parsed.error()));
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
  return tell(request, index, reply, event);
}

// A value that we do not take: its head decides, its bytes pass by.
BinarySession::Step BinarySession::on_oversized(Pending& request, const Header& header,
                                                Event& event) {
  if (header.extra_length != GetReply::extra_size || header.key_length != 0) {
    return broken(to_string(PacketError::bad_shape));
  }
  input_.consumed(Header::wire_size);
  skip_ = header.total_body_length;
  if (request.question != Question::many) return answer(request, too_large_reply(), event);
  const std::uint32_t index = header.opaque - request.opaque;
  request.at = index + 1;
  return tell(request, index, too_large_reply(), event);
}

}  // namespace sheaf::protocol::memcached
