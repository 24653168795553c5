// locate, ring, nodes: where keys live and how the nodes are.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/commands.h"
#include "cli/json_lines.h"
#include "cli/keys.h"
#include "cli/nodes_table.h"
#include "cli/ring_picture.h"

namespace sheaf::cli {

ExitCode run_locate(Context& context) {
  const auto list = read_keys(context);
  if (!list) return ExitCode::usage;
  for (const std::string_view key : list->keys) {
    const auto location = context.client.locate(key);
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

// How many of the keys "key-0", "key-1", ... each node owns, in configured order.
Result<std::vector<NodeShare>> place_keys(const Client& client, std::uint64_t count) {
  std::vector<NodeShare> shares;
  std::unordered_map<std::string, std::size_t> index_of;
  for (const NodeConfig& node : client.config().nodes) {
    index_of.emplace(node.identity(), shares.size());
    shares.push_back({.node = node.identity(), .weight = node.weight, .share = 0, .keys = 0});
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto location = client.locate("key-" + std::to_string(i));
    if (!location) return Failure(location.error());
    ++*shares[index_of.at(location->node)].keys;
  }
  for (NodeShare& share : shares) {
    share.share = static_cast<double>(*share.keys) / static_cast<double>(count);
  }
  return shares;
}

}  // namespace

ExitCode run_ring(Context& context) {
  constexpr std::uint64_t kKeys = 100'000;
  const auto shares = place_keys(context.client, context.arguments.ring_keys.value_or(kKeys));
  if (!shares) return complain_about(shares.error());
  if (!context.json()) context.out.write(ring_picture(*shares));
  for (const NodeShare& share : *shares) {
    if (context.json()) context.out.line(json_share(share));
  }
  return ExitCode::done;
}

ExitCode run_nodes(Context& context) {
  const auto reports = context.client.check_nodes(context.arguments.global.timeout);
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
