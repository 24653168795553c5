#pragma once

// RequestTable: the requests of one connection that are not over. Each may wait for its reply, for
// the PUBACK of its PUBLISH, or for both. A request is found by its ticket, by its packet
// identifier and by all 16 bytes of its correlation data; nothing else pairs a reply with it.
//
// Nothing is allocated once the table has grown to the number of requests in flight.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "protocol/open_requests.h"

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

// What a request asked, so that its reply is read as an answer to that.
enum class Question : std::uint8_t {
  get,
  set,
  del,
  vdel,
  probe,
  clock,
  watch,
  unwatch,
  inspection
};

struct PendingRequest : OpenRequest {
  Correlation correlation;
  Question question = Question::get;
  bool waiting = false;  // its caller is owed an event
  bool unacked = false;  // its packet identifier is taken

  // Section 2.2.1: neither zero nor in use by another unacknowledged PUBLISH.
  std::uint16_t packet_id() const noexcept { return static_cast<std::uint16_t>(ticket.slot + 1); }
};

class RequestTable final : public OpenRequests {
 public:
  // `capacity` <= 65,534, so that one packet identifier remains for SUBSCRIBE.
  explicit RequestTable(std::uint32_t capacity);

  // Adds a request that is `waiting` and `unacked`; there must be room. If it throws
  // std::bad_alloc, nothing has changed.
  PendingRequest& add(const Correlation& correlation, Question question);

  PendingRequest* find(Ticket ticket) noexcept override;   // waiting
  PendingRequest* find(std::string_view token) noexcept;   // waiting
  PendingRequest* find_packet(std::uint16_t id) noexcept;  // unacked

  // Each frees the slot if the other has happened too.
  void answered(PendingRequest& request) noexcept;
  void acknowledged(PendingRequest& request) noexcept;

  std::size_t room() const noexcept { return capacity_ - used_; }
  std::size_t unacked() const noexcept { return unacked_; }

  std::size_t waiting() const noexcept override { return waiting_; }
  OpenRequest* next(std::size_t& position) noexcept override;
  void abandon(OpenRequest& request) noexcept override;
  void drop(OpenRequest& request) noexcept override;

 private:
  static constexpr std::uint32_t no_slot = static_cast<std::uint32_t>(-1);

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
