#pragma once

// What a store counts and measures, and the names under which it reports that: the answer to
// STATS, the topics below $SYS/broker/sheaf, and the rows of `sheaf stats` use the same ones.
// docs/metrics.md explains each.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
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

  // Well-formed requests, refused ones included: SET, GET, DEL, VDEL, KEYNOTIFY.
  std::array<std::uint64_t, 5> commands{};
  // Executed GETs. Probes are neither, though their key is always absent.
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t probes = 0;
  std::uint64_t unmet = 0;  // SET and VDEL whose condition did not hold

  // More of the errors. Those of a rate are over quota, too.
  std::uint64_t too_fast = 0;
  std::uint64_t bad_time = 0;   // a timestamp or a token too far ahead
  std::uint64_t fenced = 0;     // a fence was in the way
  std::uint64_t malformed = 0;  // no request of the protocol
  std::uint64_t read_only = 0;
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
struct FileNumbers {
  std::uint64_t bytes = 0;
  std::uint64_t commits = 0;
  std::uint64_t failed_commits = 0;
  // How long commits took, in microseconds.
  std::uint64_t total_us = 0;
  std::uint64_t median_us = 0;
  std::uint64_t p99_us = 0;
  std::uint64_t longest_us = 0;
};
// What knows the numbers of a file.
class FileReport {
 public:
  virtual FileNumbers numbers() const = 0;

 protected:
  ~FileReport() = default;
};
struct HostNumbers {
  std::uint64_t clients = 0;         // connected ones that have sent a request
  const FileReport* file = nullptr;  // null: in memory only
};

struct Number {
  std::string_view name;
  std::uint64_t value = 0;
  friend bool operator==(const Number&, const Number&) = default;
};

// Always the same names in the same order for one store.
std::vector<Number> list_numbers(const EngineGauges& gauges, const EngineCounters& counters,
                                 const HostNumbers& host);

// Which numbers differ from those of the last call.
class ChangedNumbers {
 public:
  std::vector<Number> take(const std::vector<Number>& all);

 private:
  std::vector<Number> last_;
};

// Lines "NAME VALUE\n". The first is the version of the software.
std::string print_numbers(const std::vector<Number>& numbers);

}  // namespace sheaf::store
