#pragma once

// OrderedRequests: the requests of one connection whose replies have not all come, in the order
// they were written, for protocols that answer in that order. A reply belongs to the oldest request
// that owes one. A cancelled request stays until its reply has passed, so that no other request can
// get that reply.
//
// | state     | input                               | next      |
// |-----------|-------------------------------------|-----------|
// |           | add() with a ticket                 | waiting   |
// |           | add() without one                   | forgotten |
// | waiting   | forget(): answered, or given up     | forgotten |
// | waiting, forgotten | finish(): no reply will come | over    |
//
// A request that is over leaves the queue once every request before it is over, too.
//
// A request of several steps gets a new place for each: move_to_end(). One that cannot be written
// yet is set aside: it keeps its ticket, and owes no reply until take_back() gives it a place.
//
// `Entry` is what the protocol keeps of a request; it derives from OrderedRequest. A protocol may
// derive its own queue from this one.
//
// Nothing is allocated once the queue has grown to the number of requests in flight.
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
    forgotten,  // cancelled, or without a caller: the reply is still to come
    over        // answered, or it never left
  };

  std::uint32_t sequence = 0;  // its place in the queue
  State state = State::over;
  bool aside = false;  // it has no place

  // False for requests that the session made itself.
  bool has_caller() const noexcept { return ticket.generation != 0; }
};

template <class Entry = OrderedRequest>
class OrderedRequests : public OpenRequests {
 public:
  using State = OrderedRequest::State;

  // Room for `count` more; the only member that may throw std::bad_alloc.
  void reserve(std::size_t count);
  // Adds a request at the end; there must be room. With a ticket it is waiting, else forgotten.
  Entry& add(bool with_ticket) noexcept;

  Entry* find(Ticket ticket) noexcept final;     // waiting
  Entry* find(std::uint32_t sequence) noexcept;  // not over

  // Gives the request's next step a place after all others. With `owes` its old place stays, for a
  // reply that no caller wants any more. May throw std::bad_alloc; then nothing has changed.
  // Invalidates pointers to requests.
  Entry& move_to_end(Entry& request, bool owes = false);
  // The same, but it waits for take_back() first.
  void set_aside(Entry& request);
  // Gives a place to the request that was set aside longest; null if none is set aside. May throw
  // std::bad_alloc; then nothing has changed.
  Entry* take_back();
  bool any_aside() const noexcept { return aside() > 0; }

  // The oldest request that owes a reply; null if none does.
  Entry* due() noexcept;
  // The next request after it that owes a reply; null if none does.
  const Entry* after(const Entry& request) const noexcept;

  // The caller has its event, or no longer wants one. Its ticket may be used again.
  void forget(Entry& request) noexcept;
  // No reply will come (any more).
  void finish(Entry& request) noexcept;

  // Number of requests in the queue. Includes those that are over but follow one that is not, and
  // those set aside.
  std::size_t size() const noexcept { return places() + aside(); }
  // True if no reply is owed to a request that ever had a ticket, only to the session's own.
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
    bool aside = false;
  };

  std::size_t places() const noexcept { return next_ - first_; }
  std::size_t aside() const noexcept { return aside_.size() - next_aside_; }
  Entry* find_aside(Ticket ticket) noexcept;
  Entry& put_at_end(Entry&& request) noexcept;
  void end_place(Entry& request) noexcept;
  Entry& at(std::uint32_t sequence) noexcept { return ring_[sequence & mask_]; }
  const Entry& at(std::uint32_t sequence) const noexcept { return ring_[sequence & mask_]; }
  void grow(std::size_t capacity);

  std::vector<Entry> ring_;  // its size is a power of two
  std::uint32_t mask_ = 0;
  std::uint32_t first_ = 0;  // sequence of the oldest
  std::uint32_t next_ = 0;   // sequence of the next new one
  std::uint32_t due_ = 0;    // nothing before it owes a reply
  std::vector<Slot> slots_;  // by the slot of a ticket
  std::vector<std::uint32_t> free_;
  std::size_t waiting_ = 0;
  std::vector<Entry> aside_;    // waiting; forgotten ones leave when their turn comes
  std::size_t next_aside_ = 0;  // those before it have left
};

template <class Entry>
void OrderedRequests<Entry>::reserve(std::size_t count) {
  if (places() + count > ring_.size()) grow(std::bit_ceil(places() + count));
  if (slots_.capacity() < waiting_ + count) {
    slots_.reserve(std::max(waiting_ + count, 2 * slots_.capacity()));
  }
  free_.reserve(slots_.capacity());  // so that forget() never allocates
}

template <class Entry>
void OrderedRequests<Entry>::grow(std::size_t capacity) {
  std::vector<Entry> larger(std::max<std::size_t>(capacity, 4));
  const auto mask = static_cast<std::uint32_t>(larger.size() - 1);
  for (std::uint32_t i = first_; i != next_; ++i) larger[i & mask] = std::move(at(i));
  ring_ = std::move(larger);
  mask_ = mask;
}

template <class Entry>
Entry& OrderedRequests<Entry>::add(bool with_ticket) noexcept {
  Entry& request = put_at_end({});
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
  slot.aside = false;
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
  if (!slot.used || slot.generation != ticket.generation) return nullptr;
  return slot.aside ? find_aside(ticket) : &at(slot.sequence);
}

template <class Entry>
Entry* OrderedRequests<Entry>::find_aside(Ticket ticket) noexcept {
  const auto from = aside_.begin() + static_cast<std::ptrdiff_t>(next_aside_);
  const auto found = std::ranges::find(from, aside_.end(), ticket, &Entry::ticket);
  return found == aside_.end() ? nullptr : &*found;
}

template <class Entry>
Entry& OrderedRequests<Entry>::put_at_end(Entry&& request) noexcept {
  SHEAF_CHECK(places() < ring_.size());
  Entry& place = at(next_);
  place = std::move(request);
  place.sequence = next_++;
  return place;
}

template <class Entry>
Entry& OrderedRequests<Entry>::move_to_end(Entry& request, bool owes) {
  const std::uint32_t from = request.sequence;
  reserve(1);
  Entry& before = at(from);
  Entry& moved = put_at_end(std::move(before));
  if (moved.state == State::waiting) slots_[moved.ticket.slot].sequence = moved.sequence;
  before.state = State::forgotten;  // NOLINT(bugprone-use-after-move): the place stays
  before.ticket = {};
  if (!owes) end_place(before);
  return moved;
}

template <class Entry>
void OrderedRequests<Entry>::set_aside(Entry& request) {
  if (request.state != State::waiting) return finish(request);
  aside_.push_back(std::move(request));
  aside_.back().aside = true;
  slots_[aside_.back().ticket.slot].aside = true;
  end_place(request);
}

template <class Entry>
Entry* OrderedRequests<Entry>::take_back() {
  while (any_aside() && aside_[next_aside_].state != State::waiting) ++next_aside_;
  Entry* request = nullptr;
  if (any_aside()) {
    reserve(1);
    request = &put_at_end(std::move(aside_[next_aside_++]));
    request->aside = false;
    Slot& slot = slots_[request->ticket.slot];
    slot.sequence = request->sequence;
    slot.aside = false;
  }
  if (2 * next_aside_ >= aside_.size()) {  // so each request is moved once on average
    aside_.erase(aside_.begin(), aside_.begin() + static_cast<std::ptrdiff_t>(next_aside_));
    next_aside_ = 0;
  }
  return request;
}

template <class Entry>
Entry* OrderedRequests<Entry>::find(std::uint32_t sequence) noexcept {
  if (sequence - first_ >= next_ - first_) return nullptr;
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
    const bool has_place = position < places();
    Entry& request = has_place ? at(first_ + static_cast<std::uint32_t>(position))
                               : aside_[next_aside_ + position - places()];
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
  if (!request.aside) end_place(request);
}

template <class Entry>
void OrderedRequests<Entry>::end_place(Entry& request) noexcept {
  request.state = State::over;
  if (due_ == request.sequence) ++due_;
  while (first_ != next_ && at(first_).state == State::over) {
    if (due_ == first_) ++due_;
    ++first_;
  }
}

}  // namespace sheaf::protocol
