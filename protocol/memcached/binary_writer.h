#pragma once

// BinaryWriter: writes an operation as a packet of memcached's binary protocol.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/memcached/request_queue.h"
#include "protocol/memcached/requests.h"
#include "protocol/memcached/server_facts.h"
#include "protocol/memcached/session_options.h"

namespace sheaf::protocol::memcached {

// Why user and password cannot be sent; nothing if they can.
std::optional<std::string> bad_binary_login(const Login* login);

class BinaryWriter {
 public:
  // All outlive this object.
  BinaryWriter(const SessionOptions& options, const ServerFacts& server, RequestQueue& queue,
               OutputQueue& output) noexcept
      : options_(options), server_(server), queue_(queue), output_(output) {}

  // ---- requests of the session itself, without a ticket
  void write_version();
  void write_login(const Login& login);
  OutputQueue::FrameId write_no_op();

  // Queues the request, or refuses it. If it throws std::bad_alloc, nothing has changed.
  std::expected<Ticket, LocalError> write(const Operation& operation, Now now);

 private:
  Pending& write_bare(Opcode opcode, Question question, bool with_ticket);
  Ticket write_get(const Operation& operation, std::uint32_t expiry);
  Ticket write_touch(const Operation& operation, std::uint32_t expiry);
  Ticket write_set(const Operation& operation, std::uint32_t expiry);
  Ticket write_append(const Operation& operation);
  Ticket write_remove(const Operation& operation);
  Ticket write_arithmetic(const Operation& operation, std::uint32_t expiry);
  Ticket write_stats(const Operation& operation);
  std::expected<Ticket, LocalError> write_many(std::span<const std::string_view> keys);

  // Makes room for one request of `bytes` around a value of `value` bytes.
  void reserve(std::size_t bytes, std::size_t value = 0);

  const SessionOptions& options_;
  const ServerFacts& server_;
  RequestQueue& queue_;
  OutputQueue& output_;
};

}  // namespace sheaf::protocol::memcached
