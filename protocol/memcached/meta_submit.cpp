// MetaSession: from an operation to the bytes of its line.
//
// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/meta_session.h"

namespace sheaf::protocol::memcached {
namespace {

MetaSet::Mode mode_of(const Operation& operation) noexcept {
  if (operation.verb == Verb::append) return MetaSet::Mode::append;
  if (operation.verb == Verb::prepend) return MetaSet::Mode::prepend;
  if (operation.condition == Condition::if_absent) return MetaSet::Mode::add;
  if (operation.condition == Condition::if_present) return MetaSet::Mode::replace;
  return MetaSet::Mode::set;
}

}  // namespace

// The server reads the log-in as "user password".
std::optional<std::string> MetaSession::bad_credentials() const {
  constexpr std::size_t longest = 1024;
  const std::string& user = options().user;
  const std::string& password = options().password;
  if (user.empty() && !password.empty()) return "there is a password without a user name";
  if (user.size() > longest || password.size() > longest) {
    return "user name or password is longer than 1024 bytes";
  }
  if (!is_plain_key(user) || user.contains(':')) {
    return "the user name contains a blank, a colon or a control character";
  }
  if (password.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    return "the password contains a line end or a NUL byte";
  }
  return std::nullopt;
}

// ---- greeting and no-ops

Pending& MetaSession::write_line(std::string_view line, Question question, bool with_ticket) {
  reserve(1, line.size());
  Pending& request = queue_.add(question, with_ticket);
  output_.buffer().append(line);
  put_frame(request);
  return request;
}

void MetaSession::greet() { write_line("version\r\n", Question::version, false); }

void MetaSession::write_probe() { write_line(meta_no_op, Question::probe, false); }

void MetaSession::write_login() {
  const std::string both = options().user + ' ' + options().password;
  std::string line = "set login 0 0 " + std::to_string(both.size());
  line.append(line_end).append(both).append(line_end);
  write_line(line, Question::login, false);
}

// ---- requests

std::expected<Ticket, LocalError> MetaSession::write(const Operation& operation, Now now) {
  if (needs_key(operation.verb)) {
    if (auto error = check_meta_key(operation.key)) return std::unexpected(std::move(*error));
  }
  const auto expiry = expiry_of(operation.ttl, now, last_second_meta);
  if (!expiry) return std::unexpected(expiry.error());
  switch (operation.verb) {
    case Verb::get_many:
      return write_many(operation.keys);
    case Verb::get:
    case Verb::get_and_touch:
    case Verb::touch:
    case Verb::lease:
      return write_get(operation, *expiry);
    case Verb::set:
    case Verb::append:
    case Verb::prepend:
      return write_set(operation, *expiry);
    case Verb::remove:
      return write_remove(operation);
    case Verb::increment:
    case Verb::decrement:
      return write_arithmetic(operation, *expiry);
    case Verb::probe:
      return write_line(meta_no_op, Question::probe, true).ticket;
    case Verb::server_version:
      return write_line("version\r\n", Question::version, true).ticket;
    case Verb::stats:
      return write_stats(operation.key);
    default:
      return std::unexpected(unsupported("unknown verb"));
  }
}

// Its answer has no opaque and may be END alone: the answer to the no-op in front keeps that from
// being taken for the end of a list that was lost.
Ticket MetaSession::write_stats(std::string_view group) {
  std::string line(meta_no_op);
  line.append("stats");
  if (!group.empty()) line.append(1, ' ').append(group);
  return write_line(line.append(line_end), Question::stats, true).ticket;
}

Ticket MetaSession::write_get(const Operation& operation, std::uint32_t expiry) {
  const Verb verb = operation.verb;
  reserve(1, max_request_line);
  Pending& request = queue_.add(verb == Verb::touch ? Question::touch : Question::get, true);
  MetaGet line{.key = operation.key, .opaque = request.opaque};
  line.value = verb != Verb::touch;
  if (verb == Verb::touch || verb == Verb::get_and_touch) line.touch = expiry;
  if (verb == Verb::lease) line.lease = expiry;
  ByteWriter out(output_.buffer());
  line.encode(out);
  put_frame(request);
  return request.ticket;
}

Ticket MetaSession::write_set(const Operation& operation, std::uint32_t expiry) {
  reserve(1, max_request_line, operation.value.size());
  const bool stores = operation.verb == Verb::set;
  Pending& request = queue_.add(stores ? Question::store : Question::append, true);
  MetaSet line{.key = operation.key, .size = operation.value.size(), .opaque = request.opaque};
  line.mode = mode_of(operation);
  line.flags = operation.flags;
  line.expiry = expiry;
  line.cas = cas_of(operation);
  request.by_version = line.cas != 0;
  ByteWriter out(output_.buffer());
  line.encode(out);
  put_value(operation.value);
  out.bytes(line_end);
  put_frame(request);
  return request.ticket;
}

Ticket MetaSession::write_remove(const Operation& operation) {
  reserve(1, max_request_line);
  Pending& request = queue_.add(Question::remove, true);
  ByteWriter out(output_.buffer());
  MetaRemove{operation.key, request.opaque, cas_of(operation)}.encode(out);
  put_frame(request);
  return request.ticket;
}

Ticket MetaSession::write_arithmetic(const Operation& operation, std::uint32_t expiry) {
  reserve(1, max_request_line);
  Pending& request = queue_.add(Question::arithmetic, true);
  const MetaArithmetic line{.key = operation.key,
                            .opaque = request.opaque,
                            .decrement = operation.verb == Verb::decrement,
                            .delta = operation.delta,
                            .initial = operation.initial,
                            .expiry = expiry};
  ByteWriter out(output_.buffer());
  line.encode(out);
  put_frame(request);
  return request.ticket;
}

}  // namespace sheaf::protocol::memcached
