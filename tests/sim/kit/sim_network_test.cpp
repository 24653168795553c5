#include "tests/sim/kit/sim_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "tests/sim/kit/sim_echo.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

class SimNetworkTest : public testing::Test {
 protected:
  explicit SimNetworkTest(std::uint64_t seed = 7) : world(seed) {}

  void connect(Caller& caller) {
    caller.call(*dialer, "one", 1883, world.now().mono + 5s);
    ASSERT_TRUE(run([&] { return caller.stream != nullptr; }));
  }
  bool run(const std::function<bool()>& done, std::chrono::nanoseconds limit = 60s) {
    return world.run(world.now().mono + limit, done);
  }
  // Writes all of `text`, waiting for room when needed.
  void write_all(Caller& caller, std::string_view text) {
    while (!text.empty()) {
      const int before = caller.writable;
      text.remove_prefix(caller.write(text));
      if (text.empty()) return;
      ASSERT_TRUE(run([&] { return caller.writable > before || caller.closed > 0; }));
      if (caller.closed > 0) return;
    }
  }

  SimWorld world;
  SimNetwork network{world};
  EchoLog log;
  SimServer& server = network.add_server("one", 1883, EchoService::start(log));
  SimLoop loop{world};
  std::unique_ptr<socket::Dialer> dialer = network.dialer(loop);
  const Deadline start = world.now().mono;
};

TEST_F(SimNetworkTest, ARoundTripTakesTwoDelays) {
  server.faults.delay = 5ms;
  Caller caller;
  connect(caller);
  EXPECT_EQ(caller.when.mono, start + 10ms);
  EXPECT_EQ(caller.write("hello"), 5u);
  ASSERT_TRUE(run([&] { return caller.received == "hello"; }));
  EXPECT_EQ(caller.when.mono, start + 20ms);
}

TEST_F(SimNetworkTest, JitterDelaysButKeepsTheOrder) {
  server.faults.jitter = 10ms;
  Caller caller;
  connect(caller);
  std::string sent;
  for (int i = 0; i < 200; ++i) {
    const std::string part = std::to_string(i) + ",";
    EXPECT_EQ(caller.write(part), part.size());
    sent += part;
    world.run_for(300us);
  }
  ASSERT_TRUE(run([&] { return caller.received.size() == sent.size(); }));
  EXPECT_EQ(caller.received, sent);
  EXPECT_EQ(log.received, sent);
}

TEST_F(SimNetworkTest, ReadsComeInPiecesOfAnySize) {
  server.faults.max_piece = 3;
  Caller caller;
  connect(caller);
  const std::string text(1000, 'x');
  EXPECT_EQ(caller.write(text), text.size());
  ASSERT_TRUE(run([&] { return caller.received.size() == text.size(); }));
  EXPECT_LE(*std::ranges::max_element(caller.reads), 3u);
  EXPECT_GT(std::ranges::count(caller.reads, 1u), 0);
  EXPECT_GT(std::ranges::count(caller.reads, 2u), 0);
}

TEST_F(SimNetworkTest, AFullWindowMakesWritesShortUntilTheServerHasRead) {
  server.faults.window = 100;
  Caller caller;
  connect(caller);
  const std::string text(1000, 'y');
  EXPECT_EQ(caller.write(text), 100u);
  EXPECT_EQ(caller.write(text), 0u);
  write_all(caller, std::string_view(text).substr(100));
  ASSERT_TRUE(run([&] { return caller.received == text; }));
}

TEST_F(SimNetworkTest, AReaderThatPausesHoldsTheServerBack) {
  server.faults.window = 100;
  Caller caller;
  connect(caller);
  caller.reading = false;
  std::size_t sent = 0;
  for (int i = 0; i < 50; ++i) {
    sent += caller.write(std::string(10, 'z'));
    world.run_for(5ms);
  }
  EXPECT_EQ(log.received.size(), 100u);
  EXPECT_EQ(sent, 200u) << "a window in each direction";
  caller.reading = true;
  ASSERT_TRUE(run([&] { return caller.received.size() == 100; }));
}

TEST_F(SimNetworkTest, ShortWritesStillDeliverEverythingOnce) {
  server.faults.short_write = 0.7;
  server.faults.max_piece = 50;
  Caller caller;
  connect(caller);
  std::string text;
  for (int i = 0; i < 200; ++i) {
    const std::string part = "part " + std::to_string(i) + " of a long text;";
    write_all(caller, part);
    text += part;
  }
  ASSERT_TRUE(run([&] { return caller.received.size() == text.size(); }));
  EXPECT_EQ(caller.received, text);
  EXPECT_GT(caller.writable, 100);
}

TEST_F(SimNetworkTest, UnknownNamesAndClosedPortsAreReported) {
  Caller unknown;
  unknown.call(*dialer, "nowhere", 1883, start + 5s);
  Caller closed;
  server.crash();
  closed.call(*dialer, "one", 1883, start + 5s);
  ASSERT_TRUE(run([&] { return !unknown.failed.empty() && !closed.failed.empty(); }));
  EXPECT_EQ(closed.failed, "connection refused");
  EXPECT_EQ(unknown.failed, "name look-up failed: no such host");
}

TEST_F(SimNetworkTest, AMachineThatIsCutOffLetsDialsTimeOut) {
  server.cut_off();
  Caller caller;
  caller.call(*dialer, "one", 1883, start + 500ms);
  ASSERT_TRUE(run([&] { return !caller.failed.empty(); }));
  EXPECT_EQ(caller.failed, "connect timed out");
  EXPECT_EQ(caller.when.mono, start + 500ms);
  server.reconnect();
  connect(caller);
}

TEST_F(SimNetworkTest, AHalfOpenConnectionNeverSpeaksAgain) {
  server.faults.window = 1000;
  Caller caller;
  connect(caller);
  server.cut_off();
  EXPECT_EQ(caller.write("lost"), 4u);
  EXPECT_EQ(caller.write(std::string(5000, 'l')), 996u) << "the kernel buffers what nobody acks";
  world.run_for(10s);
  server.reconnect();
  world.run_for(10s);
  EXPECT_EQ(caller.received, "");
  EXPECT_EQ(caller.closed, 0);
  EXPECT_EQ(caller.writable, 0);
  EXPECT_EQ(log.received, "");
}

TEST_F(SimNetworkTest, AStoppedServerAcceptsConnectionsAndAnswersWhenItGoesOn) {
  server.stop();
  Caller caller;
  connect(caller);
  EXPECT_EQ(caller.write("late"), 4u);
  world.run_for(30s);
  EXPECT_EQ(caller.received, "");
  server.go_on();
  ASSERT_TRUE(run([&] { return caller.received == "late"; }));
}

TEST_F(SimNetworkTest, AStoppedServerExecutesWhatAGoneClientHasSent) {
  Caller caller;
  connect(caller);
  server.stop();
  EXPECT_EQ(caller.write("zombie"), 6u);
  caller.stream.reset();
  world.run_for(5s);
  EXPECT_EQ(log.received, "");
  server.go_on();
  world.run_for(1s);
  EXPECT_EQ(log.received, "zombie");
  EXPECT_EQ(log.ended, 1);
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(SimNetworkTest, ACrashEndsConnectionsAndRefusesOthersUntilTheRestart) {
  Caller caller;
  connect(caller);
  server.crash();
  EXPECT_FALSE(server.alive());
  ASSERT_TRUE(run([&] { return caller.closed == 1; }));
  EXPECT_EQ(server.connections(), 0u);
  EXPECT_EQ(log.ended, 0) << "a killed process sees nothing";
  server.restart();
  EXPECT_EQ(log.starts, 2);
  Caller again;
  connect(again);
  EXPECT_EQ(again.write("new"), 3u);
  ASSERT_TRUE(run([&] { return again.received == "new"; }));
}

TEST_F(SimNetworkTest, CrashesEndSomeConnectionsByResetAndSomeInOrder) {
  int resets = 0;
  for (int i = 0; i < 40; ++i) {
    Caller caller;
    connect(caller);
    server.crash();
    ASSERT_TRUE(run([&] { return caller.closed == 1; }));
    EXPECT_TRUE(caller.error == 0 || caller.error == ECONNRESET);
    resets += caller.error != 0;
    server.restart();
  }
  EXPECT_GT(resets, 5);
  EXPECT_LT(resets, 35);
}

TEST_F(SimNetworkTest, AResetOfTheNetworkIsHeardAtBothEnds) {
  Caller caller;
  connect(caller);
  server.reset_all();
  ASSERT_TRUE(run([&] { return caller.closed == 1; }));
  EXPECT_EQ(caller.error, ECONNRESET);
  EXPECT_EQ(log.ended, 1);
  EXPECT_TRUE(server.alive());
}

TEST_F(SimNetworkTest, AStoppedServerGetsNothingOfAConnectionThatTheNetworkHasReset) {
  Caller caller;
  connect(caller);
  server.stop();
  EXPECT_EQ(caller.write("read too late, "), 15u);
  world.run_for(1ms);
  EXPECT_EQ(caller.write("still on its way"), 16u);
  server.reset_all();
  world.run_for(1ms);
  server.go_on();
  ASSERT_TRUE(run([&] { return log.ended == 1; }));
  EXPECT_EQ(log.received, "");
}

TEST_F(SimNetworkTest, RandomResetsStrikeDuringWrites) {
  server.faults.reset = 0.1;
  int resets = 0;
  for (int i = 0; i < 100; ++i) {
    Caller caller;
    connect(caller);
    for (int j = 0; j < 5 && caller.stream != nullptr; ++j) {
      caller.write("0123456789");
      world.run_for(1ms);
    }
    resets += caller.closed;
  }
  EXPECT_GT(resets, 20);
  EXPECT_LT(resets, 70);
}

TEST_F(SimNetworkTest, TheServersOwnEndComesAfterWhatItSent) {
  Caller caller;
  connect(caller);
  caller.write("last words");
  world.run_for(1ms);
  caller.write("Q");
  ASSERT_TRUE(run([&] { return caller.closed == 1; }));
  EXPECT_EQ(caller.error, 0);
  EXPECT_EQ(caller.received, "last words");
  EXPECT_EQ(log.ended, 0) << "the end that closes a connection is not notified of its end";
}

TEST_F(SimNetworkTest, ADestroyedDialOrStreamCallsNobody) {
  for (const auto wait : {0us, 50us, 100us, 150us, 200us, 250us}) {
    Caller caller;
    caller.call(*dialer, "one", 1883, start + 60s);
    world.run_for(wait);
    caller.dial.reset();
    caller.stream.reset();
    caller.when = {};
    world.run_for(5s);
    EXPECT_EQ(caller.when.mono, 0ns) << wait.count();
  }
  world.run_for(1s);
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(SimNetworkTest, AServiceIsTickedAtTheTimesItAsksForButNotWhileStopped) {
  log.tick_every = 100ms;
  server.wall_offset = 90s;
  server.restart();
  world.run_for(1s);
  ASSERT_EQ(log.ticks.size(), 10u);
  EXPECT_EQ(log.ticks[9].mono - log.ticks[0].mono, 900ms);
  EXPECT_EQ(log.ticks[9].wall - world.now().wall, 90s);
  server.stop();
  world.run_for(1s);
  EXPECT_EQ(log.ticks.size(), 10u);
  server.go_on();
  EXPECT_EQ(log.ticks.size(), 11u);
  world.run_for(1s);
  EXPECT_EQ(log.ticks.size(), 21u);
}

// Forwards every third piece late and drops every fifth.
struct Meddler final : SimMangler {
  int count = 0;
  void on_bytes(std::string_view bytes, const Emit& emit) override {
    ++count;
    if (count % 5 == 0) return;
    emit(std::string(bytes), count % 3 == 0 ? 10ms : 0ms);
  }
};

TEST_F(SimNetworkTest, AManglerDecidesWhatReachesTheClientAndWhen) {
  server.mangle = [] { return std::make_unique<Meddler>(); };
  Caller caller;
  connect(caller);
  for (const char c : std::string("123456")) {
    caller.write(std::string(1, c));
    world.run_for(1ms);
  }
  world.run_for(1s);
  EXPECT_EQ(caller.received,
            "124"
            "36");
  EXPECT_EQ(log.received, "123456");
}

// Applies all faults at once; returns the digest of the run.
std::uint64_t chaos(std::uint64_t seed) {
  SimWorld world(seed);
  SimNetwork network(world);
  EchoLog log;
  SimServer& server = network.add_server("one", 1883, EchoService::start(log));
  server.faults = {.delay = 200us,
                   .jitter = 3ms,
                   .window = 500,
                   .max_piece = 7,
                   .short_write = 0.3,
                   .reset = 0.02};
  SimLoop loop(world);
  const auto dialer = network.dialer(loop);
  std::vector<std::unique_ptr<Caller>> callers;
  Random choice(seed + 1);
  for (int step = 0; step < 300; ++step) {
    switch (choice.below(8)) {
      case 0:
        callers.push_back(std::make_unique<Caller>());
        callers.back()->call(*dialer, "one", 1883, world.now().mono + 100ms);
        break;
      case 1:
        if (!callers.empty()) callers.erase(callers.begin());
        break;
      case 2:
        server.stop();
        break;
      case 3:
        server.go_on();
        break;
      case 4:
        if (choice.below(4) == 0) server.crash();
        break;
      case 5:
        if (!server.alive()) server.restart();
        break;
      case 6:
        if (choice.below(8) == 0) server.cut_off();
        break;
      default:
        server.reconnect();
    }
    for (const auto& caller : callers) {
      if (caller->stream != nullptr) caller->write(std::string(choice.below(200), 'c'));
    }
    world.run_for(std::chrono::microseconds(choice.below(5000)));
    for (const auto& caller : callers) EXPECT_LE(caller->closed, 1);
  }
  callers.clear();
  return world.trace();
}

TEST(SimDeterminism, ARunIsRepeatedByItsSeedAndDiffersFromOthers) {
  std::vector<std::uint64_t> traces;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    traces.push_back(chaos(seed));
    EXPECT_EQ(chaos(seed), traces.back()) << "seed " << seed;
  }
  std::ranges::sort(traces);
  EXPECT_EQ(std::ranges::adjacent_find(traces), traces.end());
}

}  // namespace
}  // namespace sheaf::sim
