#pragma once

// RequestQueue: the requests of one connection in their order (ordered_requests.h). With memcached
// every request also has its own opaque, or a range of them: by both, order and opaque, a reply
// must belong to the oldest request that owes one.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <span>
#include <string_view>

#include "protocol/memcached/header.h"
#include "protocol/ordered_requests.h"

namespace sheaf::protocol::memcached {

// What was asked, so that the reply is read as the answer to it.
enum class Question : std::uint8_t {
  get,  // also lease and get-and-touch
  many,
  touch,  // without the value
  store,
  append,
  remove,
  arithmetic,
  version,
  stats,
  probe,
  login  // the session's own, without a ticket
};

// `acts_early` is true for get_many, and for a request that was refused while it was still leaving.
struct Pending : OrderedRequest {
  std::uint32_t opaque = 0;  // the first of its opaques
  std::uint32_t opaques = 1;
  Question question = Question::get;
  Opcode opcode = Opcode::no_op;  // binary
  bool by_version = false;        // there was a condition on the version
  bool ttl_left = false;          // get: the reply must say how long the value lives
  // many: keys before this one are done; stats in meta: 1 after the no-op is answered
  std::uint32_t at = 0;
  bool missed = false;                       // many, in meta: some of those keys had no item
  std::span<const std::string_view> keys{};  // many; valid only while it is waiting
};

class RequestQueue final : public OrderedRequests<Pending> {
 public:
  explicit RequestQueue(std::uint32_t first_opaque) noexcept : next_opaque_(first_opaque) {}

  // Adds a request at the end, with `opaques` opaques; there must be room. With a ticket it is
  // waiting, else forgotten.
  Pending& add(Question question, bool with_ticket, std::uint32_t opaques = 1) noexcept {
    Pending& request = OrderedRequests::add(with_ticket);
    request.opaque = next_opaque_;
    request.opaques = opaques;
    request.question = question;
    next_opaque_ += opaques;
    return request;
  }

 private:
  std::uint32_t next_opaque_;
};

}  // namespace sheaf::protocol::memcached
