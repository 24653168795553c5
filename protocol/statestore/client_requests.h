#pragma once

// The publishes of one connection that are not over: each may wait for its reply, for its PUBACK,
// or for both. Found by ticket, by packet identifier and by all 16 bytes of correlation data.
// No allocation once it has grown to the number of requests that are in flight together.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "protocol/output_queue.h"
#include "protocol/session.h"

namespace sheaf::protocol::statestore {

struct Correlation {
  static constexpr std::size_t size = 16;
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  std::string_view bytes() const noexcept {
    return {reinterpret_cast<const char*>(this), sizeof *this};
  }
  friend bool operator==(const Correlation&, const Correlation&) = default;
};
static_assert(sizeof(Correlation) == Correlation::size);

// What was asked, so that the reply is read as the answer to it.
enum class Question : std::uint8_t { get, set, del, vdel, probe, clock, watch, unwatch };

struct PendingRequest {
  Correlation correlation;
  OutputQueue::FrameId frame = 0;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  Question question = Question::get;
  bool waiting = false;  // its caller is owed an event
  bool unacked = false;  // its packet identifier is taken
  Sent sent = Sent::no;  // set when the session ends

  Ticket ticket() const noexcept { return {slot, generation}; }
  // Section 2.2.1: not zero, not of another unacknowledged publish.
  std::uint16_t packet_id() const noexcept { return static_cast<std::uint16_t>(slot + 1); }
};

class RequestTable {
 public:
  // `capacity` <= 65,534, so that one packet identifier remains for SUBSCRIBE.
  explicit RequestTable(std::uint32_t capacity);

  // A new request that is `waiting` and `unacked`; there must be room. Changes nothing when it
  // throws std::bad_alloc.
  PendingRequest& add(const Correlation& correlation, Question question);

  PendingRequest* find(Ticket ticket) noexcept;            // waiting
  PendingRequest* find(std::string_view token) noexcept;   // waiting
  PendingRequest* find_packet(std::uint16_t id) noexcept;  // unacked
  // The next one that is waiting, from `slot` on; for the end of a session.
  PendingRequest* next_waiting(std::uint32_t slot) noexcept;

  // Each frees the slot if the other has happened too.
  void answered(PendingRequest& request) noexcept;
  void acknowledged(PendingRequest& request) noexcept;

  std::size_t room() const noexcept { return capacity_ - used_; }
  std::size_t waiting() const noexcept { return waiting_; }
  std::size_t unacked() const noexcept { return unacked_; }

 private:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

  std::size_t home(const Correlation& correlation) const noexcept {
    return static_cast<std::size_t>(correlation.high) & mask_;  // random already
  }
  void index(const PendingRequest& request) noexcept;
  void unindex(const PendingRequest& request) noexcept;
  void release(PendingRequest& request) noexcept;

  std::uint32_t capacity_;
  std::size_t used_ = 0;
  std::size_t waiting_ = 0;
  std::size_t unacked_ = 0;
  std::vector<PendingRequest> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t mask_;
  std::vector<std::uint32_t> index_;  // slots of waiting requests; open addressing, linear probing
};

}  // namespace sheaf::protocol::statestore
