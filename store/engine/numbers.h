#pragma once

// What a store counts and measures, and the names under which it reports that: the answer to
// STATS, the topics below $SYS/broker/sheaf, and the rows of `sheaf stats` use the same ones.
// docs/metrics.md explains each.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::store {

struct EngineCounters {
  std::uint64_t requests = 0;
  std::uint64_t executed_writes = 0;  // SET, DEL, VDEL executed: neither refused nor duplicates
  std::uint64_t duplicates = 0;       // writes answered from memory
  std::uint64_t dropped = 0;          // no response topic
  std::uint64_t forbidden = 0;        // response topic that ends the connection
  std::uint64_t errors = 0;           // answered with -ERR; a repeat counts as a duplicate instead
  std::uint64_t unauthorized = 0;     // of the errors
  std::uint64_t over_quota = 0;       // of the errors: the quota of the store, or of an account
  std::uint64_t expired = 0;
  std::uint64_t notifications = 0;  // queued, one for each watcher
  std::uint64_t inspections = 0;    // questions about the store itself, which are no requests
};

// What the engine holds.
struct EngineGauges {
  std::uint64_t keys = 0;  // includes those that have expired but are not removed yet
  std::uint64_t bytes = 0;
  std::uint64_t watches = 0;
  std::uint64_t answers = 0;  // remembered
  std::uint64_t fences = 0;   // of removed keys
  bool frozen = false;
};

// What only the engine's host knows.
struct HostNumbers {
  std::uint64_t clients = 0;  // connected ones that have sent a request
};

struct Number {
  std::string_view name;
  std::uint64_t value = 0;
  friend bool operator==(const Number&, const Number&) = default;
};

// Always the same names in the same order for one store.
std::vector<Number> list_numbers(const EngineGauges& gauges, const EngineCounters& counters,
                                 const HostNumbers& host);
// Lines "NAME VALUE\n". The first is the version of the software.
std::string print_numbers(const std::vector<Number>& numbers);

}  // namespace sheaf::store
