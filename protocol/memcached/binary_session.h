#pragma once

// BinarySession: the client's end of one connection in memcached's binary protocol. See session.h
// for what all sessions of memcached do.
//
// greeting: VERSION; then, with credentials, SASL PLAIN (the password goes only to a server that
// has answered in binary); without them a NO-OP, which a server that requires a log-in refuses.
//
// get_many is sent as quiet gets, each with its own opaque, followed by a NO-OP: hits are answered,
// and only the NO-OP's reply shows that all others are misses.
//
// A server that speaks only text does not answer a packet: it waits for the end of a line. With
// only_version a line end follows VERSION, so that every server answers at once; dialect() then
// says what the server speaks.
//
// Errors after which the server closes end the connection at once: invalid arguments, a refused
// log-in, an unknown opcode. Only the meta protocol has leases; the stub that holds one reads as an
// empty value here, and counts as present.
//
// Thread rule: one thread at a time; nothing here blocks, calls back or reads a clock.
// Pure: no socket, clock, entropy, thread or callback.

#include <expected>
#include <string_view>
#include <utility>

#include "protocol/memcached/binary_writer.h"
#include "protocol/memcached/replies.h"
#include "protocol/memcached/session.h"

namespace sheaf::protocol::memcached {

class BinarySession final : public MemcachedSession {
 public:
  explicit BinarySession(SessionOptions options)
      : MemcachedSession(std::move(options)),
        writer_(this->options(), server(), requests(), life().output()) {}

 private:
  void greet() override;
  std::expected<Ticket, LocalError> write_request(const Operation& operation, Now now) override {
    return writer_.write(operation, now);
  }
  OutputQueue::FrameId write_no_op() override { return writer_.write_no_op(); }
  Step next_reply(Event& event) override;

  Step on_header_error(PacketError error);
  Step on_packet(Pending& request, const Header& header, std::string_view packet, Event& event);

  // ---- greeting
  Step on_text_greeting();
  Step on_greeting(Pending& request, const Header& header, std::string_view text, Event& event);
  Step on_version(const Header& header, std::string_view text, Event& event);

  // ---- replies
  Step on_failure(Pending& request, StatusCode status, std::string_view text, Event& event);
  Step on_success(Pending& request, std::string_view packet, Event& event);
  Step on_item(Pending& request, const Header& header, std::string_view packet, Event& event);
  Step on_oversized(Pending& request, const Header& header, Event& event);

  Step broken(std::string_view what) { return life().broken(what); }
  Step broken(PacketError error) { return life().broken(to_string(error)); }

  BinaryWriter writer_;
};

}  // namespace sheaf::protocol::memcached
