// What a short time-out of one call does to the others of its client, where replies are paired by
// their order: the server was slow, and answers late. The calls come one after another, so the
// order of operations on a key is not in question.

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include <sheaf/client.h>
#include <sheaf/locker.h>

#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/kit/sim_transport.h"
#include "tests/sim/kit/stack.h"
#include "tests/sim/kit/thread_checks.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// A client of a memcached server that has a lock there.
class LockedDoor {
 public:
  void run() {
    use_network(stack_.network, {});
    Client client = *Client::open(stack_.config);
    Locker locker(client, {.lease = 1s});
    auto lock = locker.lock("door");
    check(static_cast<bool>(lock), "no lock");
    for (const auto pause : {60ms, 120ms, 240ms}) {
      stack_.broker(0).stop_for(pause);
      check(!client.get("key", {.timeout = 50ms}), "a stopped server answered");
      const auto next = client.get("key", {.timeout = 1s});
      check(next.has_value(), "it did not answer again");
      pass(2s);
      check(lock->held(), "the lock was lost");
    }
  }
  SimWorld& world() { return stack_.world; }

 private:
  Stack stack_{1, 1, EndpointKind::memcached};
};

TEST(LateReplies, ALockOnMemcachedOutlivesAShortTimeOutOfAnotherCall) {
  const auto door = std::make_shared<LockedDoor>();
  EXPECT_EQ(SimThreads::run(door->world(), 1, [door] { door->run(); }), "");
}

}  // namespace
}  // namespace sheaf::sim
