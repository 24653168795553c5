// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/request_queue.h"

#include <algorithm>
#include <bit>

#include "base/checks.h"

namespace sheaf::protocol::memcached {

void RequestQueue::reserve(std::size_t count) {
  if (size() + count > ring_.size()) grow(std::bit_ceil(size() + count));
  if (slots_.capacity() < waiting_ + count) {
    slots_.reserve(std::max(waiting_ + count, 2 * slots_.capacity()));
  }
  free_.reserve(slots_.capacity());  // so that forget() never allocates
}

void RequestQueue::grow(std::size_t capacity) {
  std::vector<Pending> larger(std::max<std::size_t>(capacity, 16));
  const auto mask = static_cast<std::uint32_t>(larger.size() - 1);
  for (std::uint32_t i = first_; i != next_; ++i) larger[i & mask] = at(i);
  ring_ = std::move(larger);
  mask_ = mask;
}

Pending& RequestQueue::add(Question question, bool with_ticket, std::uint32_t opaques) noexcept {
  SHEAF_CHECK(size() < ring_.size());
  Pending& request = at(next_);
  request = {};
  request.sequence = next_++;
  request.opaque = next_opaque_;
  request.opaques = opaques;
  next_opaque_ += opaques;
  request.question = question;
  request.state = Pending::State::forgotten;
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
  request.state = Pending::State::waiting;
  free_.pop_back();
  ++waiting_;
  return request;
}

Pending* RequestQueue::find(Ticket ticket) noexcept {
  if (ticket.slot >= slots_.size()) return nullptr;
  const Slot& slot = slots_[ticket.slot];
  return slot.used && slot.generation == ticket.generation ? &at(slot.sequence) : nullptr;
}

Pending* RequestQueue::find(std::uint32_t sequence) noexcept {
  if (sequence - first_ >= size()) return nullptr;
  Pending& request = at(sequence);
  return request.state == Pending::State::over ? nullptr : &request;
}

Pending* RequestQueue::due() noexcept {
  while (due_ != next_ && at(due_).state == Pending::State::over) ++due_;
  return due_ == next_ ? nullptr : &at(due_);
}

bool RequestQueue::only_own() const noexcept {
  if (waiting_ > 0) return false;
  for (std::uint32_t i = first_; i != next_; ++i) {
    const Pending& request = at(i);
    if (request.state != Pending::State::over && request.ticket.generation != 0) return false;
  }
  return true;
}

const Pending* RequestQueue::after(const Pending& request) const noexcept {
  for (std::uint32_t sequence = request.sequence + 1; sequence != next_; ++sequence) {
    if (at(sequence).state != Pending::State::over) return &at(sequence);
  }
  return nullptr;
}

OpenRequest* RequestQueue::next(std::size_t& position) noexcept {
  for (; position < size(); ++position) {
    Pending& request = at(first_ + static_cast<std::uint32_t>(position));
    if (request.state == Pending::State::waiting) return &request;
  }
  return nullptr;
}

void RequestQueue::forget(Pending& request) noexcept {
  if (request.state != Pending::State::waiting) return;
  request.state = Pending::State::forgotten;
  slots_[request.ticket.slot].used = false;
  free_.push_back(request.ticket.slot);
  --waiting_;
}

void RequestQueue::finish(Pending& request) noexcept {
  forget(request);
  request.state = Pending::State::over;
  if (due_ == request.sequence) ++due_;
  while (first_ != next_ && at(first_).state == Pending::State::over) {
    if (due_ == first_) ++due_;
    ++first_;
  }
}

}  // namespace sheaf::protocol::memcached
