// changing_nodes [NODES [THREADS [ROUNDS]]]: half of a client's servers leave and come back while
// threads read from all of them: how long the change takes, and the longest call in the 300 ms
// after it. For comparison the longest in as much time without a change, and when a thread only
// computes for as long as the servers took to come back. One memcached answers at all addresses,
// each of which is a server to the client. Prints medians over the rounds (1,000 nodes, 8 threads
// and 9 rounds unless given).

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/client.h>

#include "bench/results.h"
#include "tests/support/memcached_process.h"

namespace {

using bench::must;
using bench::since;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds window{300};

sheaf::ClusterConfig config_of(unsigned nodes, std::uint16_t port) {
  sheaf::ClusterConfig config = must(sheaf::ClusterConfig::parse_uri("memcached://any"));
  config.nodes.clear();
  for (unsigned i = 0; i < nodes; ++i) {
    const std::string net = std::to_string(i / 250);
    config.nodes.push_back({"127.1." + net + "." + std::to_string(i % 250 + 1), port, 1});
  }
  return config;
}

// Threads that read all the time.
class Readers {
 public:
  Readers(sheaf::Client& client, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      threads_.emplace_back([this, &client, i](const std::stop_token& stop) {
        for (unsigned n = i; !stop.stop_requested(); n += 17) read(client, std::to_string(n));
      });
    }
  }
  // The longest call since the last time.
  double longest() { return longest_.exchange(0); }

 private:
  void read(sheaf::Client& client, const std::string& key) {
    const auto start = Clock::now();
    if (!client.get(key)) std::abort();  // no call may fail
    const double took = since(start);
    for (double longest = longest_; took > longest;) {
      if (longest_.compare_exchange_weak(longest, took)) break;
    }
  }
  std::atomic<double> longest_ = 0;
  std::vector<std::jthread> threads_;
};

// Computes for this many milliseconds.
void compute(double milliseconds) {
  for (const auto start = Clock::now(); since(start) < milliseconds;) continue;
}

struct Row {
  std::vector<double> change;
  std::vector<double> longest;
  void print(const char* title) {
    for (auto* const values : {&change, &longest}) std::ranges::sort(*values);
    const std::size_t middle = longest.size() / 2;
    std::printf("%-16s %10.2f %13.2f   (%.2f to %.2f)\n", title, change[middle], longest[middle],
                longest.front(), longest.back());
  }
};

void run(unsigned nodes, unsigned threads, unsigned rounds) {
  sheaf::test::MemcachedOptions options;
  options.address = "0.0.0.0";
  options.arguments = {"-c", "15000"};
  const sheaf::test::MemcachedProcess server(options);
  const sheaf::ClusterConfig all = config_of(nodes, server.port());
  sheaf::ClusterConfig half = all;
  half.nodes.clear();
  for (std::size_t i = 0; i < all.nodes.size(); i += 2) half.nodes.push_back(all.nodes[i]);
  auto client = must(sheaf::Client::open(all));
  Readers readers(client, threads);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  Row quiet, busy, leave, back;
  const auto measure = [&](Row& row, const std::function<void()>& change) {
    readers.longest();
    const auto start = Clock::now();
    change();
    row.change.push_back(since(start));
    std::this_thread::sleep_for(window);
    row.longest.push_back(readers.longest());
  };
  for (unsigned round = 0; round < rounds; ++round) {
    measure(quiet, [] {});
    measure(leave, [&] { must(client.reconfigure(half)); });
    std::this_thread::sleep_for(2 * window);
    measure(back, [&] { must(client.reconfigure(all)); });
    std::this_thread::sleep_for(2 * window);
    measure(busy, [&] { compute(back.change.back()); });
  }
  std::printf("%-16s %10s %13s\n", "ms", "change", "longest call");
  quiet.print("no change");
  busy.print("computing");
  leave.print("half leave");
  back.print("half come back");
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, unsigned otherwise) {
    return argc > at ? static_cast<unsigned>(std::max(1, std::atoi(argv[at]))) : otherwise;
  };
  try {
    run(number(1, 1'000), number(2, 8), number(3, 9));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "changing_nodes: %s\n", error.what());
    return 3;
  }
  return 0;
}
