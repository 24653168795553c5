// What a client of many servers costs without any request: opening it, giving it other servers,
// finding the owner of a key, and how long a call takes at most while servers come and go. Nothing
// listens at the servers' addresses.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/client.h>

#include "bench/results.h"

namespace {

using bench::must;
using bench::since;
using Clock = std::chrono::steady_clock;

sheaf::ClusterConfig config_of(const std::string& options, unsigned nodes) {
  std::string uri = "memcached://";
  for (unsigned i = 0; i < nodes; ++i) {
    uri += (i == 0 ? "127.1." : ",127.1.") + std::to_string(i / 250) + "." +
           std::to_string(i % 250 + 1) + ":9";
  }
  return must(
      sheaf::ClusterConfig::parse_uri(uri + "?timeout=100ms&extra_connections=0" + options));
}

// Calls the client from another thread all the time.
class Caller {
 public:
  explicit Caller(sheaf::Client& client) : client_(client), thread_([this] { run(); }) {}
  ~Caller() {
    over_ = true;
    thread_.join();
  }
  double longest() { return longest_.exchange(0); }

 private:
  void run() {
    while (!over_) {
      const auto start = Clock::now();
      static_cast<void>(client_.get("a"));
      longest_ = std::max<double>(longest_, since(start));
    }
  }
  sheaf::Client& client_;
  std::atomic<bool> over_ = false;
  std::atomic<double> longest_ = 0;
  std::thread thread_;
};

struct Costs {
  double open = 1e9;
  double fewer = 1e9;
  double more = 1e9;
  double held = 1e9;
  double locate = 1e9;
  double cold = 1e9;
  void print(const char* name, unsigned nodes) const {
    std::printf("%-22s %5u %8.2f %8.2f %8.2f %8.2f %8.0f %8.0f\n", name, nodes, open, fewer, more,
                held, locate, cold);
    std::fflush(stdout);
  }
};

constexpr unsigned key_count = 4'096;

double locate_all(const sheaf::Client& client, const std::vector<std::string>& keys) {
  const auto start = Clock::now();
  std::size_t size = 0;
  for (const std::string& key : keys) size += must(client.locate(key)).node.size();
  if (size == 0) std::abort();
  return since(start) * 1e6 / key_count;
}

void measure(Costs& costs, const std::string& options, unsigned nodes,
             const std::vector<std::string>& keys) {
  const sheaf::ClusterConfig config = config_of(options, nodes);
  sheaf::ClusterConfig fewer = config;
  fewer.nodes.erase(fewer.nodes.begin() + nodes / 2);
  const auto least = [](double& cost, double value) { cost = std::min(cost, value); };
  auto start = Clock::now();
  auto client = must(sheaf::Client::open(config));
  least(costs.open, since(start));
  least(costs.cold, locate_all(client, keys));
  for (int i = 0; i < 10; ++i) least(costs.locate, locate_all(client, keys));
  start = Clock::now();
  must(client.reconfigure(fewer));
  least(costs.fewer, since(start));
  start = Clock::now();
  must(client.reconfigure(config));
  least(costs.more, since(start));
  Caller caller(client);
  for (int i = 0; i < 4; ++i) {
    must(client.reconfigure(i % 2 == 0 ? fewer : config));
    const double longest = caller.longest();
    if (i > 0 && longest > 0) least(costs.held, longest);  // 0: no call ended
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  std::vector<std::string> keys;
  for (unsigned i = 0; i < key_count; ++i) keys.push_back("bench/user/" + std::to_string(i));
  const std::vector<std::pair<const char*, const char*>> all{
      {"slots", "&pool_min=0"},
      {"slots, pool_min=1", ""},
      {"ring", "&pool_min=0&locator=ring"},
      {"libmemcached", "&pool_min=0&ring=libmemcached"},
      {"libmemcached-weighted", "&pool_min=0&ring=libmemcached-weighted"},
      {"spymemcached", "&pool_min=0&ring=spymemcached"},
      {"dalli", "&pool_min=0&ring=dalli"}};
  std::printf("%-22s %5s %8s %8s %8s %8s %8s %8s\n", "", "nodes", "open ms", "fewer", "more",
              "held", "locate ns", "cold");
  std::vector<Costs> costs(2 * all.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      measure(costs[2 * i], all[i].second, 8, keys);
      measure(costs[2 * i + 1], all[i].second, 1'000, keys);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    costs[2 * i].print(all[i].first, 8);
    costs[2 * i + 1].print(all[i].first, 1'000);
  }
}
