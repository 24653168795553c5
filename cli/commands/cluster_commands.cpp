// locate, ring, nodes: where keys live and how the nodes are.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/prometheus.h>

#include "base/local_error.h"
#include "cli/commands/commands.h"
#include "cli/commands/keys.h"
#include "cli/show/json_lines.h"
#include "cli/show/nodes_table.h"
#include "cli/show/ring_diff.h"
#include "cli/show/ring_picture.h"
#include "cli/show/slot_picture.h"
#include "cli/system/replaced_file.h"
#include "cluster/placement/locator.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::cli {

namespace {

bool servers_decide(const ClusterConfig& config) {
  const protocol::EndpointTraits& traits = protocol::traits_of(config.kind);
  return traits.make_map != nullptr && traits.make_map(config) != nullptr;
}

// Where the servers decide, they say who owns what when they are asked first.
Result<Location> find_owner(Context& context, std::string_view key) {
  auto location = context.client.locate(key);
  if (location || location.error().outcome != Outcome::not_sent) return location;
  const auto servers =
      context.client.cluster_servers({.timeout = context.arguments.global.timeout});
  if (!servers) return Failure(servers.error());
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

// The same where the servers decide; a key whose slot nobody owns is not counted.
void place_keys(std::uint64_t count, const Client& client, std::vector<NodeShare>& shares) {
  for (NodeShare& share : shares) share.keys = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto location = client.locate("key-" + std::to_string(i));
    if (!location) continue;
    const auto owner = std::ranges::find(shares, location->node, &NodeShare::node);
    if (owner != shares.end()) ++*owner->keys;
  }
}

ExitCode run_slots(Context& context) {
  auto servers = context.client.cluster_servers({.timeout = context.arguments.global.timeout});
  if (!servers) return complain_about(context, servers.error());
  std::erase_if(*servers, [](const ClusterServer& server) { return server.slots.empty(); });
  std::vector<NodeShare> shares;
  for (const ClusterServer& server : *servers) {
    NodeShare& share = shares.emplace_back();
    share.node = server.node;
    share.share = static_cast<double>(count_slots(server.slots)) / slots_of_a_cluster;
  }
  if (const auto& count = context.arguments.ring_keys) place_keys(*count, context.client, shares);
  if (!context.json()) context.out.write(slot_picture(*servers, shares));
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (context.json()) context.out.line(json_slots((*servers)[i], shares[i]));
  }
  return ExitCode::done;
}

}  // namespace

ExitCode run_ring(Context& context) {
  const ClusterConfig& config = context.client.config();
  if (servers_decide(config)) return run_slots(context);
  const auto locator = cluster::make_locator(config);
  std::vector<NodeShare> shares = exact_shares(config, *locator);
  if (const auto& count = context.arguments.ring_keys) place_keys(*count, *locator, shares);
  if (!context.json()) context.out.write(ring_picture(shares));
  for (const NodeShare& share : shares) {
    if (context.json()) context.out.line(json_share(share));
  }
  return ExitCode::done;
}

ExitCode run_ring_diff(const Arguments& arguments, Output& out) {
  constexpr std::uint64_t simulated = 1'000'000;
  std::vector<ClusterConfig> configs;
  for (const std::string& uri : arguments.ring_diff) {
    auto config = ClusterConfig::parse_uri(uri);
    if (!config) return complain_about(config.error(), arguments.global.json, out);
    if (servers_decide(*config)) {
      return complain_about(
          local_error(Outcome::invalid, Reason::bad_argument,
                      "the servers of a cluster decide themselves who owns what: " + uri),
          arguments.global.json, out);
    }
    configs.push_back(std::move(*config));
  }
  const RingDiff diff = diff_rings(configs[0], configs[1], arguments.ring_keys.value_or(simulated));
  if (arguments.global.json) {
    for (const KeyFlow& flow : diff.flows) out.line(json_flow(flow));
    out.line(json_moved(diff));
  } else {
    out.write(diff_picture(diff));
  }
  if (arguments.svg.empty()) return ExitCode::done;
  std::ofstream file(arguments.svg, std::ios::binary);
  file << diff_svg(diff);
  file.close();
  if (file) return ExitCode::done;
  return fail("cannot write " + arguments.svg + ".", arguments.global.json, out);
}

namespace {

// Nothing where the configuration decides, or if no server has said anything.
std::vector<ClusterServer> servers_of(Context& context) {
  if (!servers_decide(context.client.config())) return {};
  auto servers = context.client.cluster_servers({.timeout = context.arguments.global.timeout});
  return servers ? std::move(*servers) : std::vector<ClusterServer>();
}

void write_json(Context& context, const std::vector<NodeReport>& reports,
                const std::vector<ClusterServer>& servers) {
  for (const NodeReport& report : reports) {
    const auto server = std::ranges::find(servers, report.stats.node, &ClusterServer::node);
    context.out.line(server != servers.end() ? json_primary(report, *server, servers)
                                             : json_report(report));
  }
  for (const ClusterServer& server : servers) {
    if (report_of(reports, server.node) == nullptr) context.out.line(json_server(server));
  }
}

ExitCode write_metrics(Context& context) {
  const std::string text = prometheus_text(context.client.metrics());
  const std::string& path = context.arguments.textfile;
  if (path.empty()) {
    context.out.write(text);
  } else if (const auto failure = replace_file(path, text)) {
    return failure->allowed ? fail(failure->sentence, context.json(), context.out)
                            : refuse(context, failure->sentence);
  }
  return ExitCode::done;
}

}  // namespace

ExitCode run_nodes(Context& context) {
  const auto reports = context.client.check_nodes({.timeout = context.arguments.global.timeout});
  const std::vector<ClusterServer> servers = servers_of(context);
  bool all_answered = true;
  if (context.arguments.metrics) {
    if (const ExitCode code = write_metrics(context); code != ExitCode::done) return code;
  } else if (context.json()) {
    write_json(context, reports, servers);
  } else {
    const bool colours = context.out.colours();
    context.out.write(servers.empty() ? nodes_table(reports, colours)
                                      : nodes_table(reports, servers, colours));
  }
  for (const std::string& warning :
       certificate_warnings(reports, std::chrono::system_clock::now())) {
    complain(warning);
  }
  for (const NodeReport& report : reports) {
    if (const auto warning = clock_warning(report)) complain(*warning);
    if (report.error) {
      complain(report.error->message());
      all_answered = false;
    }
  }
  return all_answered ? ExitCode::done : ExitCode::failed;
}

}  // namespace sheaf::cli
