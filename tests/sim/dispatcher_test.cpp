// The dispatcher of a client, between the thread of callbacks and the thread that closes.

#include "client/runtime/dispatcher.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/thread_checks.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

void post_and_close() {
  client::runtime::Dispatcher dispatcher({}, {});
  dispatcher.start();
  bool running = false;
  std::string done;
  for (const char name : {'a', 'b', 'c', 'd'}) {
    dispatcher.post([&, name] {
      check(!running, "two jobs run at the same time");
      running = true;
      pass(10us);
      running = false;
      done += name;
    });
  }
  dispatcher.close();
  check(done == "abcd", "done: " + done);
}

// A log sink need not be thread-safe, and what it has written is complete once the client is gone.
TEST(Dispatcher, JobsRunOneAfterAnotherWhileItIsClosedForEverySeed) {
  for (const std::uint64_t seed : seeds_of(200)) {
    const auto world = std::make_shared<SimWorld>(seed);
    EXPECT_EQ(SimThreads::run(*world, seed, [world] { post_and_close(); }), "");
  }
}

}  // namespace
}  // namespace sheaf::sim
