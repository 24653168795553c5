// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/client_requests.h"

#include <bit>

#include "base/checks.h"

namespace sheaf::protocol::statestore {

RequestTable::RequestTable(std::uint32_t capacity)
    : capacity_(capacity),
      mask_(std::bit_ceil(2 * std::size_t{capacity}) - 1),
      index_(mask_ + 1, kNone) {
  SHEAF_CHECK(capacity >= 1 && capacity <= 65'534);
}

PendingRequest& RequestTable::add(const Correlation& correlation, Question question) {
  SHEAF_CHECK(used_ < capacity_);
  if (free_.empty()) {
    if (slots_.size() == slots_.capacity()) slots_.reserve(2 * slots_.capacity() + 8);
    free_.reserve(slots_.capacity());  // so that release() never allocates
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back().slot = free_.back();
  }
  PendingRequest& request = slots_[free_.back()];
  free_.pop_back();
  ++request.generation;
  request.correlation = correlation;
  request.question = question;
  request.waiting = request.unacked = true;
  request.sent = Sent::no;
  ++used_;
  ++waiting_;
  ++unacked_;
  index(request);
  return request;
}

PendingRequest* RequestTable::find(Ticket ticket) noexcept {
  if (ticket.slot >= slots_.size()) return nullptr;
  PendingRequest& request = slots_[ticket.slot];
  return request.waiting && request.generation == ticket.generation ? &request : nullptr;
}

PendingRequest* RequestTable::find(std::string_view token) noexcept {
  if (token.size() != Correlation::size) return nullptr;
  Correlation correlation;
  std::memcpy(&correlation, token.data(), sizeof correlation);
  for (std::size_t at = home(correlation); index_[at] != kNone; at = (at + 1) & mask_) {
    PendingRequest& request = slots_[index_[at]];
    if (request.correlation == correlation) return &request;
  }
  return nullptr;
}

PendingRequest* RequestTable::find_packet(std::uint16_t id) noexcept {
  if (id == 0 || id > slots_.size()) return nullptr;
  PendingRequest& request = slots_[id - 1U];
  return request.unacked ? &request : nullptr;
}

PendingRequest* RequestTable::next_waiting(std::uint32_t slot) noexcept {
  for (; slot < slots_.size(); ++slot) {
    if (slots_[slot].waiting) return &slots_[slot];
  }
  return nullptr;
}

void RequestTable::answered(PendingRequest& request) noexcept {
  SHEAF_CHECK(request.waiting);
  unindex(request);
  request.waiting = false;
  --waiting_;
  if (!request.unacked) release(request);
}

void RequestTable::acknowledged(PendingRequest& request) noexcept {
  SHEAF_CHECK(request.unacked);
  request.unacked = false;
  --unacked_;
  if (!request.waiting) release(request);
}

void RequestTable::release(PendingRequest& request) noexcept {
  --used_;
  free_.push_back(request.slot);
}

void RequestTable::index(const PendingRequest& request) noexcept {
  std::size_t at = home(request.correlation);
  while (index_[at] != kNone) at = (at + 1) & mask_;
  index_[at] = request.slot;
}

// Moves later entries of the run back into the hole, so that no search ends at it too early.
void RequestTable::unindex(const PendingRequest& request) noexcept {
  std::size_t hole = home(request.correlation);
  while (index_[hole] != request.slot) hole = (hole + 1) & mask_;
  for (std::size_t at = (hole + 1) & mask_; index_[at] != kNone; at = (at + 1) & mask_) {
    const std::size_t from_home = (at - home(slots_[index_[at]].correlation)) & mask_;
    if (from_home < ((at - hole) & mask_)) continue;
    index_[hole] = index_[at];
    hole = at;
  }
  index_[hole] = kNone;
}

}  // namespace sheaf::protocol::statestore
