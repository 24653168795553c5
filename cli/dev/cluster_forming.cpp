#include "cli/dev/cluster_forming.h"

#include <algorithm>
#include <string_view>

#include "protocol/resp/wire/hash_slot.h"

namespace sheaf::cli {

using protocol::resp::Role;
using protocol::resp::SlotClaim;
using protocol::resp::TopologyNode;
using protocol::resp::TopologyView;

namespace {

using namespace std::chrono_literals;

constexpr std::string_view here = "127.0.0.1";

// What a server says about itself.
const TopologyNode& own(const TopologyView& view) {
  static const TopologyNode nobody;
  const auto found = std::ranges::find(view.nodes, true, &TopologyNode::answering);
  return found == view.nodes.end() ? nobody : *found;
}

const TopologyNode* find(const TopologyView& view, const std::string& id) {
  const auto found = std::ranges::find(view.nodes, id, &TopologyNode::id);
  return found == view.nodes.end() ? nullptr : &*found;
}

bool has_slots(const TopologyView& view) {
  return std::ranges::any_of(
      view.claims, [&](const SlotClaim& claim) { return view.nodes[claim.node].answering; });
}

bool contains(const protocol::resp::KeptReply& reply, std::string_view text) {
  return reply.root().text().find(text) != std::string_view::npos;
}

std::vector<FormingStep> prepare(const ClusterPlan& plan, std::span<const TopologyView> views) {
  std::vector<FormingStep> steps;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (views[i].nodes.size() == 1 && own(views[i]).epoch == 0) {
      steps.push_back({i, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)}});
    }
    if (i < plan.primaries && !has_slots(views[i])) {
      const auto [first, last] = plan.slots(i);
      steps.push_back(
          {i, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)}});
    }
  }
  return steps;
}

std::vector<FormingStep> introduce(const ClusterPlan& plan, std::span<const TopologyView> views) {
  std::vector<FormingStep> steps;
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (std::size_t j = 0; j < views.size(); ++j) {
      if (find(views[i], own(views[j]).id) != nullptr) continue;
      const ClusterPlan::Server& other = plan.servers[j];
      FormingStep step{i, {"CLUSTER", "MEET", std::string(here), std::to_string(other.port)}};
      if (other.bus_port != other.port) step.command.push_back(std::to_string(other.bus_port));
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

std::vector<FormingStep> replicate(const ClusterPlan& plan, std::span<const TopologyView> views) {
  std::vector<FormingStep> steps;
  for (std::size_t i = plan.primaries; i < views.size(); ++i) {
    const std::string& primary = own(views[i % plan.primaries]).id;
    if (own(views[i]).primary != primary) {
      steps.push_back({i, {"CLUSTER", "REPLICATE", primary}});
    }
  }
  return steps;
}

}  // namespace

std::pair<std::uint16_t, std::uint16_t> ClusterPlan::slots(std::size_t primary) const {
  const auto first_of = [this](std::size_t index) {
    return protocol::resp::slot_count * index / primaries;
  };
  return {static_cast<std::uint16_t>(first_of(primary)),
          static_cast<std::uint16_t>(first_of(primary + 1) - 1)};
}

std::vector<FormingStep> forming_steps(const ClusterPlan& plan,
                                       std::span<const TopologyView> views) {
  std::vector<FormingStep> steps = prepare(plan, views);
  if (steps.empty()) steps = introduce(plan, views);
  if (steps.empty()) steps = replicate(plan, views);
  return steps;
}

bool follows(const ClusterPlan& plan, std::span<const TopologyView> views) {
  for (const TopologyView& view : views) {
    std::size_t claimed = 0;
    for (const SlotClaim& claim : view.claims) {
      if (view.nodes[claim.node].role == Role::primary) claimed += claim.last - claim.first + 1u;
    }
    if (claimed != protocol::resp::slot_count) return false;
    for (std::size_t i = 0; i < views.size(); ++i) {
      const TopologyNode* const node = find(view, own(views[i]).id);
      const bool replica = i >= plan.primaries;
      if (node == nullptr || (node->role == Role::replica) != replica) return false;
      if (replica && node->primary != own(views[i % plan.primaries]).id) return false;
    }
  }
  return true;
}

ClusterForming::ClusterForming(ClusterPlan plan, std::vector<BlockingConnection> connections)
    : plan_(std::move(plan)), connections_(std::move(connections)) {}

// Sends the same again after a second: a server drops an introduction that was not answered.
std::expected<bool, std::string> ClusterForming::turn(std::chrono::steady_clock::time_point now) {
  auto views = ask_views();
  if (!views) return std::unexpected(std::move(views.error()));
  std::vector<FormingStep> steps = forming_steps(plan_, *views);
  if (steps.empty()) return follows(plan_, *views) ? all_serve() : false;
  if (steps == sent_ && now - sent_at_ < 1s) return false;
  sent_ = std::move(steps);
  sent_at_ = now;
  if (auto done = send(sent_); !done) return std::unexpected(std::move(done.error()));
  return false;
}

std::expected<std::vector<TopologyView>, std::string> ClusterForming::ask_views() {
  std::vector<TopologyView> views;
  for (BlockingConnection& connection : connections_) {
    const auto reply = connection.ask({"CLUSTER", "NODES"});
    if (!reply) return std::unexpected(reply.error());
    auto view = protocol::resp::parse_cluster_nodes(reply->root(), {.host = here});
    if (!view) return std::unexpected(std::move(view.error()));
    views.push_back(*std::move(view));
  }
  return views;
}

std::expected<void, std::string> ClusterForming::send(const std::vector<FormingStep>& steps) {
  for (const FormingStep& step : steps) {
    const auto reply = connections_[step.server].ask(step.command);
    if (!reply) return std::unexpected(reply.error());
    if (reply->root().is_error()) refusal_ = reply->root().text();
  }
  return {};
}

std::expected<bool, std::string> ClusterForming::all_serve() {
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    const bool replica = i >= plan_.primaries;
    const auto state = connections_[i].ask({"CLUSTER", "INFO"});
    const auto link = connections_[i].ask({"INFO", "replication"});
    if (!state || !link) return std::unexpected(state ? link.error() : state.error());
    if (!contains(*state, "cluster_state:ok")) return false;
    if (replica && !contains(*link, "master_link_status:up")) return false;
  }
  return true;
}

}  // namespace sheaf::cli
