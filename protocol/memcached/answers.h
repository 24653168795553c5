#pragma once

// Answers: how a request to memcached ends. A parser says what a reply means; this decides whether
// it may come now, whether anybody waits for it, and makes the event.
//
// A server may refuse a value while it is still being written. Such a refusal is kept until the
// value is free.
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
  // Both outlive it.
  Answers(ConnectionLife& life, RequestQueue& queue) noexcept : life_(life), queue_(queue) {}

  // True if the reply may come now; else the connection has ended. With `early` the request may
  // still be leaving: a refusal, or a part of the reply.
  bool may_come(const Pending& request, bool early);

  Step answer(Pending& request, const Reply& reply, Event& event);
  // Of get_many: what there is to say of the key at `index`; the request goes on.
  Step item(Pending& request, std::uint32_t index, const Reply& reply, Event& event) const;
  Step refuse(Pending& request, Reason reason, std::string_view text, Event& event);
  // The same, and the connection ends after it: the server has closed or is lost.
  Step refuse_and_end(Pending& request, Reason reason, std::string_view text, Event& event);
  // True while a refusal is kept, and then whether it is the event now.
  bool keeps_refusal() const noexcept { return early_.has_value(); }
  bool early_refusal(Event& event);

  Step add_stat(const Pending& request, std::string_view name, std::string_view value);
  Step end_stats(Pending& request, Event& event);

  // The version of a reply, as text that lives until the next one is made.
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
  std::string stats_;  // of the request that is being answered
  bool stats_over_limit_ = false;
  std::string event_text_;  // what the last event has views of
  DecimalText version_text_;
};

}  // namespace sheaf::protocol::memcached
