#pragma once

// The plan of an operation on many keys: its distinct keys, the node that owns each, and which
// requests may start now. The caller starts what next() returns and reports done(). Keys without an
// owner are planned as if `nobody` were a node.
//
// An index names a distinct key, 0 .. size() - 1, in the order of first appearance; the carrier
// keeps one outcome for each index. The plan borrows the views of keys and values, and its memory
// resource.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <sheaf/options.h>

#include "cluster/placement/topology.h"

namespace sheaf::cluster {

// The most that may be in flight to one node. A request above `bytes` goes alone.
struct BatchLimits {
  std::uint32_t window = 1;
  std::uint64_t bytes = 1;
  std::uint64_t seed = 0;  // for the hash of keys; random where keys may be hostile
};

class BatchPlan {
 public:
  struct Item {
    std::string_view key;
    std::string_view value;
    std::uint32_t node;
  };

  using Memory = std::pmr::memory_resource;

  // Gets and removes: a repeated key counts once.
  BatchPlan(const Topology& topology, std::span<const std::string_view> keys, BatchLimits limits,
            Memory& memory = *std::pmr::new_delete_resource());
  // Sets: the last value of a repeated key counts, at the place of the first.
  BatchPlan(const Topology& topology, std::span<const SetItem> items, BatchLimits limits,
            Memory& memory = *std::pmr::new_delete_resource());

  // Places `first` to `first + count - 1` in the order in which requests start: all keys of one
  // node, then those of the next.
  struct Run {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  // The next requests to start on a node, at most `most`; none while its window is full or when all
  // its requests have started. Each of them needs its done().
  Run next_run(std::uint32_t node, std::uint32_t most) noexcept;
  // The index at a place.
  std::uint32_t at(std::uint32_t place) const noexcept { return order_[place]; }
  // The same for a single request: its index.
  std::optional<std::uint32_t> next(std::uint32_t node) noexcept;
  // A started request has ended: its node has room again.
  void done(std::uint32_t index) noexcept;
  // Returns a request of the node that should no longer start (deadline, shutdown), until none is
  // left. It needs no done().
  std::optional<std::uint32_t> give_up(std::uint32_t node) noexcept;

  // The epoch of the topology that the nodes come from.
  std::uint64_t epoch() const noexcept { return epoch_; }
  // The carrier may use it for its own data.
  Memory* memory() const noexcept { return items_.get_allocator().resource(); }

  std::size_t size() const noexcept { return items_.size(); }
  const Item& item(std::uint32_t index) const noexcept { return items_[index]; }
  // The nodes that own a key of the batch, ascending.
  std::span<const std::uint32_t> nodes() const noexcept { return used_nodes_; }
  // Requests that have neither ended nor been given up.
  std::size_t unfinished() const noexcept { return unfinished_; }
  std::uint32_t in_flight(std::uint32_t node) const noexcept {
    return feeds_[place_of(node)].in_flight;
  }

 private:
  // The requests of a node: order_[at .. end) have not started.
  struct Feed {
    std::uint32_t at = 0;
    std::uint32_t end = 0;
    std::uint32_t in_flight = 0;
    std::uint64_t bytes = 0;
  };

  void collect(std::span<const SetItem> items);
  void collect(std::span<const std::string_view> keys);
  void locate(const Topology& topology);
  void group(const Topology& topology);
  // The last feed belongs to `nobody`.
  std::size_t place_of(std::uint32_t node) const noexcept {
    return std::min<std::size_t>(node, feeds_.size() - 1);
  }
  Feed& feed_of(std::uint32_t node) noexcept { return feeds_[place_of(node)]; }
  static std::uint64_t bytes_of(const Item& item) noexcept {
    return item.key.size() + item.value.size();
  }

  BatchLimits limits_;
  std::uint64_t epoch_;
  std::pmr::vector<Item> items_;
  std::pmr::vector<std::uint32_t> order_;  // indices, by node
  std::pmr::vector<Feed> feeds_;           // by node
  std::pmr::vector<std::uint32_t> used_nodes_;
  std::size_t unfinished_ = 0;
};

}  // namespace sheaf::cluster
