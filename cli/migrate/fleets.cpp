#include "cli/migrate/fleets.h"

#include <algorithm>
#include <utility>

#include "cli/listing/key_dump.h"
#include "cli/show/top_rows.h"
#include "cli/system/exit_code.h"

namespace sheaf::cli {
namespace {

constexpr std::chrono::seconds list_patience{30};

FleetCounts operator-(const FleetCounts& now, const FleetCounts& before) {
  return {now.hits - before.hits, now.misses - before.misses};
}

bool grew(const FleetCounts& before, const FleetCounts& now) {
  return now.hits >= before.hits && now.misses >= before.misses;
}

}  // namespace

Fleet::Fleet(Client client)
    : client_(std::move(client)), locator_(cluster::make_locator(client_.config())) {}

std::expected<std::uint64_t, std::string> Fleet::list_keys(KeySpool& keys) const {
  const std::vector<NodeConfig>& servers = config().nodes;
  std::uint64_t elsewhere = 0;
  for (std::uint32_t i = 0; i < servers.size(); ++i) {
    const DumpedServer server{config(), servers[i]};
    auto listed = dump_keys(server, list_patience, [&](const DumpedItem& item) {
      if (locator_->locate(item.key).node != i) {
        ++elsewhere;
        return true;
      }
      keys.add(item.key);
      return keys.good();
    });
    if (!listed) return std::unexpected(listed.error());
  }
  if (!keys.good()) return std::unexpected(keys.failure());
  return elsewhere;
}

std::expected<std::uint64_t, std::string> Fleet::size() {
  std::uint64_t sum = 0;
  for (const NodeText& node : client_.server_stats()) {
    if (!node.text) return std::unexpected(sentence_of(node.text.error()));
    TopSample sample;
    read_stats(*node.text, sample);
    sum += sample.keys.value_or(0);
  }
  return sum;
}

std::optional<FleetCounts> Fleet::counts() {
  FleetCounts sum;
  for (const NodeText& node : client_.server_stats()) {
    if (!node.text) return std::nullopt;
    TopSample sample;
    read_stats(*node.text, sample);
    if (!sample.hits || !sample.misses) return std::nullopt;
    sum.hits += *sample.hits;
    sum.misses += *sample.misses;
  }
  for (const NodeMetrics& node : client_.metrics().nodes) {
    for (const OperationMetrics& operation : node.operations) {
      if (operation.operation != "get") continue;
      sum.hits -= std::min(sum.hits, operation.done);
      sum.misses -= std::min(sum.misses, operation.absent);
    }
  }
  return sum;
}

// In the stages that ask both fleets, a read that finds nothing is a miss of the old one.
std::optional<StageReads> reads_between(MigrationStage stage, const FleetCounts& from_before,
                                        const FleetCounts& from_now, const FleetCounts& to_before,
                                        const FleetCounts& to_now) {
  if (!grew(from_before, from_now) || !grew(to_before, to_now)) return std::nullopt;
  const FleetCounts from = from_now - from_before;
  const FleetCounts to = to_now - to_before;
  switch (stage) {
    case MigrationStage::before:
    case MigrationStage::mirror:
      return StageReads{from.hits + from.misses, from.hits};
    case MigrationStage::switched:
    case MigrationStage::drain:
    case MigrationStage::restore: {
      const std::uint64_t gets = to.hits + to.misses;
      return StageReads{gets, gets - std::min(gets, from.misses)};
    }
    case MigrationStage::closing:
    case MigrationStage::after:
      break;
  }
  return StageReads{to.hits + to.misses, to.hits};
}

}  // namespace sheaf::cli
