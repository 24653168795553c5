// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/topology.h"

#include <unordered_map>

namespace sheaf::cluster {
namespace {

// Adapts a filter of nodes to positions.
class FilterOfPositions final : public NodeFilter {
 public:
  FilterOfPositions(const NodeFilter& filter, std::span<const Member> members) noexcept
      : filter_(filter), members_(members) {}
  bool takes(std::uint32_t position) const noexcept override {
    return filter_.takes(members_[position].index());
  }

 private:
  const NodeFilter& filter_;
  std::span<const Member> members_;
};

// Numbers the servers.
class Positions final : public NodeEntries {
 public:
  std::shared_ptr<const NodeEntry> entry(const std::string& identity) override {
    return std::make_shared<const NodeEntry>(NodeEntry{next_++, identity});
  }

 private:
  std::uint32_t next_ = 0;
};

}  // namespace

Topology::Topology(const NamedServers& list, std::unique_ptr<const ClientNodeLocator> locator,
                   NodeEntries& table, std::uint64_t epoch)
    : epoch_(epoch), named_by_(list.named_by), indices_{nobody}, locator_(std::move(locator)) {
  const Primaries primaries = list.primaries;
  members_.reserve(list.servers.size());
  for (const NodeConfig& server : list.servers) {
    members_.push_back({table.entry(server.identity()), server.host, server.port, server.weight});
    const std::uint32_t index = members_.back().index();
    if (index >= positions_.size()) positions_.resize(index + 1, nobody);
    positions_[index] = static_cast<std::uint32_t>(indices_.size() - 1);
    indices_.push_back(index);
  }
  for (std::size_t i = 0; i < primaries.size(); ++i) {
    members_[i].primary = primaries[i];
    if (!members_[i].is_replica()) continue;
    replicas_.resize(positions_.size());
    replicas_[members_[primaries[i]].index()].push_back(members_[i].index());
  }
  if (members_.size() != 1) return;
  const auto slots = assigned() ? locator_->slots() : std::vector<std::uint16_t>();
  if (std::ranges::find(slots, 0) == slots.end()) sole_ = members_.front().index();
}

std::shared_ptr<const Topology> Topology::make(const ClusterConfig& config, NodeEntries& table,
                                               std::uint64_t epoch) {
  return make({config.nodes}, make_locator(config), table, epoch);
}

std::shared_ptr<const Topology> Topology::make(const ClusterConfig& config, std::uint64_t epoch) {
  Positions positions;
  return make(config, positions, epoch);
}

std::shared_ptr<const Topology> Topology::make(const NamedServers& list,
                                               std::unique_ptr<const ClientNodeLocator> locator,
                                               NodeEntries& table, std::uint64_t epoch) {
  return std::shared_ptr<const Topology>(new Topology(list, std::move(locator), table, epoch));
}

std::shared_ptr<const Topology> Topology::changed(const NamedServers& joining,
                                                  std::span<const SlotMove> moving,
                                                  NodeEntries& table, std::uint64_t epoch) const {
  std::vector<NodeConfig> servers;
  std::vector<std::uint32_t> primaries;
  for (const Member& member : members_) {
    servers.push_back({member.host, member.port, member.weight});
    primaries.push_back(member.primary);
  }
  servers.insert(servers.end(), joining.servers.begin(), joining.servers.end());
  std::unordered_map<std::string, std::uint32_t> positions;
  for (const NodeConfig& server : servers) {
    positions.emplace(server.identity(), static_cast<std::uint32_t>(positions.size()));
  }
  std::vector<SlotChange> changes;
  primaries.resize(servers.size(), nobody);
  for (const SlotMove& move : moving) {
    changes.push_back({move.slot, positions.at(move.owner)});
    primaries[changes.back().node] = nobody;
  }
  return make({servers, primaries, joining.named_by}, locator_->changed(changes), table, epoch);
}

const Member* Topology::find(std::string_view identity) const noexcept {
  const auto at = std::ranges::find(members_, identity, &Member::identity);
  return at != members_.end() ? &*at : nullptr;
}

void Topology::owners(std::span<const std::string_view> keys,
                      std::span<std::uint32_t> nodes) const noexcept {
  if (sole_ != nobody) return static_cast<void>(std::ranges::fill(nodes, sole_));
  locator_->owners(keys, nodes);
  for (std::uint32_t& node : nodes) node = index_at(node);
}

std::vector<std::uint32_t> Topology::owning_nodes() const {
  std::vector<bool> owns(members_.size(), !assigned());
  if (assigned()) {
    for (const std::uint16_t owner : slots()) {
      if (owner != 0) owns[owner - 1] = true;
    }
  }
  std::vector<std::uint32_t> nodes;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (owns[i]) nodes.push_back(members_[i].index());
  }
  return nodes;
}

std::uint32_t Topology::stand_in(std::string_view key, const NodeFilter& filter) const noexcept {
  return index_at(locator_->stand_in(key, FilterOfPositions(filter, members_)));
}

}  // namespace sheaf::cluster
