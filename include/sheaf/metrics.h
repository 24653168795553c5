#pragma once

/// @file
/// What a client has measured since it was opened: how the requests of each node and operation
/// ended, how long their answers took, what became of lists and watches; and all that as text for
/// Prometheus.
///
/// Thread rule: snapshots, plain values.

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/export.h>
#include <sheaf/stats.h>

namespace sheaf {
inline namespace v0 {

/// A histogram of durations. The bounds of its ranges are at most 1.6 % apart, so each duration is
/// known within 1 %, up to an hour; longer ones count as one hour. Memory does not grow with the
/// number of durations: the client keeps at most about 19 KiB for each node and operation.
struct LatencyHistogram {
  /// Durations from `lower` to just below `upper`.
  struct Range {
    std::chrono::nanoseconds lower{0};  ///< The shortest duration of this range.
    std::chrono::nanoseconds upper{0};  ///< Durations of this range are shorter than this.
    std::uint64_t count = 0;            ///< Number of durations; never 0.
  };
  std::vector<Range> ranges;        ///< In ascending order, without empty ranges.
  std::uint64_t count = 0;          ///< Number of all durations.
  std::chrono::nanoseconds sum{0};  ///< Exact sum of all durations.

  /// The duration below which the share `q` (0 .. 1) of all durations lies, within 1 %; 0 if there
  /// are none. 0.5 gives the median, 1 the longest.
  SHEAF_API std::chrono::nanoseconds quantile(double q) const;
  /// Adds the durations that another histogram counted.
  SHEAF_API void add(const LatencyHistogram& other);
};

/// One operation on one node. Each key of a batch counts; the batch's round trip counts once.
struct OperationMetrics {
  std::string operation;  ///< "get", "set", "remove", "get_many", "increment", ...
  /// Answered: the value was there (a hit, for reads), or the change was made.
  std::uint64_t done = 0;
  std::uint64_t absent = 0;      ///< Answered: there is no such key (a miss, for reads).
  std::uint64_t not_stored = 0;  ///< Answered: the condition did not hold.
  std::uint64_t refused = 0;     ///< Ended as Outcome::refused.
  std::uint64_t not_sent = 0;    ///< Ended as Outcome::not_sent, stopped calls included.
  std::uint64_t unknown = 0;     ///< Ended as Outcome::unknown.
  std::uint64_t overloaded = 0;  ///< Ended as Outcome::overloaded.
  /// From handing a request to a connection until its answer.
  LatencyHistogram round_trip;
};

/// The metrics of one node.
struct NodeMetrics {
  NodeStats stats;                           ///< Its counters, as Client::stats.
  std::vector<OperationMetrics> operations;  ///< The operations used so far, by name.
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

/// The metrics of a whole client.
struct Metrics {
  std::vector<NodeMetrics> nodes;  ///< In configured order.
  ListMetrics lists;               ///< 0 once the client has closed; so are `watches`.
  WatchMetrics watches;            ///< Over all nodes.
};

/// Labels in addition to sheaf's own: `node`, `operation`, `outcome`, `health` and `le`. Names are
/// [A-Za-z_][A-Za-z0-9_]* and do not begin with `__`; values are any UTF-8.
using PrometheusLabels = std::vector<std::pair<std::string, std::string>>;

/// The metrics as text for Prometheus (text exposition format 0.0.4), which a program serves or
/// writes into a file for the textfile collector:
///
///     response.body = sheaf::prometheus_text(client.metrics(), {{"cluster", "sessions"}});
///
/// Every line ends with "\n"; the names begin with `sheaf_`. Durations are in seconds. Round trips
/// are histograms with bounds of 1, 2 and 5 times a power of ten, from 10 us to 50 s. A label whose
/// name is not allowed, is sheaf's own or was given before is left out.
SHEAF_API std::string prometheus_text(const Metrics& metrics, const PrometheusLabels& labels = {});

}  // namespace v0
}  // namespace sheaf
