#pragma once

// Measures round trips per second, their spread, and the client's CPU time.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Target {
  std::string host;
  unsigned short port = 0;
};

// The results of one round of one contestant.
struct Round {
  double operations = 0;
  double per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double cpu_us = 0;      // used by this process for each round trip
  double servers_us = 0;  // the same of its child processes, which are the servers
  // Context switches of this process for each round trip: threads that waited, and threads that
  // yielded the processor or lost it.
  double waits = 0;
  double losses = 0;
  // System calls and allocations of this process for each round trip, which a Comparison counts in
  // a round of their own. NaN: the kernel does not count system calls.
  double system_calls = 0;
  double allocations = 0;
};

// The latencies of one thread.
using Samples = std::vector<std::chrono::nanoseconds>;

// Runs `body` on `threads` threads until `length` has passed. The body does round trips, adding
// each latency, until its argument says stop. Throws what a body throws.
Round measure(
    unsigned threads, std::chrono::milliseconds length,
    const std::function<void(unsigned thread, const std::function<bool()>& stop, Samples&)>& body);

// Child processes count as servers. This one does not.
void exclude_from_servers(pid_t child);

double median(std::vector<double> values);

// A contestant connects when it is made, and then runs rounds.
struct Contestant {
  std::string name;
  std::function<Round(std::chrono::milliseconds)> round;
};
enum class Load { one, eight, hundred };  // callers 1, callers 8, in flight 100

Contestant raw_ping(const Target& target, Load load);
Contestant raw_get(const Target& target, Load load);
Contestant mosquitto_peer(const Target& target, Load load);
Contestant sheaf_peer(const Target& target, Load load, bool spin);

}  // namespace bench
