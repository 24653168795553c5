// Pure: no socket, clock, entropy, thread or callback.

#include "socket/address_race.h"

#include <algorithm>

#include "base/checks.h"

namespace sheaf::socket {
namespace {

using namespace std::chrono_literals;
using Racer = AddressRace::Racer;

// RFC 8305 §5 and §8: the recommended pause and the shortest one that is allowed.
constexpr std::chrono::nanoseconds longest_pause = 250ms;
constexpr std::chrono::nanoseconds shortest_pause = 10ms;

std::chrono::nanoseconds pause_for(std::size_t addresses, std::chrono::nanoseconds time) {
  const auto shares = static_cast<std::int64_t>(std::max<std::size_t>(4, addresses + 1));
  return std::clamp(time / shares, shortest_pause, longest_pause);
}

// Appends the addresses of which `useless` holds; their families take turns.
void append_in_turns(std::span<const Racer> addresses, bool useless,
                     std::vector<std::size_t>& order) {
  std::vector<std::vector<std::size_t>> families;  // in the order of their first addresses
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].useless != useless) continue;
    const auto same = std::ranges::find(families, addresses[i].family, [&](const auto& family) {
      return addresses[family.front()].family;
    });
    if (same != families.end()) {
      same->push_back(i);
    } else {
      families.push_back({i});
    }
  }
  for (std::size_t turn = 0; !families.empty(); ++turn) {
    std::erase_if(families, [&](const auto& family) { return family.size() <= turn; });
    for (const auto& family : families) order.push_back(family[turn]);
  }
}

}  // namespace

AddressRace::AddressRace(std::span<const Racer> addresses, Deadline now, Deadline deadline)
    : pause_(pause_for(addresses.size(), deadline - now)) {
  order_.reserve(addresses.size());
  append_in_turns(addresses, false, order_);
  append_in_turns(addresses, true, order_);
}

std::optional<std::size_t> AddressRace::next(Deadline now) noexcept {
  if (begun_ == order_.size() || now < next_at_) return std::nullopt;
  next_at_ = now + pause_;
  return order_[begun_++];
}

void AddressRace::on_failed() noexcept {
  SHEAF_CHECK(failed_ < begun_);
  ++failed_;
  next_at_ = Deadline{0};
}

}  // namespace sheaf::socket
