#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/random.h"
#include "base/read_clocks.h"
#include "socket/uv/uv_loop.h"
#include "store/pipe/pipe_dialer.h"
#include "tests/store/pipe/raw_client.h"

namespace sheaf::store::pipe {
namespace {

using namespace std::chrono_literals;
using test::command;
using test::RawClient;

// A client's loop, on whatever thread runs it.
class Lane {
 public:
  // Runs the loop until `done`. False after a minute.
  bool run(const std::function<bool()>& done) {
    const Deadline end = read_monotonic() + 60s;
    while (!done()) {
      if (read_monotonic() > end) return false;
      loop->turn(end);
    }
    return true;
  }
  void turn_once() {
    loop->do_not_wait();
    loop->turn(never);
  }

  std::unique_ptr<socket::UvLoop> loop = *socket::UvLoop::create({});
};

Engines engines_of(std::string_view name, unsigned count = 1, const EngineOptions& options = {}) {
  auto engines = open_engines(name, count, options);
  EXPECT_TRUE(engines.has_value()) << engines.error();
  return engines.value_or(Engines{});
}

// One client of one engine on its own loop.
struct Party {
  explicit Party(std::string id, std::string_view engine = "shared", bool connected = true)
      : dialer(std::make_unique<PipeDialer>(*lane.loop, engines_of(engine))),
        client(std::move(id)) {
    client.on_event = [this] { lane.loop->do_not_wait(); };
    if (connected) connect();
  }
  void connect() {
    client.dial(*dialer, {"embedded", 0}, never);
    EXPECT_TRUE(lane.run([&] { return client.ready; }));
  }
  std::string ask(const std::vector<std::string_view>& parts) {
    const std::string correlation = std::to_string(++asked);
    client.request(correlation, command(parts));
    EXPECT_TRUE(lane.run([&] { return client.replies.contains(correlation); }));
    auto answers = client.replies.extract(correlation);
    EXPECT_EQ(answers.mapped().size(), 1u);
    return answers.mapped().front();
  }

  Lane lane;
  std::unique_ptr<PipeDialer> dialer;
  RawClient client;
  int asked = 0;
};

// Looks into an engine and does nothing for it: its loop never turns.
class Onlooker {
 public:
  explicit Onlooker(std::string_view engine) : pipe_(*lane_.loop, engines_of(engine)) {}
  std::size_t keys() {
    SharedEngine::Guard guard(*pipe_.engine(0), pipe_, lane_.loop->now());
    return guard.host().engine().keys();
  }
  std::uint64_t ticks() {
    return SharedEngine::Guard(*pipe_.engine(0), pipe_, lane_.loop->now()).ticks();
  }

 private:
  Lane lane_;
  PipeLane pipe_;
};

// ---- registry

TEST(Registry, TheSameNameGivesTheSameEnginesWhileSomebodyHoldsThem) {
  Engines first = open_engines("r", 2, {}).value();
  const Engines second = open_engines("r", 3, {}).value();
  EXPECT_EQ(second[0], first[0]);
  EXPECT_EQ(second[1], first[1]);
  EXPECT_NE(second[2], first[0]);
  EXPECT_NE(open_engines("other", 1, {}).value()[0], first[0]);
  const std::weak_ptr<SharedEngine> kept = first[0];
  first.clear();
  EXPECT_FALSE(kept.expired());
  EXPECT_EQ(open_engines("r", 1, {}).value()[0], kept.lock());
}

TEST(Registry, AnEngineEndsWithItsLastClient) {
  std::weak_ptr<SharedEngine> engine;
  {
    Party a("a", "ends");
    EXPECT_EQ(a.ask({"SET", "k", "v"}), "+OK\r\n");
    engine = engines_of("ends")[0];
    Party b("b", "ends");
    EXPECT_EQ(b.ask({"GET", "k"}), "$1\r\nv\r\n");
  }
  EXPECT_TRUE(engine.expired());
  Party c("c", "ends");
  EXPECT_EQ(c.ask({"GET", "k"}), "$-1\r\n");
}

TEST(Registry, OtherOptionsForAnOpenEngineAreRefusedInOneSentence) {
  EngineOptions small;
  small.max_keys = 10;
  const Engines held = engines_of("options", 1, small);
  EXPECT_EQ(engines_of("options", 1, small), held);
  const auto other = open_engines("options", 1, {});
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error(),
            "embedded engine 0 of 'options' is already open in this process with other options");
  EXPECT_EQ(held[0]->options().max_keys, 10u);
}

// ---- one lane

TEST(Pipe, ADialIsAnsweredOutOfATurnOnly) {
  Party party("p", "dial", false);
  party.client.dial(*party.dialer, {"embedded", 0}, never);
  EXPECT_TRUE(party.client.connecting());
  EXPECT_TRUE(party.lane.run([&] { return party.client.ready; }));
}

TEST(Pipe, AnUnknownIndexIsReported) {
  Party party("p", "index", false);
  party.client.dial(*party.dialer, {"embedded", 7}, never);
  EXPECT_TRUE(party.lane.run([&] { return !party.client.failed.empty(); }));
  EXPECT_EQ(party.client.failed, "there is no embedded engine 7");
}

TEST(Pipe, ADestroyedDialCallsNobody) {
  Party party("p", "gone", false);
  party.client.dial(*party.dialer, {"embedded", 0}, never);
  party.client.leave();
  party.lane.turn_once();
  EXPECT_EQ(party.client.stream(), nullptr);
  EXPECT_TRUE(party.client.failed.empty());
}

TEST(Pipe, RepliesComeOutOfATurnAndAreComplete) {
  Party party("p", "basic");
  const std::string value("a\r\n\0b", 5);
  party.client.request("s", command({"SET", "k", value}));
  EXPECT_TRUE(party.client.replies.empty()) << "not from inside write()";
  EXPECT_TRUE(party.lane.run([&] { return party.client.replies.contains("s"); }));
  EXPECT_EQ(party.ask({"GET", "k"}), "$5\r\n" + value + "\r\n");
  using enum protocol::mqtt5::ReasonCode;
  EXPECT_EQ(party.client.acknowledged, (std::vector{success, success}));
}

TEST(Pipe, TenMebibytesComeBackByteForByteInPiecesOfAnySize) {
  Party party("p", "big");
  std::string value(10 << 20, 0);
  Random(1).fill(std::as_writable_bytes(std::span(value)));
  EXPECT_EQ(party.ask({"SET", "k", value}), "+OK\r\n");
  for (const std::size_t space : {std::size_t{1000}, std::size_t{1} << 20}) {
    party.client.largest_space = space;
    EXPECT_TRUE(party.ask({"GET", "k"}) == "$10485760\r\n" + value + "\r\n");
  }
}

TEST(Pipe, AReaderThatPausesGetsTheRestWhenItGoesOn) {
  Party party("p", "pause");
  EXPECT_EQ(party.ask({"SET", "k", std::string(100'000, 'x')}), "+OK\r\n");
  party.client.reading = false;
  for (int i = 0; i < 50; ++i) party.client.request("g" + std::to_string(i), command({"GET", "k"}));
  for (int i = 0; i < 5; ++i) party.lane.turn_once();
  EXPECT_TRUE(party.client.replies.empty());
  EXPECT_TRUE(party.client.blocked) << "the engine takes no more requests either";
  party.client.reading = true;
  EXPECT_TRUE(party.lane.run([&] { return party.client.replies.size() == 50; }));
}

TEST(Pipe, GarbageEndsTheConnectionInOrder) {
  Party party("p", "garbage");
  party.client.send(std::string(64, '\xff'));
  EXPECT_TRUE(party.lane.run([&] { return party.client.closed; }));
  EXPECT_EQ(party.client.stream(), nullptr);
}

TEST(Pipe, AnExpiredKeyIsReportedByTheLoopsTimerAlone) {
  Party party("p", "expiry");
  EXPECT_EQ(party.ask({"SET", "k", "v", "PX", "20"}), "+OK\r\n");
  EXPECT_EQ(party.ask({"KEYNOTIFY", "k"}), "+OK\r\n");
  EXPECT_TRUE(party.lane.run([&] { return !party.client.notifications.empty(); }));
}

// If the timer is not moved to the next expiry, it fires in every turn.
TEST(Pipe, TheLoopSleepsFromOneExpiryToTheNext) {
  Party party("p", "sleep");
  EXPECT_EQ(party.ask({"SET", "first", "v", "PX", "20"}), "+OK\r\n");
  EXPECT_EQ(party.ask({"SET", "second", "v", "PX", "200"}), "+OK\r\n");
  Onlooker onlooker("sleep");
  EXPECT_TRUE(party.lane.run([&] { return onlooker.keys() <= 1; }));
  int turns = 0;
  EXPECT_TRUE(party.lane.run([&] { return ++turns, onlooker.keys() == 0; }));
  EXPECT_LE(turns, 20);
}

TEST(Pipe, EachEngineHasItsOwnKeysAndItsOwnTimer) {
  Lane lane;
  PipeDialer dialer(*lane.loop, engines_of("several", 3));
  RawClient zero("c");
  RawClient two("c");
  zero.on_event = two.on_event = [&] { lane.loop->do_not_wait(); };
  zero.dial(dialer, {"embedded", 0}, never);
  two.dial(dialer, {"embedded", 2}, never);
  EXPECT_TRUE(lane.run([&] { return zero.ready && two.ready; }));
  for (RawClient* client : {&zero, &two}) client->request("watch", command({"KEYNOTIFY", "k"}));
  two.request("set", command({"SET", "k", "v", "PX", "30"}));
  EXPECT_TRUE(lane.run([&] { return two.replies.contains("set"); }));
  zero.request("get", command({"GET", "k"}));
  EXPECT_TRUE(lane.run([&] { return two.notifications.size() == 2; }));
  EXPECT_EQ(zero.replies["get"], std::vector<std::string>{"$-1\r\n"});
  EXPECT_TRUE(zero.notifications.empty());
}

TEST(Pipe, ASinkMayEndItsStreamWhileItReads) {
  Party party("p", "suicide");
  party.client.request("g", command({"GET", "k"}));
  party.client.on_publish = [&] { party.client.leave(); };
  EXPECT_TRUE(party.lane.run([&] { return party.client.stream() == nullptr; }));
  EXPECT_FALSE(party.client.closed);
  party.lane.turn_once();
}

// ---- several lanes

TEST(PipeLanes, ATakenOverClientIsNotifiedOnItsOwnLoop) {
  Party old("same");
  Party other("same");
  EXPECT_TRUE(old.lane.run([&] { return old.client.closed; }));
  EXPECT_EQ(other.ask({"GET", "k"}), "$-1\r\n");
}

TEST(PipeLanes, ANotificationWakesTheOtherThreadsLoop) {
  Party watcher("watcher");
  EXPECT_EQ(watcher.ask({"KEYNOTIFY", "k"}), "+OK\r\n");
  std::thread other([] {
    Party writer("writer");
    EXPECT_EQ(writer.ask({"SET", "k", "v"}), "+OK\r\n");
  });
  const auto own = std::this_thread::get_id();
  std::thread::id seen;
  watcher.client.on_publish = [&] { seen = std::this_thread::get_id(); };
  EXPECT_TRUE(watcher.lane.run([&] { return !watcher.client.notifications.empty(); }));
  EXPECT_EQ(seen, own);
  EXPECT_EQ(watcher.client.notifications[0].first,
            protocol::statestore::notification_topic("watcher", "k"));
  other.join();
}

// The heir neither asks nor is notified meanwhile: either would make it look at the engine's time.
TEST(PipeLanes, TheTimerOfAClientThatLeavesIsTakenOver) {
  Party heir("heir", "left");
  heir.lane.turn_once();
  {
    Party writer("writer", "left");
    EXPECT_EQ(writer.ask({"SET", "k", "v", "PX", "50"}), "+OK\r\n");
  }
  Onlooker onlooker("left");
  EXPECT_TRUE(heir.lane.run([&] { return onlooker.keys() == 0; }));
}

// Each client sets a key, so each lane has a reason to look at the engine. If every lane did so at
// every expiry, there would be a tick for each pair of them.
TEST(PipeLanes, OneTickServesAllClientsOfAnEngine) {
  constexpr int clients = 16;
  std::vector<std::unique_ptr<Party>> parties;
  for (int i = 0; i < clients; ++i) {
    parties.push_back(std::make_unique<Party>("client" + std::to_string(i), "ticks"));
    const std::string key = "key" + std::to_string(i);
    const std::string life = std::to_string(50 + 15 * i);
    EXPECT_EQ(parties.back()->ask({"SET", key, "v", "PX", life}), "+OK\r\n");
  }
  Onlooker onlooker("ticks");
  EXPECT_TRUE(parties[0]->lane.run([&] {
    for (const auto& party : parties) party->lane.turn_once();
    parties[0]->lane.loop->do_not_wait();
    return onlooker.keys() == 0;
  }));
  EXPECT_LE(onlooker.ticks(), 2u * clients);
}

// No thread turns the loop of the client whose key expires.
TEST(PipeLanes, AnotherLaneKeepsTheTimeOfOneThatIsNotTurned) {
  Party watcher("watcher", "late");
  EXPECT_EQ(watcher.ask({"KEYNOTIFY", "k"}), "+OK\r\n");
  Party writer("writer", "late");
  EXPECT_EQ(writer.ask({"SET", "k", "v", "PX", "20"}), "+OK\r\n");
  EXPECT_TRUE(watcher.lane.run([&] { return watcher.client.notifications.size() == 2; }));
}

// Each lane's own clock is as old as its turn.
TEST(PipeLanes, TheTimeOfAnEngineThatTheyShareNeverGoesBack) {
  Lane lane;
  PipeLane pipe(*lane.loop, engines_of("time"));
  const Now now = lane.loop->now();
  const Now later{now.mono + 1ms, now.wall};
  for (const Now& own : {later, now}) {
    const SharedEngine::Guard guard(*pipe.engine(0), pipe, own);
    EXPECT_EQ(guard.now().mono, later.mono);
  }
}

TEST(PipeLanes, PartsMayBeDestroyedInAnyOrder) {
  for (int order = 0; order < 6; ++order) {
    auto a = std::make_unique<Party>("a", "order");
    auto b = std::make_unique<Party>("b", "order");
    EXPECT_EQ(a->ask({"KEYNOTIFY", "k"}), "+OK\r\n");
    EXPECT_EQ(b->ask({"SET", "k", "v"}), "+OK\r\n");  // a has mail now
    switch (order) {
      case 0:
        a.reset();
        break;
      case 1:
        b.reset();
        break;
      case 2:
        a->dialer.reset();
        break;
      case 3:
        a->client.leave();
        break;
      case 4:
        a->dialer.reset();
        a->client.leave();
        b->dialer.reset();
        break;
      default:
        a->client.leave();
        a.reset();
        b->client.leave();
    }
    if (b != nullptr && b->client.stream() != nullptr) {
      EXPECT_EQ(b->ask({"DEL", "k"}), ":1\r\n");
    }
    if (a != nullptr && a->client.stream() != nullptr) {
      EXPECT_TRUE(a->lane.run([&] { return !a->client.notifications.empty(); }));
    }
  }
}

TEST(PipeLanes, ThreadsThatShareAnEngineLoseNothing) {
  constexpr int rounds = 300;
  std::atomic<int> running = 4;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([number, &running] {
      const std::string own = "key" + std::to_string(number);
      const std::string next = "key" + std::to_string((number + 1) % 4);
      Party party("client" + std::to_string(number), "stress");
      EXPECT_EQ(party.ask({"KEYNOTIFY", next}), "+OK\r\n");
      for (int i = 0; i < rounds; ++i) {
        const std::string value = own + ":" + std::to_string(i);
        EXPECT_EQ(party.ask({"SET", own, value}), "+OK\r\n");
        EXPECT_NE(party.ask({"GET", own}).find(value), std::string::npos);
        EXPECT_NE(party.ask({"GET", next})[0], '-');
      }
      --running;
      // No thread leaves while others may still write, so every change of `next` after the last
      // KEYNOTIFY was notified.
      EXPECT_TRUE(party.lane.run([&] {
        party.client.request("poll", command({"GET", own}));
        return running == 0;
      }));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(PipeLanes, ClientsThatComeAndGoDisturbNobody) {
  std::atomic<bool> stop = false;
  std::thread visitor([&stop] {
    for (int i = 0; !stop; ++i) {
      Party party("visitor", "visits");
      EXPECT_EQ(party.ask({"KEYNOTIFY", "k"}), "+OK\r\n");
      if (i % 2 == 0) {
        EXPECT_EQ(party.ask({"SET", "visited", "v", "PX", "1"}), "+OK\r\n");
      }
    }
  });
  Party party("resident", "visits");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(party.ask({"SET", "k", std::to_string(i)}), "+OK\r\n");
  stop = true;
  visitor.join();
}

}  // namespace
}  // namespace sheaf::store::pipe
