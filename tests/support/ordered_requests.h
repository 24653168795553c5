#pragma once

// OrderedRequests: the requests in flight of a protocol whose replies come in the order of the
// requests. One that nobody waits for keeps its place until its reply has passed.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <deque>

#include "protocol/open_requests.h"

namespace sheaf::test {

class OrderedRequests final : public protocol::OpenRequests {
 public:
  struct Entry : protocol::OpenRequest {
    bool waiting = true;
  };

  Entry& add() {
    Entry& entry = entries_.emplace_back();
    entry.ticket = {next_++, 0};
    return entry;
  }
  Entry* oldest() { return entries_.empty() ? nullptr : &entries_.front(); }
  void remove_oldest() { entries_.pop_front(); }
  std::size_t size() const noexcept { return entries_.size(); }

  std::size_t waiting() const noexcept override {
    return static_cast<std::size_t>(std::ranges::count(entries_, true, &Entry::waiting));
  }
  protocol::OpenRequest* find(protocol::Ticket ticket) noexcept override {
    const auto found = std::ranges::find(entries_, ticket, &Entry::ticket);
    return found == entries_.end() || !found->waiting ? nullptr : &*found;
  }
  protocol::OpenRequest* next(std::size_t& position) noexcept override {
    while (position < entries_.size() && !entries_[position].waiting) ++position;
    return position < entries_.size() ? &entries_[position] : nullptr;
  }
  void abandon(protocol::OpenRequest& request) noexcept override {
    static_cast<Entry&>(request).waiting = false;
  }
  void drop(protocol::OpenRequest& request) noexcept override {
    std::erase_if(entries_, [&](const Entry& entry) { return &entry == &request; });
  }

 private:
  std::deque<Entry> entries_;
  std::uint32_t next_ = 0;
};

}  // namespace sheaf::test
