// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/batch_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/checks.h"
#include "base/hash.h"

namespace sheaf::cluster {
namespace {

// Finds the index of an item by its key: open addressing in one vector, at most half full.
class KeyIndex {
 public:
  KeyIndex(std::size_t keys, std::uint64_t seed, std::pmr::memory_resource* memory)
      : places_(std::bit_ceil(2 * keys + 1), none, memory), seed_(seed) {}

  // The index of an equal key in `items`. Without one, adds the key with the index items.size().
  std::uint32_t find_or_add(std::string_view key, std::span<const BatchPlan::Item> items) {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = hash64(key, seed_) & mask;
    while (places_[at] != none && items[places_[at]].key != key) at = (at + 1) & mask;
    if (places_[at] == none) places_[at] = static_cast<std::uint32_t>(items.size());
    return places_[at];
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::pmr::vector<std::uint32_t> places_;
  std::uint64_t seed_;
};

}  // namespace

BatchPlan::BatchPlan(const Topology& topology, std::span<const std::string_view> keys,
                     BatchLimits limits, Memory& memory)
    : limits_(limits),
      epoch_(topology.epoch()),
      items_(&memory),
      order_(&memory),
      feeds_(&memory),
      used_nodes_(&memory) {
  collect(keys);
  group(topology);
}

BatchPlan::BatchPlan(const Topology& topology, std::span<const SetItem> items, BatchLimits limits,
                     Memory& memory)
    : limits_(limits),
      epoch_(topology.epoch()),
      items_(&memory),
      order_(&memory),
      feeds_(&memory),
      used_nodes_(&memory) {
  collect(items);
  group(topology);
}

void BatchPlan::collect(std::span<const std::string_view> keys) {
  SHEAF_CHECK(keys.size() < std::numeric_limits<std::uint32_t>::max() / 2);
  KeyIndex index(keys.size(), limits_.seed, memory());
  items_.resize(keys.size());
  std::size_t count = 0;
  for (const std::string_view key : keys) {
    if (index.find_or_add(key, std::span(items_).first(count)) == count) items_[count++].key = key;
  }
  items_.resize(count);
}

void BatchPlan::collect(std::span<const SetItem> items) {
  SHEAF_CHECK(items.size() < std::numeric_limits<std::uint32_t>::max() / 2);
  KeyIndex index(items.size(), limits_.seed, memory());
  items_.resize(items.size());
  std::size_t count = 0;
  for (const SetItem& item : items) {
    const std::uint32_t at = index.find_or_add(item.key, std::span(items_).first(count));
    if (at == count) items_[count++].key = item.key;
    items_[at].value = item.value;
  }
  items_.resize(count);
}

void BatchPlan::locate(const Topology& topology) {
  std::array<std::string_view, 64> keys;
  std::array<std::uint32_t, keys.size()> nodes;
  for (std::size_t from = 0; from < items_.size(); from += keys.size()) {
    const auto some = std::span(items_).subspan(from, std::min(keys.size(), items_.size() - from));
    std::ranges::transform(some, keys.begin(), &Item::key);
    topology.owners(std::span(keys).first(some.size()), std::span(nodes).first(some.size()));
    for (std::size_t i = 0; i < some.size(); ++i) some[i].node = nodes[i];
  }
}

// A counting sort by node keeps the order of the batch within each node.
void BatchPlan::group(const Topology& topology) {
  feeds_.resize(topology.index_limit() + 1);
  locate(topology);
  for (const Item& item : items_) ++feed_of(item.node).end;
  std::uint32_t start = 0;
  for (std::uint32_t place = 0; place < feeds_.size(); ++place) {
    Feed& feed = feeds_[place];
    if (feed.end > 0) used_nodes_.push_back(place + 1 < feeds_.size() ? place : nobody);
    const std::uint32_t count = feed.end;
    feed.at = feed.end = start;
    start += count;
  }
  order_.resize(items_.size());
  for (std::uint32_t index = 0; index < items_.size(); ++index) {
    order_[feed_of(items_[index].node).end++] = index;
  }
  unfinished_ = items_.size();
}

BatchPlan::Run BatchPlan::next_run(std::uint32_t node, std::uint32_t most) noexcept {
  Feed& feed = feed_of(node);
  Run run{feed.at, 0};
  while (run.count < most && feed.at < feed.end && feed.in_flight < limits_.window) {
    const std::uint64_t bytes = bytes_of(items_[order_[feed.at]]);
    if (feed.bytes + bytes > limits_.bytes && feed.in_flight > 0) break;
    ++feed.at;
    ++feed.in_flight;
    ++run.count;
    feed.bytes += bytes;
  }
  return run;
}

std::optional<std::uint32_t> BatchPlan::next(std::uint32_t node) noexcept {
  const Run run = next_run(node, 1);
  return run.count == 0 ? std::nullopt : std::optional(order_[run.first]);
}

void BatchPlan::done(std::uint32_t index) noexcept {
  const Item& item = items_[index];
  Feed& feed = feed_of(item.node);
  SHEAF_CHECK(feed.in_flight > 0);
  --feed.in_flight;
  feed.bytes -= bytes_of(item);
  --unfinished_;
}

std::optional<std::uint32_t> BatchPlan::give_up(std::uint32_t node) noexcept {
  Feed& feed = feed_of(node);
  if (feed.at == feed.end) return std::nullopt;
  --unfinished_;
  return order_[feed.at++];
}

}  // namespace sheaf::cluster
