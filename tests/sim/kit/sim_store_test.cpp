#include "tests/sim/kit/sim_store.h"

#include <gtest/gtest.h>

#include "tests/sim/kit/sim_mangler.h"
#include "tests/store/pipe/raw_client.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using store::test::command;
using store::test::RawClient;

class SimStoreTest : public testing::Test {
 protected:
  void connect(RawClient& client) {
    client.dial(*dialer, {"broker", 1883}, world.now().mono + 5s);
    ASSERT_TRUE(run([&] { return client.ready; }));
  }
  bool run(const std::function<bool()>& done) { return world.run(world.now().mono + 60s, done); }
  std::string ask(RawClient& client, const std::vector<std::string_view>& parts) {
    const std::string correlation = "c" + std::to_string(++asked);
    client.request(correlation, command(parts));
    if (!run([&] { return client.closed || client.replies.contains(correlation); })) return "none";
    return client.closed ? "closed" : client.replies[correlation].front();
  }

  SimWorld world{3};
  SimStore store;
  SimNetwork network{world};
  SimServer& server = network.add_server("broker", 1883, store.start());
  SimLoop loop{world};
  std::unique_ptr<socket::Dialer> dialer = network.dialer(loop);
  int asked = 0;
};

TEST_F(SimStoreTest, TheRealEngineAnswersThroughTheNetwork) {
  server.faults = {
      .delay = 1ms, .jitter = 1ms, .window = 5000, .max_piece = 11, .short_write = 0.5};
  RawClient client("a");
  connect(client);
  const std::string value(20'000, 'v');
  EXPECT_EQ(ask(client, {"SET", "k", value}), "+OK\r\n");
  EXPECT_EQ(ask(client, {"GET", "k"}), "$20000\r\n" + value + "\r\n");
  EXPECT_EQ(store.engine().keys(), 1u);
}

TEST_F(SimStoreTest, NotificationsAndExpiryNeedNoRequest) {
  RawClient watcher("watcher");
  RawClient writer("writer");
  connect(watcher);
  connect(writer);
  EXPECT_EQ(ask(watcher, {"KEYNOTIFY", "k"}), "+OK\r\n");
  EXPECT_EQ(ask(writer, {"SET", "k", "v", "PX", "500"}), "+OK\r\n");
  const Deadline set = world.now().mono;
  ASSERT_TRUE(run([&] { return watcher.notifications.size() == 2; }));
  EXPECT_NEAR(std::chrono::duration<double>(world.now().mono - set).count(), 0.5, 0.01);
}

TEST_F(SimStoreTest, ACrashLosesTheDataUnlessTheyAreKept) {
  for (const bool keep : {false, true}) {
    store.keep_data = keep;
    RawClient client("a");
    connect(client);
    EXPECT_EQ(ask(client, {"SET", "k", "v"}), "+OK\r\n");
    server.crash();
    ASSERT_TRUE(run([&] { return client.closed; }));
    server.restart();
    EXPECT_EQ(store.host().connections(), 0u);
    RawClient again("a");
    connect(again);
    EXPECT_EQ(ask(again, {"GET", "k"}), keep ? "$1\r\nv\r\n" : "$-1\r\n");
  }
}

TEST_F(SimStoreTest, AStoppedBrokerExecutesLateWhatWasSentToIt) {
  RawClient client("a");
  connect(client);
  server.stop();
  client.request("late", command({"SET", "k", "v"}));
  world.run_for(3s);
  EXPECT_EQ(store.engine().keys(), 0u);
  client.leave();
  world.run_for(1s);
  server.go_on();
  world.run_for(1s);
  EXPECT_EQ(store.engine().keys(), 1u);
  EXPECT_EQ(store.host().connections(), 0u);
}

TEST_F(SimStoreTest, AHalfOpenConnectionIsEndedByTheBrokersKeepAlive) {
  RawClient client("a");
  connect(client);
  server.cut_off();
  world.run_for(89s);
  EXPECT_EQ(store.host().connections(), 1u);
  world.run_for(2s);
  EXPECT_EQ(store.host().connections(), 0u) << "one and a half times 60 s";
  EXPECT_FALSE(client.closed);
}

TEST(PublishMangler, HarmsWholePublishPacketsAndNothingElse) {
  const MangleRates rates{.delay = 0.2, .drop = 0.2, .twice = 0.2, .swap = 0.2};
  MangleCounts counts;
  Random random(1);
  PublishMangler mangler(rates, random, counts);
  constexpr unsigned total = 1000;
  std::string stream;
  std::vector<std::string> sent;
  for (unsigned i = 0; i < total; ++i) {
    sent.push_back(store::server::test::publish(1, 1, "t", std::string(i, 'x')));
    stream += sent.back() + store::server::test::puback(7);
  }
  std::map<std::string, unsigned> seen;
  const auto emit = [&](std::string packet, std::chrono::nanoseconds delay) {
    EXPECT_EQ(store::server::test::packets(packet).size(), 1u);
    EXPECT_LE(delay, rates.most_delay);
    ++seen[packet];
  };
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t size = 1 + random.below(700);
    mangler.on_bytes(std::string_view(stream).substr(at, size), emit);
    at += size;
  }
  EXPECT_EQ(seen[store::server::test::puback(7)], total);
  std::uint64_t published = 0;
  for (const std::string& packet : sent) published += seen[packet];
  EXPECT_GE(published + 1, total - counts.dropped + counts.doubled) << "one may still be held";
  EXPECT_LE(published, total - counts.dropped + counts.doubled);
  for (const std::uint64_t count :
       {counts.passed, counts.delayed, counts.dropped, counts.doubled, counts.swapped}) {
    EXPECT_GT(count, total / 20);
  }
}

}  // namespace
}  // namespace sheaf::sim
