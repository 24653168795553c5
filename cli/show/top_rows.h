#pragma once

// What `top` knows of each node: from two samples of what servers say of themselves, the rates in
// between. A counter that has fallen means a server that was started again: it has no rate then.
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

// Of one node at one moment. What the server did not tell is not there.
struct TopSample {
  std::string node;
  NodeHealth health = NodeHealth::connecting;
  std::optional<std::chrono::nanoseconds> round_trip;  // none: it did not answer
  std::optional<std::uint64_t> operations;             // since it was started
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
  std::optional<double> operations;  // a second
  std::optional<double> reads;       // a second, hits and misses
  std::optional<double> hit_share;   // 0 .. 1; none: nothing was read
  std::optional<double> evictions;   // a second
  bool restarted = false;            // the server was started again in between
};

// Calls `take(name, value, digits)` for each number of a row, an optional, in the order in which it
// is written for machines; `digits`: behind the point of a text.
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

// Reads "NAME VALUE" lines of memcached's stats, or of INFO on redis.
void read_stats(std::string_view lines, TopSample& sample);

// By node, in the order of `now`. A node without a sample before has no rates.
std::vector<TopRow> top_rows(const std::vector<TopSample>& before,
                             const std::vector<TopSample>& now, std::chrono::nanoseconds passed);
// All of them as one, without a name, health and round trip. What one lacks is left out of the sum.
TopRow total(const std::vector<TopRow>& rows);

}  // namespace sheaf::cli
