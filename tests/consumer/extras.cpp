// What a user's program does with sheaf::migration, sheaf::discovery and sheaf::leader: includes,
// links, and hears what they refuse.

#include <cstdio>
#include <utility>

#include <sheaf/discovery.h>
#include <sheaf/leader.h>
#include <sheaf/migration.h>

int main() {
  auto from = sheaf::Client::open("memcached://127.0.0.1:1");
  auto to = sheaf::Client::open("memcached://127.0.0.1:1");
  if (!from || !to) return 1;
  const auto elected = sheaf::LeaderElection(*from, "no lease", {.lease = {}}).campaign();
  const auto cache = sheaf::MigratingCache::open(std::move(*from), std::move(*to), "migration");
  const auto servers = sheaf::servers_of_srv("no name");
  if (cache || servers || elected) return 1;
  std::puts(cache.error().message().c_str());
  std::puts(servers.error().message().c_str());
  std::puts(elected.error().message().c_str());
  return cache.error().reason == sheaf::Reason::bad_configuration &&
                 servers.error().reason == sheaf::Reason::bad_argument &&
                 elected.error().reason == sheaf::Reason::bad_argument
             ? 0
             : 1;
}
