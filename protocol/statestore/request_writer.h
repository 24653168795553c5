#pragma once

// RequestWriter: writes an operation as a PUBLISH, with fresh correlation data, the timestamp of
// the node's clock and the fencing token.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "protocol/operation.h"
#include "protocol/output_queue.h"
#include "protocol/statestore/clock.h"
#include "protocol/statestore/handshake.h"
#include "protocol/statestore/request_table.h"
#include "protocol/statestore/session_options.h"

namespace sheaf::protocol::statestore {

class RequestWriter {
 public:
  // All but `options` outlive this object.
  RequestWriter(const StoreSessionOptions& options, const Agreement& agreement, HybridClock& clock,
                RequestTable& requests, OutputQueue& output);

  // Call once, when the agreement is complete.
  void start();
  // Queues the request, or refuses it. If it throws std::bad_alloc, nothing has changed.
  std::expected<Ticket, LocalError> write(const Operation& operation, Now now);

 private:
  // An operation that has been checked and encoded, except for the parts set when it is sent.
  struct Draft {
    Question question = Question::get;
    std::string_view value;  // goes between head and tail of `payload_`
    std::size_t head_size = 0;
    std::string_view fence;
    bool persist = false;
    std::uint32_t expiry_seconds = 0;
    TimestampText timestamp;
    std::size_t properties_size = 0;
    std::size_t payload_size = 0;
  };

  std::optional<LocalError> make_draft(const Operation& operation, Draft& draft, Now now);
  std::optional<LocalError> encode_payload(const Operation& operation, Draft& draft);
  std::optional<LocalError> check_key_and_value(const Operation& operation) const;
  std::optional<LocalError> encode_set(const Operation& operation, Draft& draft);
  std::optional<LocalError> encode_watch(const Operation& operation, Draft& draft);
  void encode_remove(const Operation& operation, Draft& draft);
  std::optional<LocalError> stamp(const Operation& operation, Draft& draft, Now now);
  PendingRequest& add(const Draft& draft);
  void queue(const Draft& draft, PendingRequest& request);

  const Agreement& agreement_;
  HybridClock& clock_;
  RequestTable& requests_;
  OutputQueue& output_;
  Random random_;
  std::uint64_t value_limit_;
  std::size_t longest_key_ = 0;
  std::string clock_key_;
  std::string fixed_properties_;  // that every request has
  std::string payload_;           // head and tail of the request being written
};

}  // namespace sheaf::protocol::statestore
