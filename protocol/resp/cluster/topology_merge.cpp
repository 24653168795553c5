// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/cluster/topology_merge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace sheaf::protocol::resp {
namespace {

// Leaves room for nodes that only a MOVED names.
constexpr std::size_t max_merged_nodes = 32 * 1024;

// The weight of a statement about a node; larger counts more.
struct Rank {
  std::uint64_t epoch = 0;
  bool answering = false;
  bool fresh = false;  // not from the previous map
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

// What one view, or the previous map, says about a node.
struct Statement {
  const TopologyNode* node = nullptr;
  Rank rank;
  std::uint64_t asked = 0;

  // A total order, so that the order of the views does not matter.
  auto order() const noexcept {
    return std::tie(rank, asked, node->role, node->host, node->port, node->hostname, node->primary);
  }
};

// All statements about one node.
struct Subject {
  std::vector<Statement> said;
  const Statement* best = nullptr;
  bool spoke = false;       // for itself, in a view
  std::uint16_t index = 0;  // in the new map

  // True if the slots that this statement lists are claims of the node.
  bool counts(const Statement& statement) const noexcept {
    if (best->node->role != Role::primary || statement.node->role != Role::primary) return false;
    // If a node was asked twice, its later statement counts.
    const bool replaced = best->rank.answering && statement.asked < best->asked;
    return statement.rank == best->rank && !replaced;
  }
};

}  // namespace

class SlotMap::Merge {
 public:
  Merge(std::span<const TopologyView> views, const SlotMap& previous) : previous_(previous) {
    for (const TopologyView& view : views) {
      if (!view.claims.empty() || previous.nodes_.empty()) views_.push_back(&view);
    }
  }

  SlotMap run() {
    if (views_.empty()) return previous_;
    hear();
    choose();
    rank_claims();
    for (const TopologyView* view : views_) claim(*view);
    keep_previous();
    write_down();
    for (const SlotMove& move : previous_.moved_) map_.move(move);
    return std::move(map_);
  }

 private:
  using Subjects = std::map<std::string_view, Subject>;

  // The current owner of a slot, and its claim.
  struct Taken {
    std::uint64_t epoch = 0;
    std::uint64_t asked = 0;
    std::uint16_t node = nobody;
  };

  // Collects the statements.
  void hear() {
    map_.asked_ = std::ranges::min(views_, {}, &TopologyView::asked)->asked;
    with_epochs_ = std::ranges::any_of(views_, &TopologyView::has_epochs);
    for (const TopologyView* view : views_) {
      for (const TopologyNode& node : view->nodes) {
        Subject& subject = subjects_[node.id];
        subject.spoke = subject.spoke || node.answering;
        subject.said.push_back({&node, {node.epoch, node.answering, true}, view->asked});
      }
    }
    if (!with_epochs_) return;
    for (const TopologyNode& node : previous_.nodes_) {
      const auto found = subjects_.find(node.id);
      if (found == subjects_.end() || found->second.spoke) continue;
      found->second.said.push_back({&node, {node.epoch, node.answering, false}, 0});
    }
  }

  // The best statement about each node becomes its entry.
  void choose() {
    for (auto& [id, subject] : subjects_) {
      const auto order = [](const Statement& statement) { return statement.order(); };
      std::ranges::sort(subject.said, std::greater<>(), order);
      subject.best = &subject.said.front();
      if (map_.nodes_.size() == max_merged_nodes) continue;
      subject.index = static_cast<std::uint16_t>(map_.nodes_.size());
      TopologyNode& node = map_.nodes_.emplace_back(*subject.best->node);
      const Statement* const address = find_address(subject);
      if (address == nullptr) continue;
      node.host = address->node->host;
      node.hostname = address->node->hostname;
      node.port = address->node->port;
    }
  }

  // The best statement with an address. One of the previous map counts only if no view has an
  // address, because a server that moves keeps its epoch.
  static const Statement* find_address(const Subject& subject) noexcept {
    const Statement* found = nullptr;
    for (const Statement& statement : subject.said) {
      if (statement.node->port == 0) continue;
      if (found == nullptr || (statement.rank.fresh && !found->rank.fresh)) found = &statement;
    }
    return found;
  }

  // All claims of a node have its rank, so each node has one strength; equal ranks get equal
  // strength.
  void rank_claims() {
    std::vector<const Subject*> order;
    for (const auto& [id, subject] : subjects_) {
      if (is_in_map(subject)) order.push_back(&subject);
    }
    const auto rank = [](const Subject* subject) { return subject->best->rank; };
    std::ranges::sort(order, {}, rank);
    strength_of_.resize(map_.nodes_.size());
    std::uint32_t strength = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && rank(order[i - 1]) < rank(order[i])) ++strength;
      strength_of_[order[i]->index] = strength;
    }
  }

  void claim(const TopologyView& view) {
    for (const SlotClaim& claim : view.claims) {
      const TopologyNode& node = view.nodes[claim.node];
      const Subject& subject = subjects_.find(node.id)->second;
      if (!is_in_map(subject)) continue;
      if (!subject.counts({&node, {node.epoch, node.answering, true}, view.asked})) continue;
      for (std::uint32_t slot = claim.first; slot <= claim.last; ++slot) {
        take(slot, subject, view.asked);
      }
    }
  }

  // Nodes are in the order of their ids, so the smaller index is the smaller id.
  void take(std::uint32_t slot, const Subject& subject, std::uint64_t asked) noexcept {
    Taken& taken = taken_[slot];
    const auto weaker = [&] {
      return std::tie(strength_of_[taken.node], taken.asked, subject.index) <
             std::tie(strength_of_[subject.index], asked, taken.node);
    };
    if (taken.node == nobody || weaker()) taken = {subject.best->rank.epoch, asked, subject.index};
  }

  // Rules 4 and 5.
  void keep_previous() {
    for (const Claim& claim : previous_.claims_) {
      const auto found = subjects_.find(previous_.nodes_[claim.node].id);
      if (found == subjects_.end() || !is_in_map(found->second)) continue;
      const bool checks_epochs = with_epochs_ && !found->second.spoke;
      for (std::uint32_t slot = claim.first; slot <= claim.last; ++slot) {
        Taken& taken = taken_[slot];
        const bool goes_back = checks_epochs && taken.epoch < claim.epoch;
        if (taken.node == nobody || goes_back) taken = {claim.epoch, 0, found->second.index};
      }
    }
  }

  void write_down() {
    for (std::uint16_t slot = 0; slot < slot_count; ++slot) {
      const Taken& taken = taken_[slot];
      map_.owners_[slot] = taken.node;
      if (taken.node == nobody) continue;
      const bool goes_on = !map_.claims_.empty() && map_.claims_.back().last + 1 == slot &&
                           map_.claims_.back().node == taken.node &&
                           map_.claims_.back().epoch == taken.epoch;
      if (goes_on) {
        map_.claims_.back().last = slot;
      } else {
        map_.claims_.push_back({taken.epoch, slot, slot, taken.node});
      }
    }
  }

  bool is_in_map(const Subject& subject) const noexcept {
    return subject.index < map_.nodes_.size() &&
           map_.nodes_[subject.index].id == subject.best->node->id;
  }

  std::vector<const TopologyView*> views_;
  const SlotMap& previous_;
  Subjects subjects_;
  std::vector<std::uint32_t> strength_of_;  // by the node's index in the map
  std::vector<Taken> taken_ = std::vector<Taken>(slot_count);
  bool with_epochs_ = false;
  SlotMap map_;
};

SlotMap SlotMap::merge(std::span<const TopologyView> views, const SlotMap& previous) {
  return Merge(views, previous).run();
}

std::uint64_t SlotMap::claim_epoch(std::uint16_t slot) const noexcept {
  const auto after = std::ranges::upper_bound(claims_, slot, {}, &Claim::first);
  if (after == claims_.begin()) return 0;
  const Claim& claim = *std::prev(after);
  return slot <= claim.last ? claim.epoch : 0;
}

bool SlotMap::move(const SlotMove& move) {
  if (move.learned <= asked_) return false;
  const auto at = std::ranges::lower_bound(moved_, move.slot, {}, &SlotMove::slot);
  const bool again = at != moved_.end() && at->slot == move.slot;
  if (again && move.learned <= at->learned) return false;
  const auto is_target = [&](const TopologyNode& node) {
    return node.port == move.port && (node.host == move.host || node.hostname == move.host);
  };
  const auto found = std::ranges::find_if(nodes_, is_target);
  const auto index = static_cast<std::uint16_t>(found - nodes_.begin());
  if (found == nodes_.end()) {
    if (nodes_.size() >= nobody) return false;
    TopologyNode& node = nodes_.emplace_back();
    node.host = move.host;
    node.port = move.port;
  }
  if (again) {
    *at = move;
  } else {
    moved_.insert(at, move);
  }
  return std::exchange(owners_[move.slot], index) != index;
}

}  // namespace sheaf::protocol::resp
