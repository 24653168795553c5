#pragma once

// Tallies: counts a node's requests and how they ended, in total (NodeStats) and by operation
// (OperationMetrics), and how long the answers took. An operation takes memory from its first
// request on. `keys` counts those of a request without an answer of their own.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/metrics.h>
#include <sheaf/stats.h>

#include "base/histogram.h"
#include "protocol/operation.h"

namespace sheaf::node {

class Tallies {
 public:
  using Verb = protocol::Verb;

  void on_start(std::uint32_t keys) noexcept { totals_.requests += keys; }
  // Its deadline came. How it ended counts, too.
  void on_timeout(std::uint32_t keys) noexcept { totals_.timed_out += keys; }
  // A reply came, whether it ends the request or not.
  void on_reply(std::uint32_t keys) noexcept { totals_.replies += keys; }
  // A request was answered. For a get_many, the keys without an answer of their own are absent.
  void on_answer(Verb verb, protocol::Status status, std::uint32_t keys,
                 std::chrono::nanoseconds trip) {
    Tally& tally = of(verb);
    if (verb == Verb::get_many && status == protocol::Status::done) {
      tally.absent += keys;
    } else {
      count(tally, status, keys);
    }
    tally.round_trip.record(trip);
  }
  // One key of a batch was answered. `counts`: as an operation, too.
  void on_item(Verb verb, protocol::Status status, bool counts) {
    ++totals_.replies;
    if (status == protocol::Status::refused) ++totals_.failures.refused;
    if (counts) count(of(verb), status, 1);
  }
  void on_failure(Verb verb, Outcome outcome, std::uint32_t keys);

  void add_to(NodeStats& stats) const noexcept;
  // Only the operations that were used, in the order of Verb.
  std::vector<OperationMetrics> snapshot() const;

 private:
  struct Failures {
    std::uint64_t refused = 0;
    std::uint64_t not_sent = 0;
    std::uint64_t unknown = 0;
    std::uint64_t overloaded = 0;
    // Others say nothing about the node.
    void count(Outcome outcome, std::uint32_t keys) noexcept;
    template <class Counts>
    void add_to(Counts& counts) const noexcept {
      counts.refused += refused;
      counts.not_sent += not_sent;
      counts.unknown += unknown;
      counts.overloaded += overloaded;
    }
  };
  struct Totals {
    std::uint64_t requests = 0;
    std::uint64_t replies = 0;
    std::uint64_t timed_out = 0;
    Failures failures;
  };
  struct Tally {
    std::uint64_t done = 0;
    std::uint64_t absent = 0;
    std::uint64_t not_stored = 0;
    Failures failures;
    Histogram round_trip;
  };

  Tally& of(Verb verb) {
    std::uint8_t& place = places_[static_cast<std::size_t>(verb)];
    if (place == 0) place = add();
    return tallies_[place - 1u];
  }
  std::uint8_t add();
  static void count(Tally& tally, protocol::Status status, std::uint32_t keys) noexcept;

  Totals totals_;
  std::array<std::uint8_t, protocol::verb_count> places_{};  // its tally + 1; 0: not used
  std::vector<Tally> tallies_;
};

// The name in metrics and traces: "get_many".
std::string operation_name(protocol::Verb verb);

// Adds the counts of other connections to the same node.
void add(std::vector<OperationMetrics>& to, const std::vector<OperationMetrics>& from);

}  // namespace sheaf::node
