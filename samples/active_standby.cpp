// Active and standby: two programs want the same role. Both ask for the lock `LockName`; the one
// that holds it writes `ProtectedKey` with the lock's fencing token. When the active program falls
// silent, its lease ends and the standby takes over; a late write by the old one is refused. If the
// servers compare no tokens (memcached), the role still changes hands, and the sample says what is
// missing.
//
// Here both are clients of one process, so that the sample runs alone.
//
// active_standby [URI]   default embedded://3

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include <sheaf/client.h>
#include <sheaf/locker.h>

namespace {

using namespace std::chrono_literals;

constexpr const char* lock_name = "LockName";

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "expectation failed: %s\n", what.c_str());
  std::exit(1);
}

sheaf::Client open(const std::string& uri) {
  auto client = sheaf::Client::open(uri);
  require(client.has_value(), "a client for " + uri);
  return std::move(*client);
}

// A token counts only on the lock's node. With several nodes the key gets the lock's tag.
std::string protected_key(const sheaf::Client& client) {
  const std::string key = "ProtectedKey";
  const bool together = client.locate(key)->node == client.locate(lock_name)->node;
  return together ? key : std::string("{") + lock_name + "}" + key;
}

// Waits for the role and writes once; the guard keeps the role.
sheaf::LockGuard become_active(sheaf::Client& client, const std::string& name) {
  sheaf::Locker locker(client, {.holder = name, .lease = 1s});
  auto lock = locker.lock(lock_name, {.wait = 30s});
  require(lock.held(), name + " gets the lock");
  sheaf::LockGuard guard = std::move(*lock);
  const std::string key = protected_key(client);
  const auto before = guard.read(key);
  require(before.has_value(), name + " reads the key");
  std::printf("%s is active, after \"%s\"\n", name.c_str(),
              *before ? (*before)->data.c_str() : "nobody");
  const auto written = guard.write(key, name);
  require(written && written->stored, name + " writes the key");
  return guard;
}

// A request that A sent before it fell silent arrives now.
void late_write_is_refused(sheaf::Client& client, const sheaf::FencingToken& old_token) {
  const auto late = client.set(protected_key(client), "pump A, late", {.fence = old_token});
  require(!late && late.error().reason == sheaf::Reason::fencing_stale,
          "A's late write is refused");
  std::printf("pump A's late write is refused: %s\n", late.error().message().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string uri = argc > 1 ? argv[1] : "embedded://3?name=active_standby";
  std::optional<sheaf::Client> first = open(uri);
  sheaf::Client second = open(uri);

  auto active = become_active(*first, "pump A");
  const sheaf::FencingToken old_token = active.token();

  std::optional<sheaf::LockGuard> standby;
  std::thread waiting([&] { standby = become_active(second, "pump B"); });
  first.reset();  // A disappears without a word; its lock lasts until its lease ends
  require(!active.held(), "A knows that it is not active any more");
  waiting.join();
  require(standby->held(), "B is active");

  if (second.supports(sheaf::Feature::fencing)) {
    late_write_is_refused(second, old_token);
  } else {
    std::printf("no server here checks fencing tokens: a late write of pump A would be stored\n");
  }
  const auto now = second.get(protected_key(second));
  require(now && *now && (*now)->data == "pump B", "the key is B's");
  std::printf("the key says: %s\n", (*now)->data.c_str());
  return 0;
}
