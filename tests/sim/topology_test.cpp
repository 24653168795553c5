// The servers of a cluster change while requests, locks and watches are in progress: on the real
// stack, with servers that each have their own store. With a seed they may share one, and several
// operations on a key are in flight: see Changes.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/stack.h"
#include "tests/sim/kit/write_order.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using client::calls::WatchStart;
using client::calls::WatchUpdate;

struct TopologyChange : testing::Test {
  explicit TopologyChange(EndpointKind kind = EndpointKind::state_store) : stack(41, 3, kind) {
    all = stack.config.nodes;
    stack.config.nodes = {all[0], all[1]};
    stack.events = &log;
  }
  void pass(std::chrono::nanoseconds time) { stack.world.run_for(time); }
  std::string name(unsigned server) const { return all[server].identity(); }
  // A key that `owner` owns in a cluster of these servers.
  std::string key_of(unsigned owner, const std::vector<NodeConfig>& servers, unsigned number = 0) {
    ClusterConfig config = stack.config;
    config.nodes = servers;
    const auto topology = cluster::Topology::make(config);
    for (unsigned i = 0;; ++i) {
      const std::string key = "key" + std::to_string(i);
      if (topology->identity(topology->owner(key)) == name(owner) && number-- == 0) return key;
    }
  }
  // A key that moves from one server to another.
  std::string mover(unsigned from, const std::vector<NodeConfig>& before, unsigned to,
                    const std::vector<NodeConfig>& after) {
    ClusterConfig config = stack.config;
    config.nodes = before;
    const auto old_one = cluster::Topology::make(config);
    config.nodes = after;
    const auto new_one = cluster::Topology::make(config);
    for (unsigned i = 0;; ++i) {
      const std::string key = "key" + std::to_string(i);
      if (old_one->identity(old_one->owner(key)) == name(from) &&
          new_one->identity(new_one->owner(key)) == name(to)) {
        return key;
      }
    }
  }
  std::vector<std::string> topology_log() {
    std::vector<std::string> lines;
    for (const LogRecord& record : log.records) {
      if (record.operation == "topology") lines.push_back(record.node + " " + record.text);
    }
    return lines;
  }

  test::RecordedEvents log;
  Stack stack;
  std::vector<NodeConfig> all;
};

TEST_F(TopologyChange, NodesAreMadeAndRetiredAndTheirConnectionsClose) {
  StackClient& client = stack.add_client();
  pass(100ms);
  EXPECT_EQ(stack.broker(1).connections(), 1u);
  client.set_servers({all[0], all[2]});
  pass(100ms);
  EXPECT_EQ(stack.broker(0).connections(), 1u);
  EXPECT_EQ(stack.broker(1).connections(), 0u);
  EXPECT_EQ(stack.broker(2).connections(), 1u);
  EXPECT_EQ(client.cluster().nodes().size(), 2u);
  EXPECT_EQ(topology_log(), (std::vector<std::string>{name(2) + " joined the cluster",
                                                      name(1) + " left the cluster"}));
  const auto stats = client.cluster().nodes().stats();
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(stats[0].node, name(0));
  EXPECT_EQ(stats[1].node, name(2));
  const std::string key = key_of(2, {all[0], all[2]});
  const Op& op = client.get(key, 1s);
  pass(100ms);
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, name(2));
}

TEST_F(TopologyChange, WhatIsInFlightEndsWhereItIsAndThenTheNodeCloses) {
  StackClient& client = stack.add_client();
  pass(100ms);
  stack.broker(1).faults.delay = 200ms;
  const std::string key = mover(1, {all[0], all[1]}, 0, {all[0]});
  const Op& op = client.set(key, "v", 2s);
  pass(10ms);
  client.set_servers({all[0]});
  pass(100ms);
  EXPECT_EQ(op.ended, 0u);
  EXPECT_EQ(client.cluster().nodes().size(), 2u);
  const Op& another = client.get("another " + key, 1s);
  const Op& later = client.get(key, 1s);
  pass(50ms);
  EXPECT_TRUE(another.answered);
  EXPECT_EQ(another.node, name(0)) << "nothing new goes to a node that has left";
  EXPECT_EQ(later.ended, 0u) << "it waits for the one before it on its key";
  pass(1s);
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, name(1));
  EXPECT_TRUE(later.answered);
  EXPECT_EQ(later.node, name(0));
  EXPECT_EQ(client.cluster().nodes().size(), 1u);
  EXPECT_EQ(stack.broker(1).connections(), 0u);
}

TEST_F(TopologyChange, ARequestThatNobodyAnswersHoldsItsNodeUntilItsDeadlineOnly) {
  StackClient& client = stack.add_client();
  pass(100ms);
  stack.broker(1).stop();
  const Op& op = client.set(mover(1, {all[0], all[1]}, 0, {all[0]}), "v", 1s);
  pass(10ms);
  client.set_servers({all[0]});
  pass(900ms);
  EXPECT_EQ(op.ended, 0u);
  pass(200ms);
  EXPECT_EQ(op.outcome, Outcome::unknown);
  EXPECT_EQ(op.reason, Reason::timed_out);
  pass(200ms);
  EXPECT_EQ(client.cluster().nodes().size(), 1u);
}

TEST_F(TopologyChange, WhatWaitsGoesToTheNewOwnerOrFailsIfItMayNot) {
  stack.broker(1).cut_off();  // connections to it hang
  StackClient& client = stack.add_client();
  const std::string key = mover(1, {all[0], all[1]}, 0, {all[0]});
  const Op& free = client.get(key, 3s);
  cluster::Request bound;
  struct Ended final : socket::RequestSink {
    unsigned ends = 0;
    Outcome outcome = Outcome::invalid;
    std::string text;
    void on_done(socket::Request&, const socket::Completion& completion) override {
      ++ends;
      outcome = completion.outcome;
      text = completion.text;
    }
  } ended;
  bound.operation.key = key;
  bound.operation.deadline = stack.world.now().mono + 3s;
  bound.at_owner = true;
  bound.sink = &ended;
  client.later([&](Now now) { client.cluster().start(bound, now); });
  pass(100ms);
  EXPECT_EQ(free.ended, 0u);
  EXPECT_EQ(ended.ends, 0u);
  client.set_servers({all[0]});
  pass(100ms);
  EXPECT_TRUE(free.answered);
  EXPECT_EQ(free.node, name(0));
  EXPECT_EQ(ended.ends, 1u);
  EXPECT_EQ(ended.outcome, Outcome::not_sent);
  EXPECT_NE(ended.text.find("topology"), std::string::npos);
}

TEST_F(TopologyChange, AServerThatIsBackBeforeItsNodeHasClosedIsTheSameNode) {
  StackClient& client = stack.add_client();
  pass(100ms);
  stack.broker(1).faults.delay = 100ms;
  const Op& op = client.set(key_of(1, {all[0], all[1]}), "v", 2s);
  pass(10ms);
  const auto* const node = &client.cluster().node(1);
  client.set_servers({all[0]});
  pass(50ms);
  client.set_servers({all[0], all[1]});
  pass(1s);
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(&client.cluster().node(1), node);
  EXPECT_EQ(stack.broker(1).accepted(), 1u);
  EXPECT_EQ(client.cluster().nodes().size(), 2u);
}

TEST_F(TopologyChange, NumbersOfConnectionsAreNotUsedAgainByALaterNodeOfTheIndex) {
  StackClient& client = stack.add_client();
  pass(100ms);
  std::set<std::uint64_t> seen;
  for (int round = 0; round < 4; ++round) {
    const Op& op = client.get(key_of(1, {all[0], all[1]}), 1s);
    pass(200ms);
    ASSERT_TRUE(op.answered);
    EXPECT_TRUE(seen.insert(op.connection).second);
    client.set_servers({all[0]});
    pass(200ms);
    ASSERT_EQ(client.cluster().nodes().size(), 1u);
    client.set_servers({all[0], all[1]});
    pass(200ms);
  }
}

TEST_F(TopologyChange, AnIndexIsUsedByAnotherServerOnceItIsFree) {
  StackClient& client = stack.add_client();
  pass(100ms);
  for (unsigned i = 0; i < 500; ++i) {
    client.set_servers({all[0], all[1 + i % 2], {"nowhere" + std::to_string(i), 1883, 1}});
    pass(100ms);
    ASSERT_LE(client.cluster().topology().index_limit(), 6u);
    ASSERT_LE(client.cluster().nodes().size(), 6u);
  }
  pass(10s);
  EXPECT_EQ(client.cluster().nodes().size(), 3u);
}

TEST_F(TopologyChange, AnOwnerThatWasFoundInAnEarlierTopologyDoesNotCount) {
  StackClient& client = stack.add_client();
  pass(100ms);
  const std::string key = mover(1, {all[0], all[1]}, 2, {all[0], all[2]});
  const std::uint64_t epoch = client.cluster().topology().epoch();
  const unsigned owner = client.cluster().topology().owner(key);
  client.set_servers({all[0], all[2]});
  pass(1s);  // the index has no owner now
  cluster::Request request;
  struct Answered final : socket::RequestSink {
    std::string node;
    void on_done(socket::Request&, const socket::Completion& completion) override {
      node = completion.answered ? completion.node : "none";
    }
  } answered;
  request.operation.key = key;
  request.operation.deadline = stack.world.now().mono + 1s;
  request.sink = &answered;
  client.later([&](Now now) {
    EXPECT_TRUE(client.cluster().scatters(epoch, owner));
    client.cluster().start_at(epoch, owner, request, now);
  });
  pass(100ms);
  EXPECT_EQ(answered.node, name(2));
}

// ---- locks

TEST_F(TopologyChange, ConnectionsOfANodeThatLeavesAreReportedAsEndedAtOnce) {
  struct Listener final : cluster::ConnectionListener {
    std::vector<std::uint64_t> ended;
    void on_connection_ended(std::uint64_t connection, Now) override {
      ended.push_back(connection);
    }
  } listener;
  StackClient& client = stack.add_client();
  pass(100ms);
  const Op& op = client.get(key_of(1, {all[0], all[1]}), 1s);
  pass(100ms);
  stack.broker(1).faults.delay = 100ms;
  client.get(key_of(1, {all[0], all[1]}), 1s);
  pass(1ms);
  client.cluster().set_listener(&listener);
  client.set_servers({all[0]});
  pass(1us);
  EXPECT_EQ(listener.ended, std::vector<std::uint64_t>{op.connection});
  pass(1s);
  client.cluster().set_listener(nullptr);
}

// ---- watches

struct Heard {
  WatchEvent::Kind kind;
  std::optional<std::string> value;
  Deadline from{0};
};

class TopologyWatcher final : public client::calls::WatchSink {
 public:
  std::vector<Heard> heard;
  void on_update(std::string_view, const WatchUpdate& update, Now) override {
    std::optional<std::string> value;
    if (update.value) value = std::string(*update.value);
    heard.push_back({update.kind, value, update.from.mono});
  }
};

struct WatchedChange : TopologyChange {
  void watch(StackClient& client, const std::string& key) {
    client.later(
        [&, key](Now now) { client.watches().add(key, watcher, WatchStart::current, now); });
    pass(200ms);
  }
  void put(StackClient& client, const std::string& key, const std::string& value) {
    const Op& op = client.set(key, value, 1s);
    pass(100ms);
    EXPECT_TRUE(op.answered);
  }
  TopologyWatcher watcher;
};

TEST_F(WatchedChange, AKeyIsRegisteredAtItsNewOwnerAndReadAndTheGapBeginsAtTheLastProof) {
  StackClient& client = stack.add_client();
  StackClient& writer = stack.add_client();
  const std::string key = mover(1, {all[0], all[1]}, 2, {all[0], all[2]});
  put(writer, key, "old home");
  watch(client, key);
  ASSERT_EQ(watcher.heard.size(), 1u);
  writer.set_servers({all[0], all[2]});
  pass(1us);
  put(writer, key, "new home");
  const Deadline changed = stack.world.now().mono;
  client.set_servers({all[0], all[2]});
  pass(200ms);
  ASSERT_EQ(watcher.heard.size(), 3u);
  EXPECT_EQ(watcher.heard[1].kind, WatchEvent::Kind::gap);
  EXPECT_LE(watcher.heard[1].from, changed);
  EXPECT_GE(watcher.heard[1].from, changed - 1s);
  EXPECT_EQ(watcher.heard[2].kind, WatchEvent::Kind::set);
  EXPECT_EQ(watcher.heard[2].value, "new home");
  put(writer, key, "again");
  ASSERT_EQ(watcher.heard.size(), 4u);
  EXPECT_EQ(watcher.heard[3].value, "again");
  EXPECT_EQ(stack.broker(1).connections(), 0u) << "the line of a node that has left goes";
  EXPECT_EQ(client.cluster().nodes().size(), 2u);
}

TEST_F(WatchedChange, TheOldOwnerForgetsAKeyThatItKeepsNoLonger) {
  StackClient& client = stack.add_client();
  const std::string key = mover(1, {all[0], all[1]}, 2, all);
  const std::string stays = key_of(1, all);
  watch(client, key);
  TopologyWatcher other;
  client.later([&](Now now) { client.watches().add(stays, other, WatchStart::current, now); });
  pass(200ms);
  EXPECT_EQ(stack.store(1).engine().watches(), 2u);
  client.set_servers(all);
  pass(200ms);
  EXPECT_EQ(stack.store(1).engine().watches(), 1u);
  EXPECT_EQ(stack.store(2).engine().watches(), 1u);
  EXPECT_EQ(other.heard.size(), 1u) << "no gap where nothing moved";
  client.set_servers({all[0], all[1]});
  pass(1us);
  client.set_servers(all);
  pass(1us);
  EXPECT_EQ(client.watches().keys(), 2u) << "a key that the old owner has yet to forget is one";
  client.set_servers({all[0], all[1]});
  pass(300ms);
  EXPECT_EQ(stack.store(1).engine().watches(), 2u);
  EXPECT_EQ(client.watches().keys(), 2u);
  client.later([&](Now now) {
    client.watches().remove(key, watcher, now);
    client.watches().remove(stays, other, now);
  });
  pass(300ms);
  EXPECT_EQ(stack.store(1).engine().watches(), 0u);
}

// ---- many changes, from a seed

// All sorts of requests on one client whose servers change again and again, up to four on a key at
// once. Finds a request that was sent to a server that did not own its key at that moment; one that
// ends twice, never, late, or with an error although nothing is wrong; writes of a key that a
// server's log has in another order than that of their start (WriteOrder); and nodes that stay.
// Each server has data of its own, or, with an even seed, all have the same.
class Changes {
 public:
  Changes(std::uint64_t seed, const cluster::ClusterControls& controls)
      : random_(Random(seed).fork()),
        stack_(seed, 4, random_.below(2) == 0 ? EndpointKind::memcached : EndpointKind::state_store,
               seed % 2 == 0),
        all_(stack_.config.nodes),
        faulty_(random_.below(2) == 0) {
    stack_.controls = controls;
    stack_.keep_log();
    stack_.config.connect_timeout = 100ms;
    stack_.config.max_in_flight = static_cast<std::uint32_t>(random_.below(2) == 0 ? 4 : 1'024);
    for (unsigned i = 0; i < stack_.size(); ++i) {
      stack_.broker(i).faults.delay = std::chrono::microseconds(random_.below(5'000));
    }
    draw();
  }

  std::string run() {
    StackClient& client = stack_.add_client();
    history_.emplace_back(Deadline{0}, client.cluster().nodes().snapshot());
    for (std::uint64_t steps = 40 + random_.below(100); steps > 0 && finding_.empty(); --steps) {
      step(client);
      stack_.world.run_for(std::chrono::microseconds(random_.below(10'000)));
      look();
    }
    stack_.world.run_for(6s);
    look();
    if (finding_.empty()) settle(client);
    const auto disorder = order_.judge(stack_.log());
    if (finding_.empty() && !disorder.empty()) finding_ = disorder.front();
    return finding_;
  }

 private:
  struct Asked final : socket::RequestSink {
    Changes* owner = nullptr;
    cluster::Request request;
    std::string key;
    std::string value;
    unsigned ended = 0;
    Deadline ended_at{0};
    void on_done(socket::Request&, const socket::Completion& completion) override {
      ended_at = completion.now.mono;
      if (completion.answered) {
        owner->order_.acknowledge(value);
      } else {
        owner->order_.fail(value, completion.outcome, ended_at);
      }
      if (++ended > 1) owner->finding_ = "a request ended twice";
      if (!completion.answered) {
        if (completion.outcome == Outcome::not_sent && request.at_owner) return;
        if (!owner->faulty_)
          owner->finding_ = "failed for nothing: " + std::string(completion.text);
        return;
      }
      const bool good = owner->owned(key, completion.node, request.submitted_at);
      if (!good) owner->finding_ = key + " went to " + std::string(completion.node);
    }
  };

  void step(StackClient& client) {
    if (random_.below(4) == 0) {
      draw();
      client.set_servers(stack_.config.nodes);
      client.later([this, &client](Now now) {
        history_.emplace_back(now.mono, client.cluster().nodes().snapshot());
      });
    }
    if (faulty_ && random_.below(8) == 0) {
      SimServer& server = stack_.broker(static_cast<unsigned>(random_.below(stack_.size())));
      if (server.serving()) {
        random_.below(2) == 0 ? server.reset_all()
                              : server.stop_for(std::chrono::milliseconds(random_.below(300)));
      }
    }
    const auto plan = client.cluster().nodes().snapshot();
    const bool planned = random_.below(2) == 0;
    for (std::uint64_t i = random_.below(4); i > 0; --i) {
      const std::string key = "key" + std::to_string(random_.below(50));
      for (std::uint64_t at_once = 1 + random_.below(4); at_once > 0; --at_once) {
        ask(client, key, planned ? plan : nullptr);
      }
    }
  }

  // With a plan, whose topology may be an earlier one, or without.
  void ask(StackClient& client, const std::string& key,
           const std::shared_ptr<const cluster::Topology>& plan) {
    Asked& asked = asked_.emplace_back();
    asked.owner = this;
    asked.key = key;
    asked.value = key + "=" + std::to_string(++written_);
    const bool reads = random_.below(2) == 0;
    asked.request.operation.verb = reads ? protocol::Verb::get : protocol::Verb::set;
    asked.request.operation.key = asked.key;
    if (!reads) asked.request.operation.value = asked.value;
    asked.request.at_owner = random_.below(5) == 0;
    asked.request.sink = &asked;
    client.later([this, &client, &asked, plan, reads](Now now) {
      asked.request.operation.deadline = now.mono + 3s;
      if (!reads) order_.begin_write(0, asked.key, asked.value, now.mono);
      if (plan == nullptr) return client.cluster().start(asked.request, now);
      client.cluster().start_at(plan->epoch(), plan->owner(asked.key), asked.request, now);
    });
  }

  // True if the server owned the key at that moment. At the moment of a change both topologies
  // count.
  bool owned(const std::string& key, std::string_view node, Deadline then) const {
    for (std::size_t i = 0; i < history_.size(); ++i) {
      const auto& [since, topology] = history_[i];
      const Deadline until = i + 1 < history_.size() ? history_[i + 1].first : never;
      if (then < since || then > until) continue;
      if (topology->identity(topology->owner(key)) == node) return true;
    }
    return false;
  }

  void draw() {
    stack_.config.nodes.clear();
    while (stack_.config.nodes.empty()) {
      for (const NodeConfig& server : all_) {
        if (random_.below(2) == 0) continue;
        stack_.config.nodes.push_back(server);
        stack_.config.nodes.back().weight = static_cast<std::uint32_t>(1 + random_.below(3));
      }
    }
  }

  void look() {
    const Deadline now = stack_.world.now().mono;
    for (const Asked& asked : asked_) {
      const Deadline deadline = asked.request.operation.deadline;
      if (deadline == Deadline{0}) continue;  // the client has not received it yet
      if (asked.ended == 0 && now > deadline + 1ms) finding_ = "a request did not end";
      if (asked.ended > 0 && asked.ended_at > deadline + 1ms) finding_ = "a request ended late";
    }
    while (!asked_.empty() && asked_.front().ended > 0) asked_.pop_front();
  }

  void settle(StackClient& client) {
    const std::size_t members = client.cluster().topology().members().size();
    if (client.cluster().nodes().size() != members) finding_ = "a node that has left stays";
    for (unsigned i = 0; i < stack_.size(); ++i) {
      const bool member = std::ranges::any_of(
          stack_.config.nodes, [&](const NodeConfig& node) { return node.host == all_[i].host; });
      if (!member && stack_.broker(i).connections() > 0) finding_ = "a connection stays";
    }
  }

  Random random_;
  WriteOrder order_{cluster::KeyOrder::patience};
  unsigned written_ = 0;
  Stack stack_;
  const std::vector<NodeConfig> all_;
  const bool faulty_;
  std::vector<std::pair<Deadline, std::shared_ptr<const cluster::Topology>>> history_;
  std::deque<Asked> asked_;
  std::string finding_;
};

std::string finding_of(std::uint64_t seed, const cluster::ClusterControls& controls = {}) {
  Changes changes(seed, controls);
  return changes.run();
}

TEST(LiveTopology, EveryRequestGoesWhereItBelongsAndEndsOnceForEverySeed) {
  for (const std::uint64_t seed : seeds_of(500)) EXPECT_EQ(finding_of(seed), "");
}

// Returns the first seed that finds the planted bug, and checks that it finds nothing without it.
std::uint64_t first_seed_with(const cluster::ClusterControls& controls) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    if (finding_of(seed, controls).empty()) continue;
    EXPECT_EQ(finding_of(seed), "");
    return seed;
  }
  ADD_FAILURE() << "no seed found it";
  return 0;
}

TEST(LiveTopology, ANodeThatLeavesAndKeepsItsQueueIsFound) {
  EXPECT_LT(first_seed_with({.move_waiting = false}), 100u);
}

TEST(LiveTopology, AnOwnerOfAnEarlierTopologyThatStillCountsIsFound) {
  EXPECT_LT(first_seed_with({.check_epoch = false}), 100u);
}

TEST(LiveTopology, ANewServerThatExecutesWhatTheFormerOneHasYetToExecuteIsFound) {
  EXPECT_LT(first_seed_with({.keep_order = false}), 20u);
}

TEST(LiveTopology, ANodeThatClosesWithRequestsInFlightIsFound) {
  EXPECT_LT(first_seed_with({.wait_for_end = false}), 100u);
}

}  // namespace
}  // namespace sheaf::sim
