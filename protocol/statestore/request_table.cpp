// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/request_table.h"

#include <bit>

#include "base/checks.h"

namespace sheaf::protocol::statestore {

RequestTable::RequestTable(std::uint32_t capacity)
    : capacity_(capacity),
      mask_(std::bit_ceil(2 * std::size_t{capacity}) - 1),
      index_(mask_ + 1, no_slot) {
  SHEAF_CHECK(capacity >= 1 && capacity <= 65'534);
}

PendingRequest& RequestTable::add(const Correlation& correlation, Question question) {
  SHEAF_CHECK(used_ < capacity_);
  if (free_.empty()) {
    if (slots_.size() == slots_.capacity()) slots_.reserve(2 * slots_.capacity() + 8);
    free_.reserve(slots_.capacity());  // so that release() never allocates
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back().ticket.slot = free_.back();
  }
  PendingRequest& request = slots_[free_.back()];
  free_.pop_back();
  ++request.ticket.generation;
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
  return request.waiting && request.ticket == ticket ? &request : nullptr;
}

PendingRequest* RequestTable::find(std::string_view token) noexcept {
  if (token.size() != Correlation::size) return nullptr;
  Correlation correlation;
  std::memcpy(&correlation, token.data(), sizeof correlation);
  for (std::size_t at = home(correlation); index_[at] != no_slot; at = (at + 1) & mask_) {
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

OpenRequest* RequestTable::next(std::size_t& position) noexcept {
  for (; position < slots_.size(); ++position) {
    if (slots_[position].waiting) return &slots_[position];
  }
  return nullptr;
}

void RequestTable::abandon(OpenRequest& request) noexcept {
  answered(static_cast<PendingRequest&>(request));
}

void RequestTable::drop(OpenRequest& request) noexcept {
  answered(static_cast<PendingRequest&>(request));
  acknowledged(static_cast<PendingRequest&>(request));  // the server never saw its identifier
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
  free_.push_back(request.ticket.slot);
}

void RequestTable::index(const PendingRequest& request) noexcept {
  std::size_t at = home(request.correlation);
  while (index_[at] != no_slot) at = (at + 1) & mask_;
  index_[at] = request.ticket.slot;
}

// Moves later entries of the run back into the hole, so that no search ends at it too early.
void RequestTable::unindex(const PendingRequest& request) noexcept {
  std::size_t hole = home(request.correlation);
  while (index_[hole] != request.ticket.slot) hole = (hole + 1) & mask_;
  for (std::size_t at = (hole + 1) & mask_; index_[at] != no_slot; at = (at + 1) & mask_) {
    const std::size_t from_home = (at - home(slots_[index_[at]].correlation)) & mask_;
    if (from_home < ((at - hole) & mask_)) continue;
    index_[hole] = index_[at];
    hole = at;
  }
  index_[hole] = no_slot;
}

}  // namespace sheaf::protocol::statestore
