// Pure: no socket, clock, entropy, thread or callback.

#include "client/watch/watch_buffer.h"

#include <algorithm>
#include <utility>

namespace sheaf::client::watch {

using Kind = WatchEvent::Kind;

// While keys wait in slots, every new event goes to a slot: a key's events must not overtake each
// other, and no key may starve.
void WatchBuffer::push(WatchEvent event, Time now) {
  if (waiting_.empty() && events_.size() < limit_) {
    events_.push_back(std::move(event));
    return;
  }
  const auto [at, fresh] = slots_.try_emplace(event.key);
  if (fresh) waiting_.push_back(event.key);
  fold(at->second, std::move(event), now);
}

void WatchBuffer::lose(Slot& slot, const std::string& key, Time since) {
  slot.lost = true;
  if (!slot.gap) {
    slot.gap = WatchEvent{.kind = Kind::gap, .key = key, .from = since};
  }
  slot.gap->from = std::min(slot.gap->from, since);
}

void WatchBuffer::fold(Slot& slot, WatchEvent event, Time now) {
  switch (event.kind) {
    case Kind::gap:
      if (slot.gap) {
        slot.gap->from = std::min(slot.gap->from, event.from);
        slot.gap->until = std::max(slot.gap->until, event.until);
      } else {
        slot.gap = std::move(event);
      }
      return;
    case Kind::failed:
      slot.failed = std::move(event);
      return;
    case Kind::changed:
      if (slot.state) return lose(slot, event.key, now);  // a newer state follows, if there is one
      break;
    case Kind::current:
    case Kind::set:
    case Kind::deleted:
      slot.failed.reset();
      if (slot.begins()) {  // the watch begins with a newer state, so no event was left out
        event.kind = Kind::current;
        slot.gap.reset();
        slot.lost = false;
      } else if (slot.state) {
        lose(slot, event.key, slot.arrived);
      }
      break;
  }
  slot.state = std::move(event);
  slot.arrived = now;
}

void WatchBuffer::unfold(Time now) {
  const auto at = slots_.find(waiting_.front());
  Slot slot = std::move(at->second);
  slots_.erase(at);
  waiting_.pop_front();
  const bool begins = slot.begins();
  if (begins) events_.push_back(std::move(*slot.state));
  if (slot.gap) {
    if (slot.lost) slot.gap->until = std::max(slot.gap->from, now);
    events_.push_back(std::move(*slot.gap));
  }
  if (slot.state && !begins) events_.push_back(std::move(*slot.state));
  if (slot.failed) events_.push_back(std::move(*slot.failed));
}

std::optional<WatchEvent> WatchBuffer::pop(Time now) {
  if (events_.empty() && !waiting_.empty()) unfold(now);
  if (events_.empty()) return std::nullopt;
  WatchEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

std::size_t WatchBuffer::size() const noexcept {
  std::size_t size = events_.size();
  for (const auto& [key, slot] : slots_) {
    size += (slot.state ? 1U : 0U) + (slot.gap ? 1U : 0U) + (slot.failed ? 1U : 0U);
  }
  return size;
}

}  // namespace sheaf::client::watch
