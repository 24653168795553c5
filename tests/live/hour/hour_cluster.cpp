#include "tests/live/hour/hour_cluster.h"

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <poll.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

constexpr std::size_t primaries = 3;
// Garnet gives up a failover after a minute, a busy one later.
constexpr std::chrono::seconds garnet_failover_time{30};

RespClusterOptions hour_options(RespSoftware software) {
  RespClusterOptions options;
  options.software = software;
  options.primaries = primaries;
  options.replicas = 1;
  options.server.persistent = true;
  return options;
}

const RespCluster& settled_before(RespCluster& cluster) {
  cluster.wait_until_settled();
  return cluster;
}

std::string uri_of(const RespCluster& cluster) {
  std::string uri = "redis://";
  for (std::size_t i = 0; i < primaries; ++i) {
    uri += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(cluster.port(i));
  }
  return uri + "?connect_timeout=2s";
}

}  // namespace

bool comes_true(const std::function<bool()>& holds, std::chrono::seconds limit) {
  const auto end = HourCluster::Clock::now() + limit;
  for (int pause = 1; !holds(); pause = std::min(2 * pause, 20)) {
    if (HourCluster::Clock::now() > end) return false;
    ::poll(nullptr, 0, pause);
  }
  return true;
}

HourCluster::HourCluster(RespSoftware software, std::string mark, HourRecord& record,
                         std::uint64_t seed)
    : cluster(hour_options(software)), observer(settled_before(cluster)), record_(record) {
  for (unsigned i = 0; i < 512; ++i) probes_.push_back("probe-" + std::to_string(i));
  // An epoch that is larger than those of a cluster that has never changed.
  for (std::size_t i = 0; i < 10 * primaries && !cluster.is_garnet(); ++i) {
    cluster.ask(i % primaries, {"CLUSTER", "BUMPEPOCH"});
  }
  load_.emplace(HourLoad::Surroundings{.record = record_, .judge = judge_, .losses = losses_},
                HourLoad::Whose{.mark = std::move(mark), .keys = "hour", .uri = uri_of(cluster)},
                seed);
}

void HourCluster::finish() {
  load_->stop();
  record_.add_failures(judge_.violations(), judge_.findings());
}

// ---- the frame of an event

HourCluster::Event HourCluster::begin(std::string name, std::size_t server, Loses loses) {
  cluster.wait_until_settled();
  Event event{.name = std::move(name), .slots = observer.slots_of(server)};
  event.permission = judge_.allow(event.slots);
  if (loses == Loses::latest) event.loss = losses_.begin(event.slots);
  return event;
}

void HourCluster::end(const Event& event, std::size_t owner, Clock::time_point not_before) {
  const auto said = std::max(observer.wait_until_agreed(event.slots, owner), not_before);
  observer.begin_measuring();
  if (event.permission) judge_.end(*event.permission, said);
  if (event.loss) losses_.end(*event.loss, said);
  if (!write_probes(event.slots)) {
    record_.not_back(event.name);
    load_->reopen();
    return;
  }
  const auto back = Clock::now();
  // What the same takes on this machine when nothing happens does not count.
  write_probes(event.slots);
  const auto usual = Clock::now() - back;
  record_.back(event.name, back - said, CallJudge::settling + judge_.allowance() + usual);
  // After that no call may fail.
  const auto over = said + CallJudge::settling + judge_.allowance();
  wait_for_condition("no call may fail any more", [&] { return Clock::now() > over; });
}

bool HourCluster::write_probes(const SlotSet& slots) {
  std::vector<SetItem> items;
  for (const std::string& probe : probes_) {
    if (slots[protocol::resp::hash_slot(probe)]) items.push_back({probe, "v"});
  }
  return comes_true([&] {
    const auto results = load_->client().set_many(items, {.timeout = probe_time});
    return std::ranges::all_of(results, [](const auto& one) { return one.result.has_value(); });
  });
}

HourCluster::Shard HourCluster::any_shard(Random& random) {
  cluster.wait_until_settled();
  const auto owners = cluster.owners();
  const std::size_t first = random.below(primaries);
  const std::size_t second = first + primaries;
  const bool first_owns = std::ranges::find(owners, first) != owners.end();
  const Shard shard = first_owns ? Shard{first, second} : Shard{second, first};
  make_replica(shard);
  return shard;
}

// After a failover that a Garnet has not finished, its old primary may have no slots and be no
// replica either.
void HourCluster::make_replica(const Shard& shard) {
  const auto replicates = [&] {
    const auto nodes = cluster.view(shard.replica).nodes;
    const auto own = std::ranges::find(nodes, true, &protocol::resp::TopologyNode::answering);
    return own != nodes.end() && own->role == protocol::resp::Role::replica;
  };
  if (replicates()) return;
  cluster.ask(shard.replica, {"CLUSTER", "REPLICATE", cluster.id(shard.primary)});
  wait_for_condition("the other server of a shard is a replica", replicates);
  cluster.wait_until_settled();
}

// ---- slots

std::vector<std::uint16_t> HourCluster::slots_to_move(std::size_t from, Random& random) {
  constexpr std::size_t together = 64;
  const SlotSet there = observer.slots_of(from);
  SlotSet chosen;
  for (const std::uint16_t slot : load_->slots()) {
    if (there[slot] && random.below(2) == 0) chosen.set(slot);
  }
  while (chosen.count() < std::min(together, there.count() / 2)) {
    const auto slot = static_cast<std::size_t>(random.below(there.size()));
    if (there[slot]) chosen.set(slot);
  }
  std::vector<std::uint16_t> slots;
  for (std::size_t slot = 0; slot < chosen.size(); ++slot) {
    if (chosen[slot]) slots.push_back(static_cast<std::uint16_t>(slot));
  }
  return slots;
}

// Garnet holds writes while it sends the keys of their slot.
void HourCluster::move_slots(Random& random) {
  const Shard from = any_shard(random);
  Shard to = any_shard(random);
  while (to.primary == from.primary) to = any_shard(random);
  const std::vector<std::uint16_t> slots = slots_to_move(from.primary, random);
  Event event{.name = "slots move", .slots = {}};
  for (const std::uint16_t slot : slots) event.slots.set(slot);
  if (cluster.is_garnet()) event.permission = judge_.allow(event.slots, true);
  cluster.migrate(from.primary, to.primary, slots);
  end(event, to.primary);
}

// ---- failovers

void HourCluster::fail_over(Random& random) {
  const auto [primary, replica] = any_shard(random);
  const Loses loses = cluster.is_garnet() ? Loses::latest : Loses::nothing;
  const Event event = begin("planned failover", primary, loses);
  if (cluster.is_garnet()) return fail_over_garnet(event, primary, replica);
  cluster.fail_over(replica);
  end(event, replica);
}

void HourCluster::fail_over_by_force(Random& random) {
  const auto [primary, replica] = any_shard(random);
  const Event event = begin("forced failover", primary, Loses::latest);
  const bool takes_over = !cluster.is_garnet() && random.below(2) == 0;
  cluster.fail_over(replica, takes_over ? "TAKEOVER" : "FORCE");
  end(event, replica);
}

// Garnet gives up a planned failover if the replica is late. Meanwhile all servers name the old
// primary, which does not serve. Sometimes the replica waits forever for an offset that it has
// already, until the failover is aborted. Sometimes the slots have no owner then, until a server is
// told to own them.
void HourCluster::fail_over_garnet(const Event& event, std::size_t from, std::size_t to) {
  if (cluster.text(to, {"CLUSTER", "FAILOVER"}) == "+OK") {
    std::string state;
    const auto has_ended = [&] {
      state = cluster.text(to, {"INFO", "replication"});
      return state.contains("last_failover_state:failover-aborted") ||
             state.contains("last_failover_state:failover-completed");
    };
    bool ended = comes_true(has_ended, garnet_failover_time);
    if (!ended) {
      cluster.text(to, {"CLUSTER", "FAILOVER", "ABORT"});
      ended = comes_true(has_ended, garnet_failover_time);
    }
    if (!ended) throw std::runtime_error("a failover does not end: " + state);
  }
  const auto slot = static_cast<std::uint16_t>(event.slots._Find_first());
  const auto owner = [&]() -> std::optional<std::size_t> {
    try {
      return cluster.owner(slot);
    } catch (const std::runtime_error&) {
      return std::nullopt;
    }
  };
  auto over = Clock::now();
  const auto until = over + std::chrono::seconds(5);
  wait_for_condition("the slots have an owner, or none for 5 s",
                     [&] { return owner() || Clock::now() > until; });
  if (!owner()) {
    RespConnection::Words command = {"CLUSTER", "ADDSLOTS"};
    for (std::size_t i = 0; i < event.slots.size(); ++i) {
      if (event.slots[i]) command.push_back(std::to_string(i));
    }
    cluster.ask(from, command);
    over = Clock::now();
  }
  cluster.wait_until_settled();
  end(event, cluster.owner(slot), over);
}

void HourCluster::lose_a_primary(Random& random) {
  constexpr std::chrono::seconds node_timeout{2};
  const auto [primary, replica] = any_shard(random);
  const Event event = begin("killed primary, election", primary, Loses::latest);
  cluster.text(replica, {"CONFIG", "SET", "cluster-replica-no-failover", "no"});
  const auto usual = cluster.node_timeout();
  observer.hide(primary);
  cluster.kill(primary);
  cluster.set_node_timeout(node_timeout);
  end(event, replica);
  cluster.restart(primary);
  cluster.set_node_timeout(usual);
  observer.show(primary);
  cluster.wait_until_settled();
  cluster.text(replica, {"CONFIG", "SET", "cluster-replica-no-failover", "yes"});
}

// ---- an address that changes hands

void HourCluster::take_an_address(HourCluster& victim, Random& random) {
  const std::size_t mine = any_shard(random).primary;
  const std::size_t theirs = victim.any_shard(random).primary;
  const Event moved = begin("server moves to a taken address", mine, loses_when_killed());
  const Event gone =
      victim.begin("address was taken, and is back", theirs, victim.loses_when_killed());
  const auto exchange = [&] { cluster.server(mine).exchange_ports(victim.cluster.server(theirs)); };
  observer.hide(mine);
  victim.observer.hide(theirs);
  cluster.kill(mine);
  victim.cluster.kill(theirs);
  exchange();
  cluster.restart(mine);
  observer.show(mine);
  end(moved, mine);
  const auto until = Clock::now() + std::chrono::seconds(1 + random.below(4));
  wait_for_condition("the stranger was there for some seconds",
                     [&] { return Clock::now() > until; });

  const Event returned = begin("server returns to its address", mine, loses_when_killed());
  observer.hide(mine);
  cluster.kill(mine);
  exchange();
  victim.cluster.restart(theirs);
  victim.observer.show(theirs);
  victim.end(gone, theirs);
  cluster.restart(mine);
  observer.show(mine);
  end(returned, mine);
}

}  // namespace sheaf::test

#endif
