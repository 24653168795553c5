// BinarySession: from an operation to the bytes of its packet.
//
// Pure: no socket, clock, entropy, thread or callback.

#include "base/checks.h"
#include "protocol/memcached/binary_session.h"

namespace sheaf::protocol::memcached {
namespace {

constexpr std::string_view mechanism = "PLAIN";
constexpr std::size_t max_head = Header::wire_size + 20 + max_key_length;

template <class Packet>
void encode(const Packet& packet, OutputQueue& output) {
  ByteWriter out(output.buffer());
  SHEAF_CHECK(packet.encode(out).has_value());
}
template <class Packet>
void encode_head(const Packet& packet, OutputQueue& output) {
  ByteWriter out(output.buffer());
  SHEAF_CHECK(packet.encode_head(out).has_value());
}

}  // namespace

std::optional<std::string> BinarySession::bad_credentials() const {
  constexpr std::size_t longest = 1024;
  const std::string& user = options().user;
  const std::string& password = options().password;
  if (user.empty() && !password.empty()) return "there is a password without a user name";
  if (user.size() > longest || password.size() > longest) {
    return "user name or password is longer than 1024 bytes";
  }
  if (user.contains('\0') || password.contains('\0')) {
    return "user name or password contains a NUL byte";
  }
  return std::nullopt;
}

// ---- greeting and no-ops

Pending& BinarySession::write_bare(Opcode opcode, Question question, bool with_ticket) {
  reserve(1, Header::wire_size);
  Pending& request = queue_.add(question, with_ticket);
  request.opcode = opcode;
  encode(BareRequest{opcode, request.opaque}, output_);
  put_frame(request);
  return request;
}

void BinarySession::greet() {
  write_bare(Opcode::version, Question::version, false);
  if (!options().only_version) return;
  reserve(0, 1);
  output_.buffer().append(1, '\n');
  output_.end();
}

void BinarySession::write_probe() { write_bare(Opcode::no_op, Question::probe, false); }

void BinarySession::write_login() {
  std::string data(1, '\0');
  data.append(options().user).append(1, '\0').append(options().password);
  reserve(1, Header::wire_size + mechanism.size() + data.size());
  Pending& request = queue_.add(Question::login, false);
  request.opcode = Opcode::sasl_auth;
  encode(SaslRequest{request.opcode, request.opaque, mechanism, data}, output_);
  put_frame(request);
}

// ---- requests

std::expected<Ticket, LocalError> BinarySession::write(const Operation& operation, Now now) {
  const Verb verb = operation.verb;
  if (verb == Verb::lease) {
    return std::unexpected(unsupported("leases need memcached's meta protocol"));
  }
  if (needs_key(verb)) {
    if (auto error = check_binary_key(operation.key)) return std::unexpected(std::move(*error));
  }
  if ((verb == Verb::touch || verb == Verb::get_and_touch) &&
      server_version().value_or(ServerVersion{}) < touch_since) {
    return std::unexpected(unsupported("touch needs memcached 1.4.8"));
  }
  const auto expiry = expiry_of(operation.ttl, now, last_second_binary);
  if (!expiry) return std::unexpected(expiry.error());

  switch (verb) {
    case Verb::get:
    case Verb::get_and_touch:
      return write_get(operation, *expiry);
    case Verb::get_many:
      return write_many(operation.keys);
    case Verb::touch:
      return write_touch(operation, *expiry);
    case Verb::set:
      return write_set(operation, *expiry);
    case Verb::append:
    case Verb::prepend:
      return write_append(operation);
    case Verb::remove:
      return write_remove(operation);
    case Verb::increment:
    case Verb::decrement:
      return write_arithmetic(operation, *expiry);
    case Verb::stats:
      return write_stats(operation);
    case Verb::probe:
      return write_bare(Opcode::no_op, Question::probe, true).ticket;
    case Verb::server_version:
      return write_bare(Opcode::version, Question::version, true).ticket;
    default:
      return std::unexpected(unsupported("unknown verb"));
  }
}

Ticket BinarySession::write_get(const Operation& operation, std::uint32_t expiry) {
  reserve(1, max_head);
  Pending& request = queue_.add(Question::get, true);
  if (operation.verb == Verb::get) {
    request.opcode = Opcode::get;
    encode(GetRequest{request.opcode, request.opaque, operation.key}, output_);
  } else {
    request.opcode = Opcode::get_and_touch;
    encode(TouchRequest{request.opcode, request.opaque, expiry, operation.key}, output_);
  }
  put_frame(request);
  return request.ticket;
}

// One opaque for each key, and one for the NO-OP behind them.
std::expected<Ticket, LocalError> BinarySession::write_many(
    std::span<const std::string_view> keys) {
  std::size_t bytes = Header::wire_size;
  for (const std::string_view key : keys) {
    if (auto error = check_binary_key(key)) return std::unexpected(std::move(*error));
    bytes += Header::wire_size + key.size();
  }
  const auto count = static_cast<std::uint32_t>(keys.size());
  reserve(1, bytes);
  Pending& request = queue_.add(Question::many, true, count + 1);
  request.opcode = Opcode::no_op;
  std::uint32_t opaque = request.opaque;
  for (const std::string_view key : keys) {
    encode(GetRequest{Opcode::get_quiet, opaque++, key}, output_);
  }
  encode(BareRequest{Opcode::no_op, opaque}, output_);
  put_frame(request);
  return request.ticket;
}

Ticket BinarySession::write_touch(const Operation& operation, std::uint32_t expiry) {
  reserve(1, max_head);
  Pending& request = queue_.add(Question::touch, true);
  request.opcode = Opcode::touch;
  encode(TouchRequest{request.opcode, request.opaque, expiry, operation.key}, output_);
  put_frame(request);
  return request.ticket;
}

Ticket BinarySession::write_set(const Operation& operation, std::uint32_t expiry) {
  reserve(1, max_head, operation.value.size());
  Pending& request = queue_.add(Question::store, true);
  request.opcode = operation.condition == Condition::if_absent    ? Opcode::add
                   : operation.condition == Condition::if_present ? Opcode::replace
                                                                  : Opcode::set;
  request.by_version = operation.condition == Condition::if_version;
  encode_head(SetRequest{request.opcode, request.opaque, cas_of(operation), operation.flags, expiry,
                         operation.key, operation.value},
              output_);
  put_value(operation.value);
  put_frame(request);
  return request.ticket;
}

Ticket BinarySession::write_append(const Operation& operation) {
  reserve(1, max_head, operation.value.size());
  Pending& request = queue_.add(Question::append, true);
  request.opcode = operation.verb == Verb::append ? Opcode::append : Opcode::prepend;
  encode_head(AppendRequest{request.opcode, request.opaque, 0, operation.key, operation.value},
              output_);
  put_value(operation.value);
  put_frame(request);
  return request.ticket;
}

Ticket BinarySession::write_remove(const Operation& operation) {
  reserve(1, max_head);
  Pending& request = queue_.add(Question::remove, true);
  request.opcode = Opcode::remove;
  encode(RemoveRequest{request.opcode, request.opaque, cas_of(operation), operation.key}, output_);
  put_frame(request);
  return request.ticket;
}

Ticket BinarySession::write_arithmetic(const Operation& operation, std::uint32_t expiry) {
  reserve(1, max_head);
  Pending& request = queue_.add(Question::arithmetic, true);
  request.opcode = operation.verb == Verb::increment ? Opcode::increment : Opcode::decrement;
  ArithmeticRequest packet{
      .opcode = request.opcode, .opaque = request.opaque, .delta = operation.delta};
  packet.key = operation.key;
  if (operation.initial) {
    packet.initial = *operation.initial;
    packet.expiry = expiry;
  }
  encode(packet, output_);
  put_frame(request);
  return request.ticket;
}

Ticket BinarySession::write_stats(const Operation& operation) {
  reserve(1, max_head);
  Pending& request = queue_.add(Question::stats, true);
  request.opcode = Opcode::stat;
  encode(StatRequest{request.opaque, operation.key}, output_);
  put_frame(request);
  return request.ticket;
}

}  // namespace sheaf::protocol::memcached
