#pragma once

// RequestQueue: the requests of one connection whose replies have not all come, in the order they
// were written. memcached answers in that order, and every request carries an opaque of its own, or
// a range of them: a reply must be for the oldest request that owes one, by both. A cancelled
// request stays until its reply has passed, so that its reply can be nobody else's.
//
// No allocation once it has grown to the number of requests that are in flight together.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/memcached/header.h"
#include "protocol/open_requests.h"

namespace sheaf::protocol::memcached {

// What was asked, so that the reply is read as the answer to it.
enum class Question : std::uint8_t {
  get,  // lease and get-and-touch, too
  many,
  touch,  // without the value
  store,
  append,
  remove,
  arithmetic,
  version,
  stats,
  probe,
  login  // of the session itself, without a ticket
};

// `acts_early` is that of get_many, and of a request that was refused before it had left whole.
struct Pending : OpenRequest {
  enum class State : std::uint8_t {
    waiting,    // its caller is owed an event
    forgotten,  // cancelled, or nobody's: the reply is still to come
    over        // answered, or it never left
  };

  std::uint32_t sequence = 0;  // its place in the queue
  std::uint32_t opaque = 0;    // the first of its own
  std::uint32_t opaques = 1;
  State state = State::over;
  Question question = Question::get;
  Opcode opcode = Opcode::no_op;  // binary
  bool by_version = false;        // there was a condition on the version
  // many: keys before this one have been passed; stats in meta: 1 after the no-op is answered
  std::uint32_t at = 0;
  bool missed = false;                       // many, in meta: some of those had no item
  std::span<const std::string_view> keys{};  // many; there only while it is waiting
};

class RequestQueue final : public OpenRequests {
 public:
  explicit RequestQueue(std::uint32_t first_opaque) noexcept : next_opaque_(first_opaque) {}

  // Room for `count` more; the only member that may throw std::bad_alloc.
  void reserve(std::size_t count);
  // A new request at the end, with `opaques` of its own; there must be room. With a ticket it is
  // waiting, else forgotten.
  Pending& add(Question question, bool with_ticket, std::uint32_t opaques = 1) noexcept;

  Pending* find(Ticket ticket) noexcept override;  // waiting
  Pending* find(std::uint32_t sequence) noexcept;  // not over

  // The oldest request that owes a reply, null if none does.
  Pending* due() noexcept;
  // The next one after it that owes a reply, null if none does.
  const Pending* after(const Pending& request) const noexcept;

  // The caller has its event, or wants none any more. The slot is free.
  void forget(Pending& request) noexcept;
  // No reply will come (any more).
  void finish(Pending& request) noexcept;

  // Requests in the queue, with those that are over but stand after one that is not.
  std::size_t size() const noexcept { return next_ - first_; }
  // True if no reply is owed to anybody who ever had a ticket: what is out is the session's own.
  bool only_own() const noexcept;

  std::size_t waiting() const noexcept override { return waiting_; }
  OpenRequest* next(std::size_t& position) noexcept override;
  void abandon(OpenRequest& request) noexcept override { forget(static_cast<Pending&>(request)); }
  void drop(OpenRequest& request) noexcept override { finish(static_cast<Pending&>(request)); }

 private:
  struct Slot {
    std::uint32_t generation = 0;
    std::uint32_t sequence = 0;
    bool used = false;
  };

  Pending& at(std::uint32_t sequence) noexcept { return ring_[sequence & mask_]; }
  const Pending& at(std::uint32_t sequence) const noexcept { return ring_[sequence & mask_]; }
  void grow(std::size_t capacity);

  std::vector<Pending> ring_;  // its size is a power of two
  std::uint32_t mask_ = 0;
  std::uint32_t first_ = 0;  // sequence of the oldest
  std::uint32_t next_ = 0;   // of the next new one
  std::uint32_t due_ = 0;    // nothing before it owes a reply
  std::uint32_t next_opaque_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t waiting_ = 0;
};

}  // namespace sheaf::protocol::memcached
