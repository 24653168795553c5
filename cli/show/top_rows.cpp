#include "cli/show/top_rows.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "cli/show/stats_lines.h"

namespace sheaf::cli {

namespace {

using Field = std::optional<std::uint64_t> TopSample::*;

// Names in memcached's stats, in INFO, and among the numbers of sheaf's state stores. A field that
// appears twice gets the sum.
struct StatRow {
  std::string_view name;
  Field field;
};
constexpr StatRow stats[] = {
    {"cmd_get", &TopSample::operations},
    {"cmd_set", &TopSample::operations},
    {"cmd_touch", &TopSample::operations},
    {"delete_hits", &TopSample::operations},
    {"delete_misses", &TopSample::operations},
    {"incr_hits", &TopSample::operations},
    {"incr_misses", &TopSample::operations},
    {"decr_hits", &TopSample::operations},
    {"decr_misses", &TopSample::operations},
    {"get_hits", &TopSample::hits},
    {"get_misses", &TopSample::misses},
    {"evictions", &TopSample::evictions},
    {"curr_items", &TopSample::keys},
    {"bytes", &TopSample::bytes},
    {"curr_connections", &TopSample::connections},
    {"total_commands_processed", &TopSample::operations},
    {"keyspace_hits", &TopSample::hits},
    {"keyspace_misses", &TopSample::misses},
    {"evicted_keys", &TopSample::evictions},
    {"used_memory", &TopSample::bytes},
    {"connected_clients", &TopSample::connections},
    {"cmd_del", &TopSample::operations},
    {"cmd_vdel", &TopSample::operations},
    {"cmd_keynotify", &TopSample::operations},
    {"keys", &TopSample::keys},
    {"clients", &TopSample::connections},
};

// "keys=12,expires=3,...", from INFO's db0.
std::optional<std::uint64_t> keys_of(std::string_view database) {
  constexpr std::string_view label = "keys=";
  if (!database.starts_with(label)) return std::nullopt;
  database.remove_prefix(label.size());
  return parse_decimal(database.substr(0, database.find(',')));
}

// How much a counter has grown; nothing if it is unknown or has fallen.
std::optional<double> growth(const TopSample& before, const TopSample& now, Field field) {
  const auto& from = before.*field;
  const auto& to = now.*field;
  if (!from || !to || *to < *from) return std::nullopt;
  return static_cast<double>(*to - *from);
}

bool has_fallen(const TopSample& before, const TopSample& now) {
  constexpr Field counters[] = {&TopSample::operations, &TopSample::hits, &TopSample::misses,
                                &TopSample::evictions};
  return std::ranges::any_of(counters, [&](Field field) {
    return before.*field && now.*field && *(now.*field) < *(before.*field);
  });
}

template <class Number>
void add(std::optional<Number>& sum, const std::optional<Number>& one) {
  if (one) sum = sum.value_or(Number{}) + *one;
}

}  // namespace

void read_stats(std::string_view lines, TopSample& sample) {
  for_each_stat(lines, [&](std::string_view name, std::string_view value) {
    if (name == "db0") add(sample.keys, keys_of(value));
    const auto* const row = std::ranges::find(stats, name, &StatRow::name);
    if (row != std::end(stats)) add(sample.*row->field, parse_decimal(value));
  });
}

std::vector<TopRow> top_rows(const std::vector<TopSample>& before,
                             const std::vector<TopSample>& now, std::chrono::nanoseconds passed) {
  std::vector<TopRow> rows;
  const double seconds = std::chrono::duration<double>(passed).count();
  for (const TopSample& sample : now) {
    TopRow& row = rows.emplace_back();
    row.now = sample;
    const auto old = std::ranges::find(before, sample.node, &TopSample::node);
    if (old == before.end() || seconds <= 0) continue;
    row.restarted = has_fallen(*old, sample);
    if (row.restarted) continue;
    const auto rate = [&](Field field) {
      return growth(*old, sample, field).transform([&](double count) { return count / seconds; });
    };
    row.operations = rate(&TopSample::operations);
    row.evictions = rate(&TopSample::evictions);
    const auto hits = rate(&TopSample::hits);
    const auto misses = rate(&TopSample::misses);
    if (!hits || !misses) continue;
    row.reads = *hits + *misses;
    if (*row.reads > 0) row.hit_share = *hits / *row.reads;
  }
  return rows;
}

TopRow total(const std::vector<TopRow>& rows) {
  TopRow sum;
  double hits = 0;
  for (const TopRow& row : rows) {
    add(sum.operations, row.operations);
    add(sum.reads, row.reads);
    add(sum.evictions, row.evictions);
    add(sum.now.keys, row.now.keys);
    add(sum.now.bytes, row.now.bytes);
    add(sum.now.connections, row.now.connections);
    hits += row.hit_share.value_or(0) * row.reads.value_or(0);
  }
  if (sum.reads && *sum.reads > 0) sum.hit_share = hits / *sum.reads;
  return sum;
}

}  // namespace sheaf::cli
