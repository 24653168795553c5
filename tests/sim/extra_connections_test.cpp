// Extra connections of a real client whose server closes them, accepts no more of them, stops, or
// goes down. Two simulated threads call the client, which makes an extra connection worthwhile. For
// the order of writes see also tests/sim/rooms/late_write_room_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include <sheaf/client.h>

#include "base/quiet_thread.h"
#include "base/read_clocks.h"
#include "client/client_impl.h"
#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/kit/sim_transport.h"
#include "tests/sim/kit/stack.h"
#include "tests/sim/kit/thread_checks.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// A client of two memcached servers with an extra connection to the first.
class ReadWorld {
 public:
  explicit ReadWorld(std::chrono::milliseconds idle_timeout)
      : stack_(1, 2, EndpointKind::memcached) {
    stack_.config.idle_timeout = idle_timeout;
    stack_.config.timeout = 200ms;
    stack_.broker(1).faults.delay = 10ms;
    for (unsigned i = 0; i < 8; ++i) keys_.push_back(stack_.key_on(0, i));
    slow_key_ = stack_.key_on(1);
  }

  void open() {
    use_network(stack_.network, {});
    client_.emplace(*Client::open(stack_.config));
    for (const std::string& key : keys_) check(client_->set(key, key).has_value(), "no set");
    check(client_->get(slow_key_).has_value(), "no get");
    batch();  // it could have used one more connection, which is made for later
    pass(10ms);
    check(server().connections() == 2, "there is no extra connection");
    const std::uint64_t before = server().packets_on(1);
    check(batch().found == 8, "a batch failed");
    check(server().packets_on(1) > before, "the extra connection is not used");
  }

  void close() { client_.reset(); }

  // Makes these the client's only servers.
  void set_servers(const std::vector<unsigned>& numbers) {
    std::vector<NodeConfig> servers;
    for (const unsigned number : numbers) servers.push_back(stack_.config.nodes[number]);
    const auto updated = client::Internals::context(*client_).update(servers);
    check(updated.has_value(), "the servers cannot be changed");
  }

  struct Batch {
    unsigned found = 0;
    std::chrono::nanoseconds took{0};
  };
  // Reads the keys of the first server while another thread waits for the second.
  Batch batch() { return batches(1).front(); }
  // Does the same several times in a row.
  std::vector<Batch> batches(int times) {
    std::vector<Batch> all;
    next_to_another_caller([&] {
      for (int i = 0; i < times; ++i) all.push_back(read());
    });
    return all;
  }
  // The same with one key, or with all. The connections of the first server end before it has
  // answered. Returns how many keys were found.
  unsigned found_by_a_get_that_is_cut_off() {
    unsigned found = 0;
    next_to_another_caller([&] {
      cut_off_in_flight();
      const auto got = client_->get(keys_[0]);
      if (got && got->has_value() && (*got)->data == keys_[0]) ++found;
    });
    return found;
  }
  unsigned found_by_a_batch_that_is_cut_off() {
    unsigned found = 0;
    next_to_another_caller([&] {
      cut_off_in_flight();
      found = read().found;
    });
    return found;
  }
  // Sets the first key, next to another caller or alone. Returns what became of it.
  std::optional<Outcome> set(std::string_view value) {
    const auto done = client_->set(keys_[0], value);
    return done ? std::nullopt : std::optional(done.error().outcome);
  }
  // Sets it to "first" while the server is stopped, so that this ends without an answer, and then
  // to "second". Meanwhile the server continues. `alone`: no other caller during the first one.
  std::string value_after_a_late_set(bool alone) {
    std::optional<Outcome> second;
    server().stop();
    if (alone) check(set("first") == Outcome::unknown, "a stopped server answered");
    next_to_another_caller([&] {
      if (!alone) check(set("first") == Outcome::unknown, "a stopped server answered");
      stack_.world.after(50ms, [this](Now) { server().go_on(); });
      second = set("second");
    });
    check(!second, "the second set failed");
    const auto got = client_->get(keys_[0]);
    check(got && got->has_value(), "no value");
    return (*got)->data;
  }
  // No late write is left, so that sets use this extra connection again.
  void pass_until_settled(std::size_t connection) {
    pass(1s);
    const std::uint64_t before = server().packets_on(connection);
    next_to_another_caller([&] {
      for (int i = 0; i < 3; ++i) {
        check(!set("later"), "a set failed");
        pass(10ms);
      }
    });
    check(server().packets_on(connection) > before, "sets use no extra connection any more");
  }
  void next_to_another_caller(const std::function<void()>& steps) { next_to_callers(1, steps); }
  void next_to_callers(unsigned count, const std::function<void()>& steps) {
    std::atomic<bool> over = false;
    std::vector<QuietThread> others;
    for (unsigned i = 0; i < count; ++i) {
      others.emplace_back("other", [&] {
        do {
          static_cast<void>(client_->get(slow_key_));
        } while (!over);
      });
    }
    pass(5ms);
    steps();
    over = true;
    for (QuietThread& other : others) other.join();
  }
  // Reads many keys of both servers next to more callers than would have a connection each.
  // Returns true if that is done on extra connections.
  bool a_large_batch_leaves_the_clients_own_connection() {
    for (unsigned i = 0; i < 8; ++i) keys_.push_back(stack_.key_on(1, i));
    const auto own = [this] { return server().packets_on(0); };
    bool leaves = false;
    next_to_callers(5, [&] {
      for (int i = 0; i < 20 && !leaves; ++i) {  // connections are made for later
        const std::uint64_t before = own();
        check(read().found == 8, "a batch failed");
        leaves = own() == before;
        pass(10ms);
      }
    });
    return leaves;
  }
  // Twelve threads read so many keys of the first server again and again, next to each other. A
  // batch takes some milliseconds. Returns the number of batches of each thread.
  std::vector<unsigned> batches_of_twelve(unsigned keys) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < keys; ++i) names.push_back(stack_.key_on(0, i));
    const std::vector<std::string_view> views(names.begin(), names.end());
    server().faults.delay = 4ms;
    std::vector<unsigned> batches(12, 0);
    std::vector<QuietThread> readers;
    const Deadline start = read_monotonic();
    for (unsigned& done : batches) {
      readers.emplace_back("reader", [&] {
        for (Deadline now = start; now < start + 600ms; now = read_monotonic()) {
          const auto got = client_->get_many(views);
          check(got.front().result.has_value(), "a get failed");
          if (now > start + 300ms) ++done;  // all connections have been made
        }
      });
    }
    for (QuietThread& reader : readers) reader.join();
    return batches;
  }
  // Reads many keys, with a short timeout, while all connections are used by others whose server
  // does not answer. Returns how long that took.
  std::chrono::nanoseconds time_of_a_batch_whose_turn_does_not_come() {
    static_cast<void>(batches_of_twelve(512));
    std::vector<std::string> names;
    for (unsigned i = 0; i < 512; ++i) names.push_back(stack_.key_on(0, i));
    const std::vector<std::string_view> views(names.begin(), names.end());
    std::vector<QuietThread> readers;
    server().stop();
    for (unsigned i = 0; i < 12; ++i) {  // the first ones see no others
      readers.emplace_back("reader", [&] { static_cast<void>(client_->get_many(views)); });
    }
    pass(10ms);
    const Deadline start = read_monotonic();
    static_cast<void>(client_->get_many(views, {.timeout = 30ms}));
    const auto took = read_monotonic() - start;
    server().go_on();
    for (QuietThread& reader : readers) reader.join();
    return took;
  }
  void find_contention() { sim::find_contention(*client_); }
  // How many writes are awaited after one whose connection the server, or the client, has ended.
  unsigned late_after_a_set_that_the_server_cut_off() {
    return late_after([this] { cut_off_in_flight(); });
  }
  unsigned late_after_a_set_that_timed_out() {
    return late_after([this] { server().stop(); });
  }
  void until(NodeHealth health) {
    while (client_->stats()[0].health != health) {
      static_cast<void>(client_->get(keys_[0]));
      pass(10ms);
    }
  }
  SimServer& server() { return stack_.broker(0); }
  SimWorld& world() { return stack_.world; }

 private:
  unsigned late_after(const std::function<void()>& fault) {
    unsigned late = 0;
    next_to_another_caller([&] {
      fault();
      check(set("value") == Outcome::unknown, "the set was answered");
      late = client::Internals::context(*client_).extra_connections()->late_writes();
    });
    return late;
  }
  void cut_off_in_flight() {
    server().faults.delay = 2ms;
    stack_.world.after(1ms, [this](Now) { server().reset_all(); });
  }
  Batch read() {
    const std::vector<std::string_view> names(keys_.begin(), keys_.end());
    Batch batch;
    const Deadline before = stack_.world.now().mono;
    for (const auto& [key, got] : client_->get_many(names)) {
      if (got && got->has_value() && (*got)->data == key) ++batch.found;
    }
    batch.took = stack_.world.now().mono - before;
    return batch;
  }

  Stack stack_;
  std::vector<std::string> keys_;
  std::string slow_key_;
  std::optional<Client> client_;
};

void run(std::chrono::milliseconds idle_timeout, const std::function<void(ReadWorld&)>& steps) {
  const auto world = std::make_shared<ReadWorld>(idle_timeout);
  EXPECT_EQ(SimThreads::run(world->world(), 1,
                            [world, steps] {
                              world->open();
                              steps(*world);
                              world->close();
                            }),
            "");
}

TEST(ExtraConnections, ABatchAfterAnIdleCloseGoesOnTheClientsOwnConnection) {
  run(50ms, [](ReadWorld& world) {
    pass(1s);
    check(world.server().connections() == 1, "the extra connection was not closed");
    world.server().full = true;
    check(world.batch().found == 8, "the batch went on a connection that is closed");
  });
}

// Only the client's own connection finds out whether the node is down. An extra connection that
// gave no answer is not used again, even before its end is noticed.
TEST(ExtraConnections, TheBatchAfterOneThatWasNotAnsweredGoesOnTheClientsOwnConnection) {
  run(60s, [](ReadWorld& world) {
    world.server().stop();
    const std::uint64_t before = world.server().packets_on(0);
    const auto batches = world.batches(2);
    check(batches[0].found + batches[1].found == 0, "a stopped server answered");
    check(world.server().packets_on(0) > before, "the client's own connection was not used");
  });
}

TEST(ExtraConnections, ABatchOfANodeThatIsDownFailsAtOnce) {
  run(60s, [](ReadWorld& world) {
    world.server().cut_off();
    world.until(NodeHealth::down);
    const ReadWorld::Batch batch = world.batch();
    check(batch.found == 0, "a server that was cut off answered");
    check(batch.took < 1ms, "the batch waited for a node that is down");
  });
}

// The extra connection dies while the server is cut off, and no one has noticed yet.
TEST(ExtraConnections, BatchesOfANodeThatReturnsGoOnTheClientsOwnConnection) {
  run(60s, [](ReadWorld& world) {
    world.server().cut_off();
    world.until(NodeHealth::down);
    world.server().reconnect();
    world.until(NodeHealth::recovering);
    check(world.batch().found == 8, "the batch went on a connection that is dead");
    world.until(NodeHealth::up);
    check(world.batch().found == 8, "a batch after the return went on a dead connection");
  });
}

// On the client's own connection they would fail: it may not repeat what it has sent.
TEST(ExtraConnections, KeysWhoseConnectionEndsAreReadAgainOnTheClientsOwn) {
  run(60s,
      [](ReadWorld& world) { check(world.found_by_a_get_that_is_cut_off() == 1, "a get failed"); });
  run(60s, [](ReadWorld& world) {
    check(world.found_by_a_batch_that_is_cut_off() == 8, "a batch failed");
  });
}

// The system shares out processors by threads that can run.
TEST(ExtraConnections, LargeBatchesOfManyCallersUseThemWhereOthersCompute) {
  run(60s, [](ReadWorld& world) {
    check(!world.a_large_batch_leaves_the_clients_own_connection(), "an extra connection is used");
  });
  run(60s, [](ReadWorld& world) {
    world.find_contention();
    check(world.a_large_batch_leaves_the_clients_own_connection(), "it shares a connection");
  });
}

// Otherwise four of them would share the client's own connection, which is served like each of the
// eight others.
TEST(ExtraConnections, ThreadsTakeTurnsWithLargeBatches) {
  run(60s, [](ReadWorld& world) {
    const auto large = world.batches_of_twelve(512);
    const auto [least, most] = std::ranges::minmax(large);
    check(least > 0 && 10 * least > 9 * most, "some threads have fewer turns");
    check(world.server().connections() == 9, "there are not eight extra connections");
  });
}

TEST(ExtraConnections, ALargeBatchWaitsForOneUntilItsDeadlineAtMost) {
  run(60s, [](ReadWorld& world) {
    check(world.time_of_a_batch_whose_turn_does_not_come() <= 32ms, "the batch ended too late");
  });
}

TEST(ExtraConnections, ASetUsesOneNextToAnotherCaller) {
  run(60s, [](ReadWorld& world) {
    const std::uint64_t before = world.server().packets_on(1);
    world.next_to_another_caller([&] { check(!world.set("value"), "a set failed"); });
    check(world.server().packets_on(1) > before, "the set went on the client's own connection");
  });
}

// The server reads the client's own connection first when it continues, so the second set would be
// carried out before the first one.
TEST(ExtraConnections, NoSetOvertakesOneThatEndedWithoutAnAnswer) {
  run(60s, [](ReadWorld& world) {
    check(world.value_after_a_late_set(false) == "second", "the sets changed places");
    world.pass_until_settled(1);
  });
}

// The client's own connection is replaced, so it is the second one then.
TEST(ExtraConnections, ASetAfterOneWithoutAnAnswerOnTheClientsOwnConnectionGoesThere) {
  run(60s, [](ReadWorld& world) {
    const std::uint64_t before = world.server().packets_on(1);
    check(world.value_after_a_late_set(true) == "second", "the sets changed places");
    check(world.server().packets_on(0) == before, "the second set used the extra connection");
    world.pass_until_settled(0);
  });
}

// A server that has ended a connection carries out nothing of it that it had not read.
TEST(ExtraConnections, AWriteIsLateUnlessTheServerEndedItsConnection) {
  run(60s, [](ReadWorld& world) {
    check(world.late_after_a_set_that_the_server_cut_off() == 0, "a write is awaited");
    pass(1s);
  });
  run(60s, [](ReadWorld& world) {
    check(world.late_after_a_set_that_timed_out() == 1, "the write is not awaited");
  });
}

TEST(ExtraConnections, TheyFollowTheTopology) {
  run(60s, [](ReadWorld& world) {
    world.set_servers({1});
    check(world.batch().found == 0, "a server that has left answered");
    pass(1s);
    check(world.server().connections() == 0, "a server that has left keeps a connection");
    world.set_servers({0, 1});
    check(world.batch().found == 8, "the server that is back is not asked");
    pass(1s);
    check(world.batch().found == 8, "a batch failed");
    pass(10ms);
    const std::uint64_t before = world.server().packets_on(1);
    check(world.batch().found == 8, "a batch on the extra connection failed");
    check(world.server().packets_on(1) > before, "there is no extra connection any more");
  });
}

// A server with an ID that the map does not name is a stranger on extra connections as well.
TEST(ExtraConnections, TheyKnowTheServersOfTheLatestMap) {
  using client::runtime::Path;
  const auto stack = std::make_shared<Stack>(1, 1, EndpointKind::memcached);
  const auto steps = [&stack] {
    use_network(stack->network, {});
    const auto topology = cluster::Topology::make(stack->config);
    const protocol::EndpointTraits& traits = protocol::traits_of(stack->config.kind);
    test::NoEvents events;
    std::vector<Path*> paths;
    client::runtime::ExtraConnections connections(2, 1, [&] {
      auto path =
          Path::open(stack->config, topology, traits.make_sessions(stack->config, Random(1).fork()),
                     {}, events, Random(2).fork());
      paths.push_back(path->get());
      paths.back()->lane().start();
      return std::move(*path);
    });
    const client::runtime::ExtraConnections::Server server{topology->members()[0].index(), 0};
    const auto borrow = [&] { return connections.borrow({{&server, 1}, topology->epoch()}, 0s); };
    const auto known_by = [&](std::size_t number) {
      std::shared_ptr<const protocol::KnownServers> known;
      paths[number]->run([&](Now) { known = paths[number]->sessions().known(); });
      return known;
    };
    check(!borrow(), "a connection is lent before it is ready");
    pass(10ms);
    const auto first = borrow();
    check(static_cast<bool>(first), "no connection is ready");
    const auto known = std::make_shared<const protocol::KnownServers>();
    connections.on_map(topology, known);
    check(known_by(0) == known, "a connection does not know the servers");
    check(!borrow(), "a second connection is lent before it is ready");
    check(known_by(1) == known, "a connection that was made later does not know the servers");
  };
  EXPECT_EQ(SimThreads::run(stack->world, 1, steps), "");
}

// A thousand servers would otherwise get 8,000 connections from eight threads, and each change of
// the servers would be made nine times.
TEST(ExtraConnections, ManyServersGetFewerEach) {
  const auto fleet = [](unsigned servers) {
    ClusterConfig config;
    config.kind = EndpointKind::memcached;
    for (unsigned i = 0; i < servers; ++i) config.nodes.push_back({"h" + std::to_string(i), 1, 1});
    return cluster::Topology::make(config);
  };
  const auto limit = [](unsigned option, std::size_t servers) {
    return client::runtime::ExtraConnections(option, servers, [] { return nullptr; }).limit();
  };
  EXPECT_EQ(limit(8, 1), 8u);
  EXPECT_EQ(limit(8, 128), 8u);
  EXPECT_EQ(limit(8, 129), 7u);
  EXPECT_EQ(limit(8, 1'000), 1u);
  EXPECT_EQ(limit(2, 512), 2u);
  EXPECT_EQ(limit(64, 2'000), 1u);
  client::runtime::ExtraConnections connections(8, 1, [] { return nullptr; });
  connections.on_map(fleet(300), nullptr);
  EXPECT_EQ(connections.limit(), 3u);
  connections.on_map(fleet(2), nullptr);
  EXPECT_EQ(connections.limit(), 8u);
}

}  // namespace
}  // namespace sheaf::sim
