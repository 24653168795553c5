// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/meta_writer.h"

#include "protocol/memcached/meta_lines.h"
#include "protocol/memcached/rules.h"

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
std::optional<std::string> bad_meta_login(const Login* login) {
  if (login == nullptr) return std::nullopt;
  const std::string& user = login->user;
  const std::string_view password = login->password.view();
  if (auto wrong = bad_login(user, password)) return wrong;
  if (!is_plain_key(user) || user.contains(':')) {
    return "the user name contains a blank, a colon or a control character";
  }
  if (password.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    return "the password contains a line end or a NUL byte";
  }
  return std::nullopt;
}

void MetaWriter::reserve(std::size_t bytes, std::size_t value) {
  queue_.reserve(1);
  output_.reserve(bytes, value);
}

// ---- requests of the session itself

Pending& MetaWriter::write_line(std::string_view line, Question question, bool with_ticket) {
  reserve(line.size());
  Pending& request = queue_.add(question, with_ticket);
  output_.buffer().append(line);
  request.frame = output_.end();
  return request;
}

void MetaWriter::write_version() { write_line("version\r\n", Question::version, false); }

OutputQueue::FrameId MetaWriter::write_no_op() {
  return write_line(meta_no_op, Question::probe, false).frame;
}

void MetaWriter::write_login(const Login& login) {
  const std::string_view password = login.password.view();
  const std::size_t size = login.user.size() + 1 + password.size();
  const std::string head = "set login 0 0 " + std::to_string(size);
  reserve(head.size() + size + 2 * line_end.size());
  Pending& request = queue_.add(Question::login, false);
  std::string& out = output_.buffer();
  out.append(head).append(line_end);
  out.append(login.user).append(1, ' ').append(password).append(line_end);
  request.frame = output_.end_secret();
}

// ---- requests

std::expected<Ticket, LocalError> MetaWriter::write(const Operation& operation, Now now) {
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

// The answer to `stats` has no opaque and may be just END. The answer to a no-op before it prevents
// confusion with the end of a list that was lost.
Ticket MetaWriter::write_stats(std::string_view group) {
  std::string line(meta_no_op);
  line.append("stats");
  if (!group.empty()) line.append(1, ' ').append(group);
  return write_line(line.append(line_end), Question::stats, true).ticket;
}

Ticket MetaWriter::write_get(const Operation& operation, std::uint32_t expiry) {
  const Verb verb = operation.verb;
  reserve(max_request_line);
  Pending& request = queue_.add(verb == Verb::touch ? Question::touch : Question::get, true);
  MetaGet line{.key = operation.key, .opaque = request.opaque};
  line.value = verb != Verb::touch;
  line.ttl = request.ttl_left = operation.ttl_left;
  if (verb == Verb::touch || verb == Verb::get_and_touch) line.touch = expiry;
  if (verb == Verb::lease) line.lease = expiry;
  ByteWriter out(output_.buffer());
  line.encode(out);
  request.frame = output_.end();
  return request.ticket;
}

Ticket MetaWriter::write_set(const Operation& operation, std::uint32_t expiry) {
  reserve(max_request_line, operation.value.size());
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
  output_.put_value(operation.value);
  out.bytes(line_end);
  request.frame = output_.end();
  return request.ticket;
}

Ticket MetaWriter::write_remove(const Operation& operation) {
  reserve(max_request_line);
  Pending& request = queue_.add(Question::remove, true);
  ByteWriter out(output_.buffer());
  MetaRemove{operation.key, request.opaque, cas_of(operation)}.encode(out);
  request.frame = output_.end();
  return request.ticket;
}

Ticket MetaWriter::write_arithmetic(const Operation& operation, std::uint32_t expiry) {
  reserve(max_request_line);
  Pending& request = queue_.add(Question::arithmetic, true);
  const MetaArithmetic line{.key = operation.key,
                            .opaque = request.opaque,
                            .decrement = operation.verb == Verb::decrement,
                            .delta = operation.delta,
                            .initial = operation.initial,
                            .expiry = expiry};
  ByteWriter out(output_.buffer());
  line.encode(out);
  request.frame = output_.end();
  return request.ticket;
}

// Two lines that are answered together; see meta_list_reader.h.
std::expected<Ticket, LocalError> MetaWriter::write_many(std::span<const std::string_view> keys) {
  constexpr std::string_view list_command = "gets";
  std::size_t bytes = max_request_line;
  for (const std::string_view key : keys) {
    if (!is_listable_key(key)) {
      return std::unexpected(unsupported("a key with blanks or control characters in a list"));
    }
    bytes += key.size() + 1;
  }
  reserve(bytes + list_command.size() + line_end.size());
  Pending& request = queue_.add(Question::many, true);
  request.acts_early = true;
  request.keys = keys;
  ByteWriter out(output_.buffer());
  MetaGet{.key = keys.front(), .opaque = request.opaque}.encode(out);
  if (keys.size() > 1) {
    out.bytes(list_command);
    for (const std::string_view key : keys.subspan(1)) {
      out.u8(' ');
      out.bytes(key);
    }
    out.bytes(line_end);
  }
  request.frame = output_.end();
  return request.ticket;
}

}  // namespace sheaf::protocol::memcached
