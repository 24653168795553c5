// How much heap a client holds: for each server that it only knows, and with one and eight servers
// that it uses. It starts memcached servers of its own.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/client.h>

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

void use(sheaf::Client& client) {
  const std::string value(100, 'v');
  for (int i = 0; i < 4'000; ++i) {
    const std::string key = "bench/user/" + std::to_string(i);
    must(client.set(key, value));
    must(client.get(key));
  }
}

double of_used(std::vector<std::unique_ptr<sheaf::test::MemcachedProcess>>& servers,
               std::size_t count) {
  const sheaf::ClusterConfig config = config_of(sheaf::test::uri_of_started(servers, count));
  const std::size_t before = heap_in_use();
  sheaf::Client client = must(sheaf::Client::open(config));
  use(client);
  return static_cast<double>(heap_in_use() - before);
}

}  // namespace

int main() {
  std::vector<std::unique_ptr<sheaf::test::MemcachedProcess>> servers;
  of_known(1);  // what is made once in a process
  of_used(servers, 1);
  const double few = of_known(8);
  print("a node that is configured, of 1,000, pool_min=0", (of_known(1'000) - few) / (1'000 - 8));
  print("a client of 8 nodes, pool_min=0", few);
  print("a client of 1 memcached server, used by gets and sets", of_used(servers, 1));
  print("a client of 8 memcached servers, used by gets and sets", of_used(servers, 8));
}
