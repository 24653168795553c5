#include "tests/live/client/cluster_observer.h"

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tests/support/wait_for_condition.h"

namespace sheaf::test {

using protocol::resp::Role;
using protocol::resp::SlotClaim;
using protocol::resp::TopologyNode;
using protocol::resp::TopologyView;

ClusterObserver::ClusterObserver(const RespCluster& cluster)
    : cluster_(cluster), has_state_(!cluster.is_garnet()) {
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    servers_.push_back({.id = cluster.id(i), .port = cluster.port(i)});
  }
  enter("nobody was asked yet", {});
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void ClusterObserver::hide(std::size_t server) {
  const std::lock_guard lock(mutex_);
  servers_.at(server).hidden = true;
  servers_[server].connection.reset();
  enter("nobody was asked since a server has gone", {});
}

void ClusterObserver::show(std::size_t server) {
  const std::lock_guard lock(mutex_);
  servers_.at(server).port = cluster_.port(server);
  servers_[server].hidden = false;
  enter("nobody was asked since a server has come back", {});
}

ClusterObserver::Clock::time_point ClusterObserver::wait_until_agreed(const SlotSet& slots,
                                                                      std::size_t owner) {
  const auto agreed = [&](const State& state) {
    if (!state.disagreement.empty()) return false;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (slots[slot] && state.owners[slot] != owner) return false;
    }
    return true;
  };
  wait_for("the servers agree", [&] { return agreed(states_.back()); });
  const std::lock_guard lock(mutex_);
  const auto first = std::ranges::find_if_not(states_.rbegin(), states_.rend(), agreed).base();
  if (first == states_.end()) throw std::runtime_error("the servers agree no more");
  return first->since;
}

SlotSet ClusterObserver::slots_of(std::size_t server) {
  SlotSet slots;
  ask_anew("nobody was asked again yet");
  wait_for("the servers agree", [&] {
    const State& state = states_.back();
    for (std::size_t slot = 0; slot < state.owners.size(); ++slot) {
      slots[slot] = state.owners[slot] == server;
    }
    return state.disagreement.empty();
  });
  return slots;
}

void ClusterObserver::ask_anew(std::string why) {
  const std::lock_guard lock(mutex_);
  enter(std::move(why), {});
}

void ClusterObserver::wait_for(std::string_view what, const std::function<bool()>& holds) {
  std::string why;
  try {
    wait_for_condition(what, [&] {
      const std::lock_guard lock(mutex_);
      why = states_.back().disagreement;
      return holds();
    });
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(error.what() +
                             (": " + (why.empty() ? "but not as is expected" : why)));
  }
}

void ClusterObserver::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto begun = Clock::now();
    turn_.wait_for(lock, stop, interval, [] { return false; });
    if (stop.stop_requested()) return;
    take_turn();
    const std::chrono::nanoseconds delay = Clock::now() - begun - interval;
    longest_delay_ = std::max(longest_delay_.load(), delay);
    longest_delay_ever_ = std::max(longest_delay_ever_.load(), delay);
  }
}

void ClusterObserver::take_turn() {
  std::optional<Owners> all;
  std::string disagreement;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (servers_[i].hidden) continue;
    std::optional<Owners> owners = ask(i, disagreement);
    if (!owners) return enter("server " + std::to_string(i) + " " + disagreement, {});
    if (all && *all != *owners) return enter("two servers disagree", {});
    all = std::move(owners);
  }
  if (!all) return enter("no server answers", {});
  enter({}, *std::move(all));
}

std::optional<ClusterObserver::Owners> ClusterObserver::ask(std::size_t server,
                                                            std::string& disagreement) {
  auto& connection = servers_[server].connection;
  try {
    if (!connection) connection = std::make_unique<RespConnection>(cluster_.connect(server));
    const auto replies = connection->ask_all({{"CLUSTER", "NODES"}, {"CLUSTER", "INFO"}});
    const bool serves =
        !has_state_ || replies[1].root().text().find("cluster_state:ok") != std::string_view::npos;
    if (!serves) return disagreement = "does not serve", std::nullopt;
    const auto view = protocol::resp::parse_cluster_nodes(
        replies[0].root(), {.host = "127.0.0.1", .id = servers_[server].id});
    if (!view) return disagreement = view.error(), std::nullopt;
    return owners_in(*view, disagreement);
  } catch (const std::runtime_error& error) {
    connection.reset();
    disagreement = error.what();
    return std::nullopt;
  }
}

std::optional<ClusterObserver::Owners> ClusterObserver::owners_in(const TopologyView& view,
                                                                  std::string& disagreement) const {
  Owners owners(protocol::resp::slot_count, nobody);
  for (const SlotClaim& claim : view.claims) {
    const TopologyNode& node = view.nodes[claim.node];
    if (node.role == Role::replica) continue;
    const auto found = std::ranges::find(servers_, node.id, &Observed::id);
    if (found == servers_.end() || found->hidden || found->port != node.port) {
      disagreement = "gives slots to a server that is not there";
      return std::nullopt;
    }
    const auto index = static_cast<std::uint16_t>(found - servers_.begin());
    std::fill(owners.begin() + claim.first, owners.begin() + claim.last + 1, index);
  }
  if (std::ranges::find(owners, nobody) == owners.end()) return owners;
  disagreement = "knows no owner of some slots";
  return std::nullopt;
}

void ClusterObserver::enter(std::string disagreement, Owners owners) {
  const bool same = !states_.empty() && states_.back().disagreement == disagreement &&
                    states_.back().owners == owners;
  if (same) return;
  states_.push_back({Clock::now(), std::move(disagreement), std::move(owners)});
}

}  // namespace sheaf::test

#endif
