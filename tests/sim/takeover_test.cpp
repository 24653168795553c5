// Clients whose client ID is given as a whole (client_id_exact): two processes with the same ID,
// and a client whose own old connections the broker still holds.

#include <gtest/gtest.h>

#include <array>

#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/stack.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

class Takeover : public testing::Test {
 protected:
  void start(std::uint64_t seed) {
    stack.emplace(seed, 1);
    stack->config.client_id_exact = "press-7";
    stack->config.pool_min = stack->config.pool_max = 1;
    stack->add_client();
    key = stack->key_on(0);
  }
  // Both clients, or the first, ask every 100 ms.
  void ask_for(std::chrono::milliseconds time) {
    for (auto passed = 0ms; passed < time; passed += 100ms) {
      for (unsigned i = 0; i < stack->clients(); ++i) stack->client(i).get(key, 1s);
      stack->world.run_for(100ms);
    }
  }
  std::uint64_t connects() {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < stack->clients(); ++i) {
      sum += stack->client(i).cluster().node(0).stats().connects;
    }
    return sum;
  }
  static bool names_the_id(const Op& op) {
    return op.text.starts_with("another process uses the client ID press-7: ");
  }
  std::optional<Stack> stack;
  std::string key;
};

TEST_F(Takeover, TwoClientsWithOneIdDoNotFightAndBothAreToldWhy) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    start(seed);
    ask_for(5s);
    ASSERT_EQ(connects(), 1u);
    stack->add_client();
    ask_for(60s);
    EXPECT_GE(connects(), 4u) << "the ID changes hands";
    EXPECT_LE(connects(), 12u) << "but less and less often";
    for (unsigned i = 0; i < 2; ++i) {
      unsigned answered = 0, told = 0;
      for (const Op& op : stack->client(i).operations()) {
        if (op.answered) ++answered;
        if (op.ended == 0 || op.answered || op.outcome == Outcome::unknown) continue;
        ++told;
        EXPECT_TRUE(names_the_id(op)) << op.text;
        EXPECT_EQ(op.reason, Reason::authentication);
        EXPECT_EQ(op.outcome, Outcome::not_sent);
      }
      EXPECT_GT(answered, 50u);
      EXPECT_GT(told, 50u);
    }
    stack->client(1).shut_down();
    stack->world.run_for(61s);
    Op& after = stack->client(0).get(key, 1s);
    stack->world.run_for(1s);
    EXPECT_TRUE(after.answered) << after.text;
  }
}

// Whatever became of its own connections, a client that reconnects does not take itself for another
// process.
TEST_F(Takeover, OurOwnOldConnectionsAreNotAnotherProcess) {
  constexpr std::array outages{&SimServer::crash, &SimServer::stop, &SimServer::cut_off};
  constexpr std::array ends{&SimServer::restart, &SimServer::go_on, &SimServer::reconnect};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (std::size_t kind = 0; kind < outages.size(); ++kind) {
      start(seed);
      ask_for(1s);
      for (const auto length : {100ms, 700ms, 3'000ms}) {
        SimServer& broker = stack->broker(0);
        (broker.*outages[kind])();
        ask_for(length);
        (broker.*ends[kind])();
        ask_for(3s);
        EXPECT_TRUE(stack->client(0).operations().back().ended == 0 ||
                    stack->client(0).operations().back().answered);
      }
      stack->world.run_for(2s);
      for (const Op& op : stack->client(0).operations()) {
        EXPECT_FALSE(op.text.contains("client ID")) << op.text;
      }
    }
  }
}

}  // namespace
}  // namespace sheaf::sim
