#include "tests/support/resp_cluster.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cli/dev/cluster_forming.h"
#include "tests/support/garnet_process.h"
#include "tests/support/redis_process.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {

using protocol::resp::AnsweringNode;
using protocol::resp::Argument;
using protocol::resp::KeptReply;
using protocol::resp::Role;
using protocol::resp::SlotClaim;
using protocol::resp::SlotMap;
using protocol::resp::TopologyNode;
using protocol::resp::TopologyView;
using Words = RespConnection::Words;

namespace {

constexpr std::chrono::milliseconds short_node_timeout{2'000};
// Redis gives up a failover after 5 s, and with this node timeout an election after 8 s.
constexpr std::chrono::seconds failover_time{10};

const TopologyNode& own_node(const TopologyView& view) {
  const auto found = std::ranges::find(view.nodes, true, &TopologyNode::answering);
  if (found == view.nodes.end()) throw std::runtime_error("a server does not name itself");
  return *found;
}

// AUTH, or nothing.
Words login(const RespProcessOptions& options) {
  if (options.password.empty()) return {};
  if (options.user.empty()) return {"AUTH", options.password};
  return {"AUTH", options.user, options.password};
}

protocol::resp::ParsedView parse(RespCluster::Form form, const KeptReply& reply,
                                 const AnsweringNode& from) {
  switch (form) {
    case RespCluster::Form::nodes:
      return parse_cluster_nodes(reply.root(), from);
    case RespCluster::Form::shards:
      return parse_cluster_shards(reply.root(), from);
    case RespCluster::Form::slots:
      break;
  }
  return parse_cluster_slots(reply.root(), from);
}

// Describes the slots in a view that differ from the map.
std::string other_slots(const TopologyView& view, const SlotMap& map) {
  std::size_t same = 0;
  for (const SlotClaim& claim : view.claims) {
    const TopologyNode& node = view.nodes[claim.node];
    if (node.role == Role::replica) continue;
    for (unsigned slot = claim.first; slot <= claim.last; ++slot) {
      const std::uint16_t owner = map.owner(static_cast<std::uint16_t>(slot));
      if (owner == SlotMap::nobody || map.nodes()[owner].id != node.id) {
        return "has another owner of slot " + std::to_string(slot);
      }
      ++same;
    }
  }
  return same == protocol::resp::slot_count ? std::string() : "does not know who has some slots";
}

Words keys_in_slot(std::uint16_t slot, std::size_t most) {
  return {"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), std::to_string(most)};
}

// Combines all slots in one command, since Garnet writes its configuration to disk after each.
Words slot_ranges(const Words& state, std::span<const std::uint16_t> slots) {
  Words command = {"CLUSTER", "SETSLOTSRANGE"};
  command.insert(command.end(), state.begin(), state.end());
  for (const std::uint16_t slot : slots) {
    command.insert(command.end(), {std::to_string(slot), std::to_string(slot)});
  }
  return command;
}

}  // namespace

RespCluster::RespCluster(RespClusterOptions options) : options_(std::move(options)) {
  launch();
  form();
}

void RespCluster::launch() {
  const std::size_t count = options_.primaries * (1 + options_.replicas);
  RespProcessOptions each = options_.server;
  each.cluster = true;
  while (servers_.size() < count) {
    auto server = std::make_unique<Server>();
    if (!is_garnet()) {
      RedisOptions redis;
      static_cast<RespProcessOptions&>(redis) = each;
      redis.software = options_.software;
      redis.lines = options_.lines;
      redis.tls_beside = options_.tls;
      server->process = std::make_unique<RedisProcess>(redis);
    } else {
      server->process = std::make_unique<GarnetProcess>(each);
    }
    servers_.push_back(std::move(server));
    servers_.back()->configuration = configuration(servers_.size() - 1);
  }
}

void RespCluster::form() {
  for (std::size_t i = 0; i < size(); ++i) {
    servers_[i]->id = ask(i, {"CLUSTER", "MYID"}).root().text();
  }
  cli::ClusterPlan plan{.servers = {}, .primaries = options_.primaries};
  std::vector<cli::BlockingConnection> connections;
  for (const auto& server : servers_) {
    plan.servers.push_back({server->process->port(), server->process->bus_port()});
    auto connection = cli::BlockingConnection::open(server->process->port());
    if (!connection) throw std::runtime_error(connection.error());
    const Words words = login(options_.server);
    if (!words.empty() && !connection->ask(words)) throw std::runtime_error("no login");
    connections.push_back(*std::move(connection));
  }
  cli::ClusterForming forming(plan, std::move(connections));
  try {
    wait_for_condition("the cluster is formed", [&] {
      const auto formed = forming.turn(std::chrono::steady_clock::now());
      if (!formed) throw std::runtime_error(formed.error());
      return *formed;
    });
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(error.what() + (" " + forming.refusal()));
  }
  set_node_timeout(options_.node_timeout);
}

std::map<std::string, std::string> RespCluster::configuration(std::size_t index) {
  std::map<std::string, std::string> all;
  if (is_garnet()) return all;
  const KeptReply reply = ask(index, {"CONFIG", "GET", "*"});
  std::string name;
  bool is_name = false;
  for (const auto text : reply.root()) {
    is_name = !is_name;
    if (is_name) {
      name = text.text();
    } else {
      all[name] = text.text();
    }
  }
  for (const char* const of_the_cluster : {"replicaof", "slaveof"}) all.erase(of_the_cluster);
  return all;
}

void RespCluster::form_again() {
  for (std::size_t i = 0; i < size(); ++i) {
    servers_[i]->connection.reset();
    server(i).running() ? server(i).resume() : restart(i);
  }
  for (std::size_t i = 0; i < size(); ++i) empty(i);
  form();
}

void RespCluster::forget_keys() {
  for (std::size_t i = 0; i < size(); ++i) forget_keys(i);
}

// A replica refuses FLUSHALL, and loses its keys with its primary or when it leaves the cluster.
void RespCluster::forget_keys(std::size_t index) {
  ask(index, {"CLIENT", "UNPAUSE"});
  ask(index, {"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  ask(index, {"FLUSHALL"});
  for (const Words& command :
       {Words{"SCRIPT", "FLUSH"}, Words{"ACL", "LOG", "RESET"}, Words{"CONFIG", "RESETSTAT"}}) {
    expect_ok(index, command);
  }
}

// Leaves the cluster, too. A server that has left ignores the others, who still know its address.
void RespCluster::empty(std::size_t index) {
  forget_keys(index);
  expect_ok(index, {"CLUSTER", "RESET", "HARD"});
  for (const auto& [name, value] : configuration(index)) {
    const std::string& wanted = servers_[index]->configuration[name];
    if (value != wanted) expect_ok(index, {"CONFIG", "SET", name, wanted});
  }
}

void RespCluster::set_node_timeout(std::chrono::milliseconds timeout) {
  node_timeout_ = timeout;
  send_node_timeout(timeout);
}

void RespCluster::send_node_timeout(std::chrono::milliseconds timeout) {
  for (std::size_t i = 0; i < size() && !is_garnet(); ++i) {
    if (!answers(i)) continue;
    expect_ok(i, {"CONFIG", "SET", "cluster-node-timeout", std::to_string(timeout.count())});
  }
}

// ---- asking

bool RespCluster::answers(std::size_t index) const {
  return servers_.at(index)->process->responsive();
}

RespConnection RespCluster::connect(std::size_t index) const {
  RespConnection made(servers_.at(index)->process->port());
  if (const Words words = login(options_.server); !words.empty()) {
    const KeptReply reply = made.ask(words);
    if (reply.root().is_error()) throw std::runtime_error(std::string(reply.root().text()));
  }
  return made;
}

RespConnection& RespCluster::connection(std::size_t index) {
  auto& kept = servers_.at(index)->connection;
  if (!kept) kept = std::make_unique<RespConnection>(connect(index));
  return *kept;
}

std::string RespCluster::text(std::size_t index, std::initializer_list<Argument> command) {
  return connection(index).text(command);
}

KeptReply RespCluster::ask(std::size_t index, const Words& command) {
  return connection(index).ask(command);
}

void RespCluster::expect_ok(std::size_t index, const Words& command) {
  const KeptReply reply = ask(index, command);
  if (!reply.root().is_error()) return;
  std::string sentence;
  for (const std::string& word : command) sentence += word + ' ';
  throw std::runtime_error(sentence.append("is refused: ").append(reply.root().text()));
}

void RespCluster::expect_all_ok(std::size_t index, const std::vector<Words>& commands) {
  for (const KeptReply& reply : ask_all(index, commands)) {
    if (!reply.root().is_error()) continue;
    throw std::runtime_error(commands.front()[1] +
                             " is refused: " + std::string(reply.root().text()));
  }
}

TopologyView RespCluster::view(std::size_t index, Form form) {
  auto parsed = try_view(index, form);
  if (!parsed) throw std::runtime_error(parsed.error());
  return *std::move(parsed);
}

protocol::resp::ParsedView RespCluster::try_view(std::size_t index, Form form) {
  constexpr const char* names[] = {"NODES", "SHARDS", "SLOTS"};
  const std::uint64_t asked = ++asked_;
  const KeptReply reply = ask(index, {"CLUSTER", names[static_cast<std::size_t>(form)]});
  auto parsed = parse(form, reply, {.host = "127.0.0.1", .id = id(index)});
  if (parsed) parsed->asked = asked;
  return parsed;
}

std::vector<TopologyView> RespCluster::views(Form form) {
  std::vector<TopologyView> all;
  for (std::size_t i = 0; i < size(); ++i) {
    if (answers(i)) all.push_back(view(i, form));
  }
  return all;
}

std::size_t RespCluster::owner(std::uint16_t slot) {
  return owner(SlotMap::merge(views(), {}), slot);
}

std::vector<std::size_t> RespCluster::owners() {
  const SlotMap map = SlotMap::merge(views(), {});
  std::vector<std::size_t> all;
  for (unsigned slot = 0; slot < protocol::resp::slot_count; ++slot) {
    all.push_back(owner(map, static_cast<std::uint16_t>(slot)));
  }
  return all;
}

std::size_t RespCluster::owner(const SlotMap& map, std::uint16_t slot) const {
  const std::uint16_t node = map.owner(slot);
  for (std::size_t i = 0; node != SlotMap::nobody && i < size(); ++i) {
    if (id(i) == map.nodes()[node].id) return i;
  }
  throw std::runtime_error("nobody has the slot " + std::to_string(slot));
}

// ---- agreement

void RespCluster::wait_until_settled() {
  std::string why;
  try {
    wait_for_condition("the servers agree", [&] {
      why = unsettled();
      return why.empty();
    });
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(error.what() + (": " + why));
  }
}

std::string RespCluster::unsettled() {
  const std::vector<TopologyView> all = views();
  const SlotMap map = SlotMap::merge(all, {});
  std::size_t next = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!answers(i)) continue;
    std::string why = unsettled(i, all[next++], map, all);
    if (!why.empty()) return "server " + std::to_string(i) + " " + why;
  }
  return {};
}

std::string RespCluster::unsettled(std::size_t index, const TopologyView& view, const SlotMap& map,
                                   const std::vector<TopologyView>& all) {
  if (std::string why = other_slots(view, map); !why.empty()) return why;
  for (const TopologyView& other : all) {
    const TopologyNode& wanted = own_node(other);
    const auto found = std::ranges::find(view.nodes, wanted.id, &TopologyNode::id);
    if (found == view.nodes.end() || found->port != wanted.port || found->role != wanted.role ||
        found->primary != wanted.primary) {
      return "does not know " + wanted.id + " as it is";
    }
  }
  const auto says = [&](const Words& question, std::string_view text) {
    return ask(index, question).root().text().find(text) != std::string_view::npos;
  };
  if (!says({"CLUSTER", "INFO"}, "cluster_state:ok")) return "does not serve";
  const bool replica = own_node(view).role == Role::replica;
  if (replica && !says({"INFO", "replication"}, "master_link_status:up")) {
    return "has lost its primary";
  }
  return {};
}

// ---- slots

void RespCluster::begin_migration(std::uint16_t slot, std::size_t to) {
  const std::size_t from = owner(slot);
  expect_ok(to, {"CLUSTER", "SETSLOT", std::to_string(slot), "IMPORTING", id(from)});
  expect_ok(from, {"CLUSTER", "SETSLOT", std::to_string(slot), "MIGRATING", id(to)});
}

std::size_t RespCluster::move_keys(std::uint16_t slot, std::size_t to, std::size_t most) {
  const std::size_t from = owner(slot);
  return move_keys(ask(from, keys_in_slot(slot, most)), from, to);
}

// REPLACE, because a command that timed out may have left keys on both sides. Clients used the keys
// on this side.
std::size_t RespCluster::move_keys(const KeptReply& keys, std::size_t from, std::size_t to) {
  if (keys.root().size() == 0) return 0;
  Words move = {"MIGRATE", "127.0.0.1", std::to_string(server(to).port()), "", "0",
                "30000",   "REPLACE"};
  const RespProcessOptions& options = options_.server;
  if (!options.user.empty()) {
    move.insert(move.end(), {"AUTH2", options.user, options.password});
  } else if (!options.password.empty()) {
    move.insert(move.end(), {"AUTH", options.password});
  }
  move.emplace_back("KEYS");
  for (const auto key : keys.root()) move.emplace_back(key.text());
  expect_ok(from, move);
  return keys.root().size();
}

// Primaries that neither give nor receive the slot learn of it by gossip; with Redis we can also
// notify them directly.
void RespCluster::end_migration(std::uint16_t slot, std::size_t to) {
  const Words command = {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id(to)};
  const std::size_t from = owner(slot);
  expect_ok(to, command);
  expect_ok(from, command);
  for (std::size_t i = 0; i < size() && !is_garnet(); ++i) {
    const bool primary = answers(i) && own_node(view(i)).role == Role::primary;
    if (primary && i != to && i != from) expect_ok(i, command);
  }
}

// A Garnet does not list a key that a client rewrites elsewhere at that very moment. A key that is
// left is lost when the slot changes its owner, so several passes must find no key on Garnet.
void RespCluster::move_all_keys(std::size_t from, std::size_t to,
                                std::span<const std::uint16_t> slots) {
  std::vector<Words> listings;
  for (const std::uint16_t slot : slots) listings.push_back(keys_in_slot(slot, 1'000));
  const int empty_passes_needed = is_garnet() ? 4 : 1;
  for (int empty_passes = 0; empty_passes < empty_passes_needed;) {
    std::size_t moved = 0;
    for (const KeptReply& keys : ask_all(from, listings)) moved += move_keys(keys, from, to);
    empty_passes = moved == 0 ? empty_passes + 1 : 0;
  }
}

void RespCluster::migrate(std::uint16_t slot, std::size_t to) {
  begin_migration(slot, to);
  move_all_keys(owner(slot), to, {&slot, 1});
  end_migration(slot, to);
}

void RespCluster::migrate(std::size_t from, std::size_t to, std::span<const std::uint16_t> slots) {
  const auto set_all = [&](std::size_t server, const Words& state) {
    std::vector<Words> commands;
    if (is_garnet()) commands.push_back(slot_ranges(state, slots));
    for (const std::uint16_t slot : is_garnet() ? slots.first(0) : slots) {
      commands.push_back({"CLUSTER", "SETSLOT", std::to_string(slot)});
      commands.back().insert(commands.back().end(), state.begin(), state.end());
    }
    expect_all_ok(server, commands);
  };
  set_all(to, {"IMPORTING", id(from)});
  set_all(from, {"MIGRATING", id(to)});
  move_all_keys(from, to, slots);
  set_all(to, {"NODE", id(to)});
  set_all(from, {"NODE", id(to)});
}

// ---- slots that move by themselves

void RespCluster::begin_atomic_migration(std::size_t from, std::size_t to,
                                         std::span<const std::uint16_t> slots) {
  Words command = {"CLUSTER", "MIGRATESLOTS", "SLOTSRANGE"};
  for (const std::uint16_t slot : slots) {
    command.insert(command.end(), {std::to_string(slot), std::to_string(slot)});
  }
  command.insert(command.end(), {"NODE", id(to)});
  expect_ok(from, command);
}

void RespCluster::cancel_atomic_migrations(std::size_t from) {
  const KeptReply reply = ask(from, {"CLUSTER", "CANCELSLOTMIGRATIONS"});
  const bool over = reply.root().text() == "ERR No migrations ongoing";
  if (reply.root().is_error() && !over) throw std::runtime_error(std::string(reply.root().text()));
}

// The server lists the latest migration first.
std::string RespCluster::end_of_atomic_migration(std::size_t from) {
  std::string state;
  std::string message;
  wait_for_condition("the slots have moved", [&] {
    const KeptReply list = ask(from, {"CLUSTER", "GETSLOTMIGRATIONS"});
    const auto latest = list.root().at(0);
    if (!latest) throw std::runtime_error("the server lists no migration of slots");
    const auto text_of = [&](std::string_view name) {
      const auto found = latest->find(name);
      return found ? std::string(found->text()) : std::string();
    };
    state = text_of("state");
    message = text_of("message");
    return state == "success" || state == "failed" || state == "cancelled";
  });
  return message.empty() ? state : state + ": " + message;
}

// ---- servers

// Servers give up a failover that takes too long, and a primary does not vote twice on one shard
// within two node timeouts. So the timeout is short meanwhile, and the replica is asked again.
void RespCluster::fail_over(std::size_t replica, std::string_view how) {
  Words command{"CLUSTER", "FAILOVER", std::string(how)};
  if (how.empty()) command.pop_back();
  send_node_timeout(short_node_timeout);
  expect_ok(replica, command);
  auto asked = std::chrono::steady_clock::now();
  // A Garnet has been seen that lost its slots again after the servers agreed.
  const auto has_slots = [&] {
    const auto all = owners();
    return std::ranges::find(all, replica) != all.end();
  };
  wait_for_condition("the replica is the primary", [&] {
    if (own_node(view(replica)).role == Role::primary) return unsettled().empty() && has_slots();
    if (const auto now = std::chrono::steady_clock::now(); now - asked > failover_time) {
      asked = now;
      ask(replica, command);  // refused if it has just become one
    }
    return false;
  });
  send_node_timeout(node_timeout_);
}

void RespCluster::stop(std::size_t index) { server(index).stop(); }

void RespCluster::resume(std::size_t index) {
  server(index).resume();
  send_node_timeout(node_timeout_);
}

void RespCluster::kill(std::size_t index) {
  servers_.at(index)->connection.reset();
  server(index).kill();
}

void RespCluster::bring_back(std::size_t index, void (RespProcess::*way)()) {
  (server(index).*way)();
  servers_[index]->configuration = configuration(index);
  send_node_timeout(node_timeout_);
}

}  // namespace sheaf::test
