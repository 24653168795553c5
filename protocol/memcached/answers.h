#pragma once

// Answers: how a request to memcached ends. A parser says what a reply means; this class decides
// whether the reply may come now and whether a caller waits for it, and makes the event.
//
// A server may refuse a value that is still being written. Such a refusal is kept until the value
// is no longer needed.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "protocol/connection_life.h"
#include "protocol/memcached/request_queue.h"
#include "protocol/session.h"

namespace sheaf::protocol::memcached {

class Answers {
 public:
  // Both outlive this object.
  Answers(ConnectionLife& life, RequestQueue& queue) noexcept : life_(life), queue_(queue) {}

  // True if the reply may come now; else the connection has ended. With `early`, the request may
  // still be leaving: the reply is a refusal, or a part of a reply.
  bool may_come(const Pending& request, bool early);

  Step answer(Pending& request, const Reply& reply, Event& event);
  // For get_many: reports what is known of the key at `index`; the request continues.
  Step item(Pending& request, std::uint32_t index, const Reply& reply, Event& event) const;
  Step refuse(Pending& request, Reason reason, std::string_view text, Event& event);
  // The same, but afterwards the connection ends: the server has closed it, or is out of step.
  Step refuse_and_end(Pending& request, Reason reason, std::string_view text, Event& event);
  // True while a refusal is kept; early_refusal() then reports it as soon as it can.
  bool keeps_refusal() const noexcept { return early_.has_value(); }
  bool early_refusal(Event& event);

  Step add_stat(const Pending& request, std::string_view name, std::string_view value);
  Step end_stats(Pending& request, Event& event);

  // The version of a reply as text, which is valid until the next call.
  std::string_view version_text(std::uint64_t cas) noexcept;
  static Reply above_value_limit() noexcept;

 private:
  struct Early {
    std::uint32_t sequence = 0;
    Reason reason = Reason::other;
    std::string text;
  };

  ConnectionLife& life_;
  RequestQueue& queue_;
  std::optional<Early> early_;
  std::string stats_;  // for the request being answered
  bool stats_over_limit_ = false;
  std::string event_text_;  // texts of the last event that are not in the input
  DecimalText version_text_;
};

}  // namespace sheaf::protocol::memcached
