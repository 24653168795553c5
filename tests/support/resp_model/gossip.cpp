// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/gossip.h"

#include <algorithm>

namespace sheaf::test::resp_model {

bool Gossip::put_off(NodeNumber from, NodeNumber to) {
  const auto pending = pending_.find({from, to});
  if (pending == pending_.end()) return false;
  pending->second.stale = true;
  return true;
}

void Gossip::send(NodeNumber from, NodeNumber to, const Announcement& said,
                  const GossipDelay& delay, Deadline now) {
  const auto spread = static_cast<std::uint64_t>((delay.most - delay.least).count());
  const auto more = std::chrono::nanoseconds(spread == 0 ? 0 : random_.below(spread));
  pending_[{from, to}] = {now + delay.least + more, said};
}

Deadline Gossip::next() const {
  Deadline first = never;
  for (const auto& [way, message] : pending_) first = std::min(first, message.due);
  return first;
}

std::optional<Gossip::Message> Gossip::take(Deadline now) {
  auto first = pending_.end();
  for (auto it = pending_.begin(); it != pending_.end(); ++it) {
    if (it->second.due > now) continue;
    if (first == pending_.end() || it->second.due < first->second.due) first = it;
  }
  if (first == pending_.end()) return std::nullopt;
  Message message{first->first.first, first->first.second, std::move(first->second.said),
                  first->second.stale};
  pending_.erase(first);
  return message;
}

}  // namespace sheaf::test::resp_model
