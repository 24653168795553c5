// locate, ring: where keys are.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/commands/deciding_servers.h"
#include "cli/commands/keys.h"
#include "cli/line/key_words.h"
#include "cli/line/server_words.h"
#include "cli/show/json_lines.h"
#include "cli/show/ring_diff.h"
#include "cli/show/ring_picture.h"
#include "cli/show/slot_picture.h"
#include "cluster/placement/locator.h"

namespace sheaf::cli {

namespace {

// If the servers decide, they must be asked once for their map.
Result<Location> find_owner(Context& context, std::string_view key) {
  auto location = context.client.locate(key);
  if (location || location.error().outcome != Outcome::not_sent) return location;
  const auto servers = context.client.cluster_servers({.timeout = context.global.timeout});
  if (!servers) return Failure(servers.error());
  return context.client.locate(key);
}

ExitCode run_locate(Context& context, const KeysWords& words) {
  const auto list = read_keys(context, words);
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

}  // namespace

CommandRow locate_command() {
  return command<read_keys_words, run_locate>(
      {.name = "locate",
       .group = group::servers,
       .arguments = "KEY...|-",
       .purpose = "print KEY<TAB>HOST:PORT, the node that owns a key",
       .text = "With - there is one key on each line of standard input. It connects only to a "
               "cluster whose servers decide which of them owns a key.",
       .examples = {"sheaf locate press7/speed press7/mode", "sheaf locate - <keys.txt --json"},
       .completion = completes_nothing});
}

namespace {

// The exact share of each node, in configured order.
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

// Places the keys "key-0", "key-1", ... and counts them for each node.
void place_keys(std::uint64_t count, const cluster::ClientNodeLocator& locator,
                std::vector<NodeShare>& shares) {
  for (NodeShare& share : shares) share.keys = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    ++*shares[locator.locate("key-" + std::to_string(i)).node].keys;
  }
}

// The same where the servers decide; a key whose slot has no owner is not counted.
void place_keys(std::uint64_t count, const Client& client, std::vector<NodeShare>& shares) {
  for (NodeShare& share : shares) share.keys = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto location = client.locate("key-" + std::to_string(i));
    if (!location) continue;
    const auto owner = std::ranges::find(shares, location->node, &NodeShare::node);
    if (owner != shares.end()) ++*owner->keys;
  }
}

ExitCode run_slots(Context& context, const RingWords& words) {
  auto servers = context.client.cluster_servers({.timeout = context.global.timeout});
  if (!servers) return complain_about(context, servers.error());
  std::erase_if(*servers, [](const ClusterServer& server) { return server.slots.empty(); });
  std::vector<NodeShare> shares;
  for (const ClusterServer& server : *servers) {
    NodeShare& share = shares.emplace_back();
    share.node = server.node;
    share.share = static_cast<double>(count_slots(server.slots)) / slots_of_a_cluster;
  }
  if (words.keys) place_keys(*words.keys, context.client, shares);
  if (!context.json()) context.out.write(slot_picture(*servers, shares));
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (context.json()) context.out.line(json_slots((*servers)[i], shares[i]));
  }
  return ExitCode::done;
}

ExitCode draw_ring(Context& context, const RingWords& words) {
  const ClusterConfig& config = context.client.config();
  if (servers_decide(config)) return run_slots(context, words);
  const auto locator = cluster::make_locator(config);
  std::vector<NodeShare> shares = exact_shares(config, *locator);
  if (words.keys) place_keys(*words.keys, *locator, shares);
  if (!context.json()) context.out.write(ring_picture(shares));
  for (const NodeShare& share : shares) {
    if (context.json()) context.out.line(json_share(share));
  }
  return ExitCode::done;
}

// Connects to nothing.
ExitCode draw_diff(const Call& call, const RingWords& words) {
  constexpr std::uint64_t simulated = 1'000'000;
  std::vector<ClusterConfig> configs;
  for (const std::string& uri : words.diff) {
    auto config = ClusterConfig::parse_uri(uri);
    if (!config) return complain_about(call, config.error());
    if (servers_decide(*config)) {
      return refuse(call, "the servers of a cluster decide which of them owns a key: " + uri);
    }
    configs.push_back(std::move(*config));
  }
  const RingDiff diff = diff_rings(configs[0], configs[1], words.keys.value_or(simulated));
  if (call.json()) {
    for (const KeyFlow& flow : diff.flows) call.out.line(json_flow(flow));
    call.out.line(json_moved(diff));
  } else {
    call.out.write(diff_picture(diff));
  }
  if (words.svg.empty()) return ExitCode::done;
  std::ofstream file(words.svg, std::ios::binary);
  file << diff_svg(diff);
  file.close();
  if (file) return ExitCode::done;
  return fail(call, "cannot write " + words.svg + ".");
}

ExitCode run_ring(const Call& call, const RingWords& words) {
  if (!words.diff.empty()) return draw_diff(call, words);
  return on_servers(call, [&](Context& context) { return draw_ring(context, words); });
}

constexpr OptionRow ring_options[] = {
    {"--keys", "N", "place this many simulated keys and count them"},
    {"--diff", "", "print which share of the keys moves where from OLD to NEW"},
    {"--svg", "FILE", "with --diff: draw the picture into this file", completes_files}};

}  // namespace

CommandRow ring_command() {
  return command<read_ring_words, run_ring>(
      {.name = "ring",
       .group = group::servers,
       .arguments = "[--diff OLD NEW]",
       .purpose = "draw how the keys are distributed",
       .text =
           "With --diff, OLD and NEW are URIs, and no server is contacted: it prints the shares of "
           "all nodes before and after, and how much moves from which node to which. For slots the "
           "shares are exact; for rings they are those of --keys simulated keys (default 1000000).",
       .examples = {"sheaf ring --keys 100000",
                    "sheaf ring --diff memcached://c1,c2 memcached://c1,c2,c3"},
       .options = ring_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli
