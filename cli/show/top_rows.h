#pragma once

// What `top` knows about each node: the rates between two samples of its servers' statistics. A
// counter that has fallen means that the server was restarted; it has no rate then.
//
// Thread rule: plain values and pure functions.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/stats.h>

namespace sheaf::cli {

// One node at one moment. Figures that the server did not report are empty.
struct TopSample {
  std::string node;
  NodeHealth health = NodeHealth::connecting;
  std::optional<std::chrono::nanoseconds> round_trip;  // empty: it did not answer
  std::optional<std::uint64_t> operations;             // since it started
  std::optional<std::uint64_t> hits;
  std::optional<std::uint64_t> misses;
  std::optional<std::uint64_t> evictions;
  std::optional<std::uint64_t> keys;  // now
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> connections;
};

// One node between two samples.
struct TopRow {
  TopSample now;
  std::optional<double> operations;  // per second
  std::optional<double> reads;       // per second, hits and misses
  std::optional<double> hit_share;   // 0 .. 1; empty: nothing was read
  std::optional<double> evictions;   // per second
  bool restarted = false;            // the server restarted in between
};

// Calls `take(name, value, digits)` for each number of a row, an optional, in the order of the
// output for machines; `digits`: after the decimal point in text.
template <class Take>
void for_each_figure(const TopRow& row, const Take& take) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  take("ping_ms",
       row.now.round_trip.transform([](auto trip) { return Milliseconds(trip).count(); }), 3);
  take("ops", row.operations, 1);
  take("reads", row.reads, 1);
  take("hits", row.hit_share, 4);
  take("evictions", row.evictions, 1);
  take("keys", row.now.keys, 0);
  take("bytes", row.now.bytes, 0);
  take("connections", row.now.connections, 0);
}

// Reads "NAME VALUE" lines: memcached's stats, INFO on redis, the numbers of a state store.
void read_stats(std::string_view lines, TopSample& sample);

// One row per node, in the order of `now`. A node without an earlier sample has no rates.
std::vector<TopRow> top_rows(const std::vector<TopSample>& before,
                             const std::vector<TopSample>& now, std::chrono::nanoseconds passed);
// The sum of all rows, without a name, health and round trip. It ignores figures that a row lacks.
TopRow total(const std::vector<TopRow>& rows);

}  // namespace sheaf::cli
