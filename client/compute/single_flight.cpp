#include "client/compute/single_flight.h"

#include <memory>
#include <utility>

namespace sheaf::client::compute {

bool SingleFlight::join(std::string_view key, Member& member) {
  const auto found = flights_.find(key);
  if (found == flights_.end()) {
    flights_.try_emplace(std::string(key));
    return true;
  }
  Flight& flight = found->second;
  flight.waiting.push_back(member);
  if (member.computes_here()) ++flight.here;
  return false;
}

void SingleFlight::remove(Flight& flight, Member& member) noexcept {
  if (!flight.waiting.contains(member)) return;
  flight.waiting.remove(member);
  if (member.computes_here()) --flight.here;
}

SingleFlight::Member* SingleFlight::next_in_line(Flight& flight) noexcept {
  Member* const next = flight.waiting.front();
  if (next != nullptr) remove(flight, *next);
  return next;
}

void SingleFlight::leave(std::string_view key, Member& member) noexcept {
  const auto found = flights_.find(key);
  if (found != flights_.end()) remove(found->second, member);
}

void SingleFlight::end(std::string_view key, const Value* value, Now now) {
  const auto found = flights_.find(key);
  if (found == flights_.end()) return;
  Flight& flight = found->second;
  flight.offers = nullptr;
  if (value != nullptr) {
    auto ended = flights_.extract(found);
    return tell_all(ended.mapped(), *value, now);
  }
  Member* const next = next_in_line(flight);
  if (next == nullptr) {
    flights_.erase(found);
  } else if (controls_.pass_on) {
    next->on_lead(now);
  }
}

void SingleFlight::tell_all(Flight& flight, const Value& value, Now now) {
  if (flight.waiting.empty()) return;
  const auto shared = std::make_shared<const Value>(value);
  if (!controls_.tell_all) next_in_line(flight);
  while (Member* const member = next_in_line(flight)) member->on_value(shared, now);
}

// Members are searched only if one of them computes where it waits, and that one stops waiting.
bool SingleFlight::offer(std::string_view key, Member& leader, Now now) {
  if (!controls_.lend) return false;
  Flight& flight = flights_.find(key)->second;
  flight.offers = &leader;
  if (flight.here == 0) return false;
  Member* member = flight.waiting.front();
  while (!member->computes_here()) member = flight.waiting.next(*member);
  auto right = take(key, *member);
  if (!right) return false;
  member->on_right(std::move(*right), now);
  return true;
}

std::optional<Right> SingleFlight::take(std::string_view key, Member& member) {
  const auto found = flights_.find(key);
  if (found == flights_.end()) return std::nullopt;
  Flight& flight = found->second;
  Member* const leader = std::exchange(flight.offers, nullptr);
  if (leader == nullptr) return std::nullopt;
  auto right = leader->give();
  if (!right) return std::nullopt;
  remove(flight, member);
  flight.waiting.push_back(*leader);
  return right;
}

}  // namespace sheaf::client::compute
