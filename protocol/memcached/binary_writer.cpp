// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/binary_writer.h"

#include "base/checks.h"
#include "protocol/memcached/rules.h"

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

std::optional<std::string> bad_binary_login(const Login* login) {
  if (login == nullptr) return std::nullopt;
  const std::string& user = login->user;
  const std::string_view password = login->password.view();
  if (auto wrong = bad_login(user, password)) return wrong;
  if (user.contains('\0') || password.contains('\0')) {
    return "user name or password contains a NUL byte";
  }
  return std::nullopt;
}

void BinaryWriter::reserve(std::size_t bytes, std::size_t value) {
  queue_.reserve(1);
  output_.reserve(bytes, value);
}

// ---- requests of the session itself

Pending& BinaryWriter::write_bare(Opcode opcode, Question question, bool with_ticket) {
  reserve(Header::wire_size);
  Pending& request = queue_.add(question, with_ticket);
  request.opcode = opcode;
  encode(BareRequest{opcode, request.opaque}, output_);
  request.frame = output_.end();
  return request;
}

// If it is sent alone, a line end follows: a server that knows only text then answers an unknown
// command, instead of waiting for the end of its line.
void BinaryWriter::write_version() {
  write_bare(Opcode::version, Question::version, false);
  if (!options_.only_version) return;
  output_.reserve(1);
  output_.buffer().append(1, '\n');
  output_.end();
}

OutputQueue::FrameId BinaryWriter::write_no_op() {
  return write_bare(Opcode::no_op, Question::probe, false).frame;
}

void BinaryWriter::write_login(const Login& login) {
  std::string data;
  data.reserve(2 + login.user.size() + login.password.view().size());
  data.append(1, '\0').append(login.user).append(1, '\0').append(login.password.view());
  reserve(Header::wire_size + mechanism.size() + data.size());
  Pending& request = queue_.add(Question::login, false);
  request.opcode = Opcode::sasl_auth;
  encode(SaslRequest{request.opcode, request.opaque, mechanism, data}, output_);
  wipe(data);
  request.frame = output_.end_secret();
}

// ---- requests

std::expected<Ticket, LocalError> BinaryWriter::write(const Operation& operation, Now now) {
  const Verb verb = operation.verb;
  if (verb == Verb::lease) {
    return std::unexpected(unsupported("leases need memcached's meta protocol"));
  }
  if (operation.ttl_left) {
    return std::unexpected(
        unsupported("the remaining time to live needs memcached's meta protocol"));
  }
  if (needs_key(verb)) {
    if (auto error = check_binary_key(operation.key)) return std::unexpected(std::move(*error));
  }
  if ((verb == Verb::touch || verb == Verb::get_and_touch) && !server_.at_least(touch_since)) {
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

Ticket BinaryWriter::write_get(const Operation& operation, std::uint32_t expiry) {
  reserve(max_head);
  Pending& request = queue_.add(Question::get, true);
  if (operation.verb == Verb::get) {
    request.opcode = Opcode::get;
    encode(GetRequest{request.opcode, request.opaque, operation.key}, output_);
  } else {
    request.opcode = Opcode::get_and_touch;
    encode(TouchRequest{request.opcode, request.opaque, expiry, operation.key}, output_);
  }
  request.frame = output_.end();
  return request.ticket;
}

// Uses one opaque for each key, and one for the NO-OP after them.
std::expected<Ticket, LocalError> BinaryWriter::write_many(std::span<const std::string_view> keys) {
  std::size_t bytes = Header::wire_size;
  for (const std::string_view key : keys) {
    if (auto error = check_binary_key(key)) return std::unexpected(std::move(*error));
    bytes += Header::wire_size + key.size();
  }
  const auto count = static_cast<std::uint32_t>(keys.size());
  reserve(bytes);
  Pending& request = queue_.add(Question::many, true, count + 1);
  request.acts_early = true;
  request.opcode = Opcode::no_op;
  std::uint32_t opaque = request.opaque;
  for (const std::string_view key : keys) {
    encode(GetRequest{Opcode::get_quiet, opaque++, key}, output_);
  }
  encode(BareRequest{Opcode::no_op, opaque}, output_);
  request.frame = output_.end();
  return request.ticket;
}

Ticket BinaryWriter::write_touch(const Operation& operation, std::uint32_t expiry) {
  reserve(max_head);
  Pending& request = queue_.add(Question::touch, true);
  request.opcode = Opcode::touch;
  encode(TouchRequest{request.opcode, request.opaque, expiry, operation.key}, output_);
  request.frame = output_.end();
  return request.ticket;
}

Ticket BinaryWriter::write_set(const Operation& operation, std::uint32_t expiry) {
  reserve(max_head, operation.value.size());
  Pending& request = queue_.add(Question::store, true);
  request.opcode = operation.condition == Condition::if_absent    ? Opcode::add
                   : operation.condition == Condition::if_present ? Opcode::replace
                                                                  : Opcode::set;
  request.by_version = operation.condition == Condition::if_version;
  encode_head(SetRequest{request.opcode, request.opaque, cas_of(operation), operation.flags, expiry,
                         operation.key, operation.value},
              output_);
  output_.put_value(operation.value);
  request.frame = output_.end();
  return request.ticket;
}

Ticket BinaryWriter::write_append(const Operation& operation) {
  reserve(max_head, operation.value.size());
  Pending& request = queue_.add(Question::append, true);
  request.opcode = operation.verb == Verb::append ? Opcode::append : Opcode::prepend;
  encode_head(AppendRequest{request.opcode, request.opaque, 0, operation.key, operation.value},
              output_);
  output_.put_value(operation.value);
  request.frame = output_.end();
  return request.ticket;
}

Ticket BinaryWriter::write_remove(const Operation& operation) {
  reserve(max_head);
  Pending& request = queue_.add(Question::remove, true);
  request.opcode = Opcode::remove;
  encode(RemoveRequest{request.opcode, request.opaque, cas_of(operation), operation.key}, output_);
  request.frame = output_.end();
  return request.ticket;
}

Ticket BinaryWriter::write_arithmetic(const Operation& operation, std::uint32_t expiry) {
  reserve(max_head);
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
  request.frame = output_.end();
  return request.ticket;
}

Ticket BinaryWriter::write_stats(const Operation& operation) {
  reserve(max_head);
  Pending& request = queue_.add(Question::stats, true);
  request.opcode = Opcode::stat;
  encode(StatRequest{request.opaque, operation.key}, output_);
  request.frame = output_.end();
  return request.ticket;
}

}  // namespace sheaf::protocol::memcached
