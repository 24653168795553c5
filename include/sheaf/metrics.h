#pragma once

/// @file
/// What a client has measured since it was opened: for each node and operation how requests ended
/// and how long their answers took, and what it did with lists and watches. sheaf/prometheus.h
/// writes it as text.
///
/// Thread rule: snapshots, plain values.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/export.h>
#include <sheaf/stats.h>

namespace sheaf {
inline namespace v0 {

/// How often something took how long. Durations are counted in ranges whose bounds are at most
/// 1.6 % apart, so that each is known within 1 %, up to an hour; what takes longer counts as that.
/// Memory does not grow with the number of durations: at most about 19 KiB for each node and
/// operation in the client.
struct LatencyHistogram {
  /// Durations from `lower` to just below `upper`.
  struct Range {
    std::chrono::nanoseconds lower{0};  ///< The least.
    std::chrono::nanoseconds upper{0};  ///< Less than this.
    std::uint64_t count = 0;            ///< How many; never 0.
  };
  std::vector<Range> ranges;        ///< In ascending order; those without a duration are left out.
  std::uint64_t count = 0;          ///< Of all durations.
  std::chrono::nanoseconds sum{0};  ///< Of all durations, exactly.

  /// The duration below which the share `q` (0 .. 1) of all lies, within 1 %; 0 if there is none.
  /// 0.5 is the median, 1 the largest.
  SHEAF_API std::chrono::nanoseconds quantile(double q) const;
  /// Adds what another one counted.
  SHEAF_API void add(const LatencyHistogram& other);
};

/// One operation on one node. Each key of a batch counts; its round trip counts once.
struct OperationMetrics {
  std::string operation;  ///< "get", "set", "remove", "get_many", "increment", ...
  /// Answered: a value was there, or what was asked for was done. Hits, for reads.
  std::uint64_t done = 0;
  std::uint64_t absent = 0;      ///< Answered: there is no such key. Misses, for reads.
  std::uint64_t not_stored = 0;  ///< Answered: the condition did not hold.
  std::uint64_t refused = 0;     ///< Ended as Outcome::refused.
  std::uint64_t not_sent = 0;    ///< Ended as Outcome::not_sent, those stopped included.
  std::uint64_t unknown = 0;     ///< Ended as Outcome::unknown.
  std::uint64_t overloaded = 0;  ///< Ended as Outcome::overloaded.
  /// From the moment a request was given to a connection to its answer.
  LatencyHistogram round_trip;
};

/// One node.
struct NodeMetrics {
  NodeStats stats;                           ///< Its counters, as Client::stats.
  std::vector<OperationMetrics> operations;  ///< Those that there were, by name.
};

/// What a client has written to lists. An edit is a push, remove, trim, ...
struct ListMetrics {
  std::uint64_t commits = 0;    ///< Changes of a list's head; pushes that wait together share one.
  std::uint64_t edits = 0;      ///< Edits in these commits.
  std::uint64_t conflicts = 0;  ///< Attempts that began again, mostly because of another writer.
};

/// What a client has watched: Client::watch, and locks that wait for another holder.
struct WatchMetrics {
  std::uint64_t keys = 0;     ///< Keys watched now.
  std::uint64_t changes = 0;  ///< Changes reported, once for each key.
  std::uint64_t gaps = 0;     ///< Gaps reported: changes may have been missed.
};

/// A whole client.
struct Metrics {
  std::vector<NodeMetrics> nodes;  ///< In configured order.
  ListMetrics lists;               ///< 0 once the client has closed, as `watches`.
  WatchMetrics watches;            ///< Of all nodes.
};

}  // namespace v0
}  // namespace sheaf
