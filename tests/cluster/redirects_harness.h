#pragma once

// A whole cluster whose servers the test plays: a:1, b:1 and c:1. A key is its slot's number. The
// first two servers are members; a:1 owns all slots below 100, b:1 the others.
//
// Thread rule: one thread.

#include <gtest/gtest.h>

#include <charconv>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/client_cluster.h"
#include "cluster/placement/assigned_slots.h"
#include "cluster/placement/node_table.h"
#include "tests/node/fake_sockets.h"
#include "tests/support/event_logs.h"

namespace sheaf::cluster {

inline std::uint16_t slot_in_key(std::string_view key) noexcept {
  std::uint16_t slot = 0;
  std::from_chars(key.data(), key.data() + key.size(), slot);
  return slot;
}

// A request, and how it ended.
struct RedirectedOp final : socket::RequestSink {
  void on_done(socket::Request&, const socket::Completion& completion) override {
    ++ends;
    answered = completion.answered;
    outcome = completion.outcome;
    reason = completion.reason;
    text = completion.text;
    node = completion.node;
    ended_at = completion.now.mono;
    connection = completion.connection;
    asking_at_end = request.operation.asking;
  }
  Request request;
  std::string key;
  std::string number;
  unsigned ends = 0;
  bool answered = false;
  Outcome outcome = Outcome::invalid;
  Reason reason = Reason::other;
  std::string text;
  std::string node;
  Deadline ended_at{0};
  std::uint64_t connection = 0;
  bool asking_at_end = false;
};

struct CountedMaps final : MapSource {
  void fetch_map(std::string_view first, Now now) override {
    fetches.push_back(now.mono);
    preferred.emplace_back(first);
  }
  std::string_view ban(std::string_view host) const override {
    return host == "banned" ? "that is how it is" : "";
  }
  void on_mended(Now) override { ++mended; }
  std::optional<NodeConfig> importer(std::uint16_t slot) const override {
    const auto found = importers.find(slot);
    return found == importers.end() ? std::nullopt : std::optional(found->second);
  }
  std::map<std::uint16_t, NodeConfig> importers;
  std::vector<Deadline> fetches;
  std::vector<std::string> preferred;  // the first server to ask, each time
  unsigned mended = 0;
};

class RedirectsTest : public testing::Test {
 protected:
  RedirectsTest() {
    config.nodes = {a, b};
    config.timeout = std::chrono::seconds(5);
    RedirectRules rules;
    rules.table = &table;
    rules.allowed = AllowedHosts(std::vector<NodeConfig>{{"seed", 1, 1}});
    rules.source = &maps;
    begin(rules);
  }
  ~RedirectsTest() override {
    cluster->shut_down(loop.now());
    for (int i = 0; i < 10 && !cluster->empty(); ++i) loop.settle();
  }
  void begin(const RedirectRules& rules) {
    cluster = std::make_unique<ClientCluster>(config, topology_of({a, b}, {{100, 0}, {16'384, 1}}),
                                              node::NodeParts{loop, network, network, log},
                                              Random(1).fork());
    cluster->follow_redirects(rules, Random(2).fork());
    connect();
  }

  // `owners`: the end of each range of slots, and the position of its owner.
  std::shared_ptr<const Topology> topology_of(
      const std::vector<NodeConfig>& servers,
      const std::vector<std::pair<unsigned, std::uint16_t>>& owners, Primaries primaries = {}) {
    std::vector<std::uint16_t> slots;
    for (const auto& [end, owner] : owners) slots.resize(end, owner);
    slots.resize(AssignedSlots::slot_count, AssignedSlots::unassigned);
    const std::uint64_t epoch = cluster == nullptr ? 1 : cluster->topology().epoch() + 1;
    return Topology::make({servers, primaries}, std::make_unique<AssignedSlots>(slots, slot_in_key),
                          table, epoch);
  }
  // `primaries`: for each server the position of its primary, or `nobody`.
  void apply(const std::vector<NodeConfig>& servers,
             const std::vector<std::pair<unsigned, std::uint16_t>>& owners,
             Primaries primaries = {}) {
    cluster->apply(topology_of(servers, owners, primaries), loop.now());
    loop.settle();
    connect();
  }
  void connect() {
    loop.settle();
    while (network.dialing() > 0) network.accept();
  }

  // The value of its request is its number, from 1.
  RedirectedOp& start(const std::string& key,
                      std::chrono::nanoseconds timeout = std::chrono::seconds(5),
                      std::uint64_t only_on = 0, bool may_lag = false) {
    RedirectedOp& op = ops.emplace_back();
    op.key = key;
    op.number = std::to_string(ops.size());
    op.request.operation.value = op.number;
    op.request.operation.verb = protocol::Verb::get;
    op.request.operation.key = op.key;
    op.request.operation.deadline = loop.now().mono + timeout;
    op.request.only_on = only_on;
    op.request.may_lag = may_lag;
    op.request.sink = &op;
    cluster->start(op.request, loop.now());
    loop.settle();
    return op;
  }
  // The newest connection to a server; null if there is no connection.
  node::FakeSession* session(const std::string& server) {
    const Member* const member = cluster->topology().find(server);
    const unsigned index = member != nullptr ? member->index() : left.at(server);
    node::FakeSession* newest = nullptr;
    for (std::size_t i = 0; i < network.sessions(); ++i) {
      if (network.session(i).node == index) newest = &network.session(i);
    }
    return newest;
  }
  std::size_t in_flight(const std::string& server) {
    const node::FakeSession* const found = session(server);
    return found != nullptr ? found->in_flight() : 0;
  }
  bool asks(const std::string& server) { return session(server)->asking.back(); }
  void answer(const std::string& server) {
    session(server)->answer();
    network.deliver(*session(server));
  }
  // Writes a reply that is not delivered yet.
  static void write(node::FakeSession& session, const protocol::Redirect& redirect,
                    std::string_view text) {
    protocol::Reply reply;
    reply.status = protocol::Status::refused;
    reply.text = text;
    reply.redirect = redirect;
    session.answer(reply);
  }
  void write(const std::string& server, const protocol::Redirect& redirect, std::string_view text) {
    write(*session(server), redirect, text);
  }
  void say(const std::string& server, const protocol::Redirect& redirect, std::string_view text) {
    write(server, redirect, text);
    network.deliver(*session(server));
  }
  void moved(const std::string& server, std::uint16_t slot, std::string_view host,
             std::uint16_t port = 1) {
    say(server, {protocol::Redirect::Kind::moved, false, slot, port, host}, "MOVED it");
  }
  void ask(const std::string& server, std::uint16_t slot, std::string_view host,
           std::uint16_t port = 1) {
    say(server, {protocol::Redirect::Kind::ask, false, slot, port, host}, "ASK it");
  }
  void later(const std::string& server) {
    say(server, {.kind = protocol::Redirect::Kind::later}, "TRYAGAIN it");
  }
  std::string owner_of(std::uint32_t slot) {
    return std::string(cluster->topology().owner_of_slot(slot));
  }
  std::uint64_t epoch() { return cluster->topology().epoch(); }

  const NodeConfig a{"a", 1, 1};
  const NodeConfig b{"b", 1, 1};
  const NodeConfig c{"c", 1, 1};
  node::FakeLoop loop;
  node::FakeNetwork network{loop};
  test::RecordedEvents log;
  NodeTable table;
  CountedMaps maps;
  ClusterConfig config;
  std::unique_ptr<ClientCluster> cluster;
  std::deque<RedirectedOp> ops;
  std::map<std::string, unsigned> left;  // indices of servers that are no longer members
};

}  // namespace sheaf::cluster
