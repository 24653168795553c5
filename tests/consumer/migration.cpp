// What a user's program does with sheaf::migration: includes, links, and hears what it refuses.

#include <cstdio>
#include <utility>

#include <sheaf/migration.h>

int main() {
  auto from = sheaf::Client::open("memcached://127.0.0.1:1");
  auto to = sheaf::Client::open("memcached://127.0.0.1:1");
  if (!from || !to) return 1;
  const auto cache = sheaf::MigratingCache::open(std::move(*from), std::move(*to), "migration");
  if (cache) return 1;
  std::puts(cache.error().message().c_str());
  return cache.error().reason == sheaf::Reason::bad_configuration ? 0 : 1;
}
