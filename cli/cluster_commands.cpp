// locate, ring, nodes: where keys live and how the nodes are.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/json_lines.h"
#include "cli/keys.h"
#include "cli/nodes_table.h"
#include "cli/ring_picture.h"
#include "cluster/locator.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::cli {

namespace {

// Where the servers decide, the client learns of owners with its first request.
Result<Location> find_owner(Context& context, std::string_view key) {
  auto location = context.client.locate(key);
  if (location || location.error().outcome != Outcome::not_sent) return location;
  const auto asked = context.client.get(key, {.timeout = context.arguments.global.timeout});
  if (!asked && asked.error().outcome == Outcome::not_sent) return Failure(asked.error());
  return context.client.locate(key);
}

}  // namespace

ExitCode run_locate(Context& context) {
  const auto list = read_keys(context);
  if (!list) return ExitCode::usage;
  for (const std::string_view key : list->keys) {
    const auto location = find_owner(context, key);
    if (!location) return complain_about_key(context, key, location.error());
    if (context.json()) {
      context.out.line(json_location(key, *location));
    } else {
      context.out.write(key);
      context.out.write("\t");
      context.out.line(location->node);
    }
    if (context.out.failed()) break;
  }
  return ExitCode::done;
}

namespace {

// The exact share of every node, in configured order.
std::vector<NodeShare> exact_shares(const ClusterConfig& config,
                                    const cluster::ClientNodeLocator& locator) {
  std::vector<NodeShare> shares;
  for (std::uint32_t i = 0; i < config.nodes.size(); ++i) {
    const NodeConfig& node = config.nodes[i];
    shares.push_back(
        {.node = node.identity(), .weight = node.weight, .share = locator.share(i), .keys = {}});
  }
  return shares;
}

// Places the keys "key-0", "key-1", ... and counts them.
void place_keys(std::uint64_t count, const cluster::ClientNodeLocator& locator,
                std::vector<NodeShare>& shares) {
  for (NodeShare& share : shares) share.keys = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    ++*shares[locator.locate("key-" + std::to_string(i)).node].keys;
  }
}

}  // namespace

ExitCode run_ring(Context& context) {
  const ClusterConfig& config = context.client.config();
  const protocol::EndpointTraits& traits = protocol::traits_of(config.kind);
  if (traits.make_map != nullptr && traits.make_map(config) != nullptr) {
    complain(
        "ring shows what the configuration decides; here the servers decide, unless "
        "routing=ring.");
    return ExitCode::failed;
  }
  const auto locator = cluster::make_locator(config);
  std::vector<NodeShare> shares = exact_shares(config, *locator);
  if (const auto& count = context.arguments.ring_keys) place_keys(*count, *locator, shares);
  if (!context.json()) context.out.write(ring_picture(shares));
  for (const NodeShare& share : shares) {
    if (context.json()) context.out.line(json_share(share));
  }
  return ExitCode::done;
}

ExitCode run_nodes(Context& context) {
  const auto reports = context.client.check_nodes({.timeout = context.arguments.global.timeout});
  bool all_answered = true;
  if (!context.json()) context.out.write(nodes_table(reports));
  for (const NodeReport& report : reports) {
    if (context.json()) context.out.line(json_report(report));
    if (const auto warning = clock_warning(report)) complain(*warning);
    if (report.error) {
      complain(report.error->message());
      all_answered = false;
    }
  }
  return all_answered ? ExitCode::done : ExitCode::failed;
}

}  // namespace sheaf::cli
