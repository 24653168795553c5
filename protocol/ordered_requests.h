#pragma once

// OrderedRequests: the requests of one connection whose replies have not all come, in the order
// they were written, for protocols that answer in that order. A reply is for the oldest request
// that owes one. A cancelled request stays until its reply has passed, so that its reply can be
// nobody else's.
//
// | state     | input                               | next      |
// |-----------|-------------------------------------|-----------|
// |           | add() with a ticket                 | waiting   |
// |           | add() without one                   | forgotten |
// | waiting   | forget(): answered, or given up     | forgotten |
// | waiting, forgotten | finish(): no reply will come | over    |
//
// What is over leaves the queue once everything before it is over, too.
//
// `Entry` is what the protocol keeps of a request; it derives from OrderedRequest. A queue of a
// protocol may derive from this one.
//
// No allocation once it has grown to the number of requests that are in flight together.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "protocol/open_requests.h"

namespace sheaf::protocol {

struct OrderedRequest : OpenRequest {
  enum class State : std::uint8_t {
    waiting,    // its caller is owed an event
    forgotten,  // cancelled, or nobody's: the reply is still to come
    over        // answered, or it never left
  };

  std::uint32_t sequence = 0;  // its place in the queue
  State state = State::over;

  // False for what the session asked by itself.
  bool has_caller() const noexcept { return ticket.generation != 0; }
};

template <class Entry = OrderedRequest>
class OrderedRequests : public OpenRequests {
 public:
  using State = OrderedRequest::State;

  // Room for `count` more; the only member that may throw std::bad_alloc.
  void reserve(std::size_t count);
  // A new request at the end; there must be room. With a ticket it is waiting, else forgotten.
  Entry& add(bool with_ticket) noexcept;

  Entry* find(Ticket ticket) noexcept final;     // waiting
  Entry* find(std::uint32_t sequence) noexcept;  // not over

  // The oldest request that owes a reply, null if none does.
  Entry* due() noexcept;
  // The next one after it that owes a reply, null if none does.
  const Entry* after(const Entry& request) const noexcept;

  // The caller has its event, or wants none any more. Its ticket may be used again.
  void forget(Entry& request) noexcept;
  // No reply will come (any more).
  void finish(Entry& request) noexcept;

  // Requests in the queue, with those that are over but stand after one that is not.
  std::size_t size() const noexcept { return next_ - first_; }
  // True if no reply is owed to anybody who ever had a ticket: what is out is the session's own.
  bool only_own() const noexcept;

  std::size_t waiting() const noexcept final { return waiting_; }
  OpenRequest* next(std::size_t& position) noexcept final;
  void abandon(OpenRequest& request) noexcept final { forget(static_cast<Entry&>(request)); }
  void drop(OpenRequest& request) noexcept final { finish(static_cast<Entry&>(request)); }

 private:
  struct Slot {
    std::uint32_t generation = 0;
    std::uint32_t sequence = 0;
    bool used = false;
  };

  Entry& at(std::uint32_t sequence) noexcept { return ring_[sequence & mask_]; }
  const Entry& at(std::uint32_t sequence) const noexcept { return ring_[sequence & mask_]; }
  void grow(std::size_t capacity);

  std::vector<Entry> ring_;  // its size is a power of two
  std::uint32_t mask_ = 0;
  std::uint32_t first_ = 0;  // sequence of the oldest
  std::uint32_t next_ = 0;   // of the next new one
  std::uint32_t due_ = 0;    // nothing before it owes a reply
  std::vector<Slot> slots_;  // of tickets
  std::vector<std::uint32_t> free_;
  std::size_t waiting_ = 0;
};

template <class Entry>
void OrderedRequests<Entry>::reserve(std::size_t count) {
  if (size() + count > ring_.size()) grow(std::bit_ceil(size() + count));
  if (slots_.capacity() < waiting_ + count) {
    slots_.reserve(std::max(waiting_ + count, 2 * slots_.capacity()));
  }
  free_.reserve(slots_.capacity());  // so that forget() never allocates
}

template <class Entry>
void OrderedRequests<Entry>::grow(std::size_t capacity) {
  std::vector<Entry> larger(std::max<std::size_t>(capacity, 16));
  const auto mask = static_cast<std::uint32_t>(larger.size() - 1);
  for (std::uint32_t i = first_; i != next_; ++i) larger[i & mask] = at(i);
  ring_ = std::move(larger);
  mask_ = mask;
}

template <class Entry>
Entry& OrderedRequests<Entry>::add(bool with_ticket) noexcept {
  SHEAF_CHECK(size() < ring_.size());
  Entry& request = at(next_);
  request = {};
  request.sequence = next_++;
  request.state = State::forgotten;
  if (!with_ticket) return request;
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  Slot& slot = slots_[free_.back()];
  ++slot.generation;
  slot.sequence = request.sequence;
  slot.used = true;
  request.ticket = {free_.back(), slot.generation};
  request.state = State::waiting;
  free_.pop_back();
  ++waiting_;
  return request;
}

template <class Entry>
Entry* OrderedRequests<Entry>::find(Ticket ticket) noexcept {
  if (ticket.slot >= slots_.size()) return nullptr;
  const Slot& slot = slots_[ticket.slot];
  return slot.used && slot.generation == ticket.generation ? &at(slot.sequence) : nullptr;
}

template <class Entry>
Entry* OrderedRequests<Entry>::find(std::uint32_t sequence) noexcept {
  if (sequence - first_ >= size()) return nullptr;
  Entry& request = at(sequence);
  return request.state == State::over ? nullptr : &request;
}

template <class Entry>
Entry* OrderedRequests<Entry>::due() noexcept {
  while (due_ != next_ && at(due_).state == State::over) ++due_;
  return due_ == next_ ? nullptr : &at(due_);
}

template <class Entry>
const Entry* OrderedRequests<Entry>::after(const Entry& request) const noexcept {
  for (std::uint32_t sequence = request.sequence + 1; sequence != next_; ++sequence) {
    if (at(sequence).state != State::over) return &at(sequence);
  }
  return nullptr;
}

template <class Entry>
bool OrderedRequests<Entry>::only_own() const noexcept {
  if (waiting_ > 0) return false;
  for (std::uint32_t i = first_; i != next_; ++i) {
    if (at(i).state != State::over && at(i).has_caller()) return false;
  }
  return true;
}

template <class Entry>
OpenRequest* OrderedRequests<Entry>::next(std::size_t& position) noexcept {
  for (; position < size(); ++position) {
    Entry& request = at(first_ + static_cast<std::uint32_t>(position));
    if (request.state == State::waiting) return &request;
  }
  return nullptr;
}

template <class Entry>
void OrderedRequests<Entry>::forget(Entry& request) noexcept {
  if (request.state != State::waiting) return;
  request.state = State::forgotten;
  slots_[request.ticket.slot].used = false;
  free_.push_back(request.ticket.slot);
  --waiting_;
}

template <class Entry>
void OrderedRequests<Entry>::finish(Entry& request) noexcept {
  forget(request);
  request.state = State::over;
  if (due_ == request.sequence) ++due_;
  while (first_ != next_ && at(first_).state == State::over) {
    if (due_ == first_) ++due_;
    ++first_;
  }
}

}  // namespace sheaf::protocol
