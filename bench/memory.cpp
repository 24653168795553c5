// How much heap a client holds: for each server that it only knows, and with one and eight servers
// that it uses. And what a hundred clients take, with threads of their own and with one driver. It
// starts memcached servers of its own.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/driver.h>

#include "bench/results.h"
#include "tests/support/counted_heap.h"
#include "tests/support/heap_servers.h"

namespace {

using bench::must;
using sheaf::test::heap_in_use;

sheaf::ClusterConfig config_of(const std::string& uri) {
  return must(sheaf::ClusterConfig::parse_uri(uri));
}

void print(const char* what, double bytes) {
  std::printf("%-60s %8.1f kB\n", what, bytes / 1'000);
  std::fflush(stdout);
}

// With configurations of `nodes` servers that are never connected.
double of_known(unsigned nodes) {
  const sheaf::ClusterConfig config = config_of(sheaf::test::uri_of_unconnected(nodes));
  const std::size_t before = heap_in_use();
  sheaf::Client client = must(sheaf::Client::open(config));
  return static_cast<double>(heap_in_use() - before);
}

void use(sheaf::Client& client, int times = 4'000) {
  const std::string value(100, 'v');
  for (int i = 0; i < times; ++i) {
    const std::string key = "bench/user/" + std::to_string(i);
    must(client.set(key, value));
    must(client.get(key));
  }
}

using Servers = std::vector<std::unique_ptr<sheaf::test::MemcachedProcess>>;

double of_used(Servers& servers, std::size_t count) {
  const sheaf::ClusterConfig config = config_of(sheaf::test::uri_of_started(servers, count));
  const std::size_t before = heap_in_use();
  sheaf::Client client = must(sheaf::Client::open(config));
  use(client);
  return static_cast<double>(heap_in_use() - before);
}

// A hundred clients of one server, used a little and then idle.
void print_hundred(const char* what, Servers& servers, sheaf::Driver* driver) {
  const sheaf::ClusterConfig config = config_of(sheaf::test::uri_of_started(servers, 1));
  const std::size_t before = heap_in_use();
  std::vector<sheaf::Client> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(must(sheaf::Client::open(config, {.driver = driver})));
    use(clients.back(), 10);
  }
  print(what, static_cast<double>(heap_in_use() - before) / 100);
  const std::clock_t used = std::clock();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  std::printf("  %td threads in the process, and %.2f ms of processor time in an idle second\n",
              std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}),
              static_cast<double>(std::clock() - used) * 1e3 / CLOCKS_PER_SEC / 2);
}

}  // namespace

int main() {
  Servers servers;
  of_known(1);  // what is made once in a process
  of_used(servers, 1);
  const double few = of_known(8);
  print("a node that is configured, of 1,000, pool_min=0", (of_known(1'000) - few) / (1'000 - 8));
  print("a client of 8 nodes, pool_min=0", few);
  print("a client of 1 memcached server, used by gets and sets", of_used(servers, 1));
  print("a client of 8 memcached servers, used by gets and sets", of_used(servers, 8));
  print_hundred("each of 100 clients of 1 server, used a little", servers, nullptr);
  sheaf::Driver driver;
  std::jthread thread([&](std::stop_token stop) { driver.run(stop); });
  print_hundred("the same, with one driver", servers, &driver);
}
