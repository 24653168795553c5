#pragma once

// The client's end of one connection in memcached's binary protocol. See session.h for what it does
// as every session of memcached.
//
// greeting: VERSION; then SASL PLAIN with credentials (the password goes only to a server that has
// answered in binary), without them a NO-OP, which a server that wants a log-in refuses.
//
// get_many goes as quiet gets, each with an opaque of its own, closed by a NO-OP: hits answer, and
// only the NO-OP's reply says that all others are misses.
//
// A server that speaks text only says nothing to a packet: it waits for the end of a line. With
// only_version a line end follows VERSION, so that every server answers at once; dialect() then
// tells what it is.
//
// What the server closes behind ends the connection at once: invalid arguments, a refused log-in,
// an opcode that it does not know. Leases are the meta protocol's; the stub that holds one reads as
// an empty value here, and counts as present.
//
// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/replies.h"
#include "protocol/memcached/requests.h"
#include "protocol/memcached/session.h"

namespace sheaf::protocol::memcached {

class BinarySession final : public MemcachedSession {
 public:
  explicit BinarySession(SessionOptions options) : MemcachedSession(std::move(options)) {}

 private:
  std::optional<std::string> bad_credentials() const override;
  void greet() override;
  std::expected<Ticket, LocalError> write(const Operation& operation, Now now) override;
  void write_probe() override;
  Step next_step(Event& event) override;

  // binary_submit.cpp: from an operation to its packet
  Pending& write_bare(Opcode opcode, Question question, bool with_ticket);
  Ticket write_get(const Operation& operation, std::uint32_t expiry);
  Ticket write_touch(const Operation& operation, std::uint32_t expiry);
  Ticket write_set(const Operation& operation, std::uint32_t expiry);
  Ticket write_append(const Operation& operation);
  Ticket write_remove(const Operation& operation);
  Ticket write_arithmetic(const Operation& operation, std::uint32_t expiry);
  Ticket write_stats(const Operation& operation);
  std::expected<Ticket, LocalError> write_many(std::span<const std::string_view> keys);

  // binary_session.cpp: from received bytes to replies
  Step on_header_error(PacketError error);
  Step on_text_greeting();
  Step on_packet(Pending& request, const Header& header, std::string_view packet, Event& event);
  Step on_greeting(Pending& request, const Header& header, std::string_view text, Event& event);
  Step on_version(const Header& header, std::string_view text, Event& event);
  Step on_failure(Pending& request, StatusCode status, std::string_view text, Event& event);
  Step on_success(Pending& request, std::string_view packet, Event& event);
  Step on_part(Pending& request, const Header& header, std::string_view packet, Event& event);
  Step on_oversized(Pending& request, const Header& header, Event& event);
  void write_login();
};

}  // namespace sheaf::protocol::memcached
