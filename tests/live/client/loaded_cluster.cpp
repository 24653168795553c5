#include "tests/live/client/loaded_cluster.h"

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "tests/contract/endpoints.h"
#include "tests/support/sanitized.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

int milliseconds(std::chrono::nanoseconds time) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

const RespCluster& settled(RespCluster& cluster) {
  cluster.wait_until_settled();
  return cluster;
}

}  // namespace

// ---- one thread

LoadWriter::LoadWriter(Load& load, unsigned number,
                       std::span<const std::unique_ptr<LockedCounter>> locks)
    : load_(load), locks_(locks) {
  const auto add = [&]<class Key>(const char* kind, unsigned i, std::type_identity<Key>) {
    const std::string name =
        std::string(kind) + "-" + std::to_string(number) + "/" + std::to_string(i);
    auto key = std::make_unique<Key>(load, name);
    Key& made = *key;
    keys_.push_back(std::move(key));
    return &made;
  };
  for (unsigned i = 0; i < 8; ++i) {
    plain_.push_back(add("plain", i, std::type_identity<PlainKey>{}));
    add("counter", i, std::type_identity<Counter>{});
    plain_.push_back(add("another", i, std::type_identity<PlainKey>{}));
    add("journal", i, std::type_identity<Journal>{});
    add("counter", 8 + i, std::type_identity<Counter>{});
    add("versioned", i, std::type_identity<VersionedKey>{});
    add("pair", i, std::type_identity<TaggedPair>{});
    add("pipelined", i, std::type_identity<PipelinedKey>{});
  }
}

void LoadWriter::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (const auto& key : keys_) {
      if (stop.stop_requested()) return;
      key->use();
    }
    read_all();
    locks_[rounds_ % locks_.size()]->use();
    ++rounds_;
  }
}

void LoadWriter::read_all() {
  std::vector<std::string_view> names;
  for (const PlainKey* key : plain_) names.push_back(key->name());
  const auto begun = LoadCall::Clock::now();
  const auto all = load_.client.get_many(names, {.timeout = load_.patience});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& result = all[i].result;
    plain_[i]->ended("get_many", false, begun, result ? nullptr : &result.error());
    if (result) plain_[i]->judge(*result);
  }
}

void LoadWriter::check() {
  for (const auto& key : keys_) key->check();
}

// ---- the whole load

LoadedCluster::LoadedCluster(const RespClusterOptions& options, std::chrono::milliseconds patience)
    : lent_(options), cluster(*lent_), observer(settled(cluster)) {
  std::string uri = "redis://";
  for (std::size_t i = 0; i < options.primaries; ++i) {
    uri += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(cluster.port(i));
  }
  client.emplace(open(uri + "?connect_timeout=2s"));
  load_.emplace(*client, judge, patience);
  for (unsigned i = 0; i < 4; ++i) {
    locks_.push_back(std::make_unique<LockedCounter>(*load_, "lock-" + std::to_string(i)));
  }
  for (unsigned i = 0; i < threads_of_load; ++i) {
    writers_.push_back(std::make_unique<LoadWriter>(*load_, i, locks_));
  }
  for (auto& writer : writers_) {
    threads_.emplace_back([&writer](const std::stop_token& stop) { writer->run(stop); });
  }
  wait_for_rounds(2);
}

std::vector<LoadKey*> LoadedCluster::keys() const {
  std::vector<LoadKey*> all;
  for (const auto& lock : locks_) all.push_back(lock.get());
  for (const auto& writer : writers_) {
    for (const auto& key : writer->keys()) all.push_back(key.get());
  }
  return all;
}

void LoadedCluster::wait_for_rounds(std::uint64_t more) {
  std::vector<std::uint64_t> wanted;
  for (const auto& writer : writers_) wanted.push_back(writer->rounds() + more);
  wait_for_condition("every thread uses all its keys", [&] {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (writers_[i]->rounds() < wanted[i]) return false;
    }
    return true;
  });
}

// ---- changes

std::vector<std::vector<std::uint16_t>> LoadedCluster::slots_to_move() {
  SlotSet moving;
  for (const LoadKey* key : keys()) moving.set(key->slot());
  for (std::size_t slot = 0; moving.count() < 2'000; slot += 9) moving.set(slot);
  const std::vector<std::size_t> owners = cluster.owners();
  std::vector<std::vector<std::uint16_t>> by_owner(cluster.size());
  for (std::size_t slot = 0; slot < moving.size(); ++slot) {
    if (moving[slot]) by_owner[owners[slot]].push_back(static_cast<std::uint16_t>(slot));
  }
  return by_owner;
}

// Garnet holds writes while it sends the keys of their slot.
void LoadedCluster::move_slots() {
  constexpr std::size_t together = 64;
  const auto by_owner = slots_to_move();
  std::vector<std::size_t> primaries;
  SlotSet moving;
  for (std::size_t i = 0; i < by_owner.size(); ++i) {
    if (!by_owner[i].empty()) primaries.push_back(i);
    for (const std::uint16_t slot : by_owner[i]) moving.set(slot);
  }
  std::optional<std::size_t> permission;
  if (cluster.is_garnet()) permission = judge.allow(moving, true);
  const auto begun = LoadCall::Clock::now();
  for (std::size_t i = 0; i < primaries.size(); ++i) {
    const std::size_t to = primaries[(i + 1) % primaries.size()];
    for (std::span<const std::uint16_t> slots = by_owner[primaries[i]]; !slots.empty();) {
      const std::size_t count = std::min(slots.size(), together);
      cluster.migrate(primaries[i], to, slots.first(count));
      slots = slots.subspan(count);
    }
  }
  const auto ended = LoadCall::Clock::now();
  if (permission) judge.end(*permission, ended);
  testing::Test::RecordProperty("moves_took_ms", milliseconds(ended - begun));
  wait_for_rounds(1);
}

LoadedCluster::AtomicMoves LoadedCluster::move_slots_atomically(std::chrono::seconds time) {
  AtomicMoves moves;
  const auto end = LoadCall::Clock::now() + time;
  for (std::size_t from = 0; LoadCall::Clock::now() < end; from = (from + 1) % cluster.size()) {
    const std::vector<std::uint16_t> slots = slots_to_move()[from];
    if (slots.empty()) continue;
    cluster.begin_atomic_migration(from, (from + 1) % cluster.size(), slots);
    const bool cancel = (moves.done + moves.cancelled) % 4 == 3;
    if (cancel) cluster.cancel_atomic_migrations(from);
    const std::string ended = cluster.end_of_atomic_migration(from);
    if (ended == "success") {
      ++moves.done;
    } else if (cancel && ended == "cancelled") {
      ++moves.cancelled;
    } else {
      throw std::runtime_error("the slots did not move: " + ended);
    }
    cluster.wait_until_settled();
  }
  testing::Test::RecordProperty("atomic_moves", static_cast<int>(moves.done));
  testing::Test::RecordProperty("cancelled_moves", static_cast<int>(moves.cancelled));
  wait_for_rounds(1);
  return moves;
}

LoadedCluster::Change LoadedCluster::change_begins(std::string name, std::size_t server) {
  cluster.wait_until_settled();
  Change change{.name = std::move(name), .slots = observer.slots_of(server)};
  change.permission = judge.allow(change.slots);
  return change;
}

void LoadedCluster::expect_served(const Change& change, std::size_t owner,
                                  LoadCall::Clock::time_point not_before) {
  const auto said = std::max(observer.wait_until_agreed(change.slots, owner), not_before);
  observer.begin_measuring();
  judge.end(change.permission, said);
  const auto served = write_to_all(change.slots);
  // The time that this call takes on this machine in normal operation does not count.
  const auto usual = write_to_all(change.slots) - served;
  const auto within = CallJudge::settling * slowness + judge.allowance() + usual;
  testing::Test::RecordProperty(change.name + "_served_after_ms", milliseconds(served - said));
  testing::Test::RecordProperty(change.name + "_allowed_ms", milliseconds(within));
  EXPECT_LE(milliseconds(served - said), milliseconds(within)) << change.name;
  // After that no call may fail.
  wait_for_condition("the permission to fail is over", [&] {
    return LoadCall::Clock::now() > said + CallJudge::settling + judge.allowance();
  });
  wait_for_rounds(2);
}

LoadCall::Clock::time_point LoadedCluster::write_to_all(const SlotSet& slots) {
  std::vector<std::string> names;
  SlotSet missing = slots;
  for (unsigned i = 0; missing.any(); ++i) {
    std::string name = "any-" + std::to_string(i);
    const std::uint16_t slot = protocol::resp::hash_slot(name);
    if (missing[slot]) names.push_back(std::move(name));
    missing.reset(slot);
  }
  std::vector<SetItem> items;
  for (const std::string& name : names) items.push_back({name, "v"});
  wait_for_condition("every slot is served", [&] {
    const auto results = client->set_many(items, {.timeout = load_->patience});
    return std::ranges::all_of(results, [](const auto& one) { return one.result.has_value(); });
  });
  return LoadCall::Clock::now();
}

void LoadedCluster::fail_over(std::size_t primary, std::size_t replica, std::string_view how) {
  const Change change = change_begins("failover", primary);
  cluster.fail_over(replica, how);
  expect_served(change, replica);
}

void LoadedCluster::lose(std::size_t primary, std::size_t replica) {
  constexpr auto node_timeout = 2s;
  EXPECT_EQ(cluster.text(replica, {"CONFIG", "SET", "cluster-replica-no-failover", "no"}), "+OK");
  const auto usual = cluster.node_timeout();
  const Change change = change_begins("loss", primary);
  observer.hide(primary);
  cluster.kill(primary);
  cluster.set_node_timeout(node_timeout);
  expect_served(change, replica);
  cluster.set_node_timeout(usual);
}

void LoadedCluster::stand_still(std::size_t server, std::chrono::seconds time) {
  const Change change = change_begins("stop", server);
  observer.hide(server);
  cluster.stop(server);
  const auto stopped = LoadCall::Clock::now();
  wait_for_condition("the time passes", [&] { return LoadCall::Clock::now() - stopped >= time; });
  cluster.resume(server);
  observer.show(server);
  expect_served(change, server);
}

void LoadedCluster::restart_elsewhere(std::size_t server) {
  const Change change = change_begins("restart", server);
  observer.hide(server);
  cluster.kill(server);
  cluster.restart_elsewhere(server);
  observer.show(server);
  expect_served(change, server);
}

void LoadedCluster::expect_all_good() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
  cluster.wait_until_settled();
  for (const auto& lock : locks_) lock->check();
  for (const auto& writer : writers_) writer->check();
  std::uint64_t rounds = 0;
  for (const auto& writer : writers_) rounds += writer->rounds();
  testing::Test::RecordProperty("rounds", static_cast<int>(rounds));
  testing::Test::RecordProperty("calls", static_cast<int>(judge.calls()));
  testing::Test::RecordProperty("longest_call_ms", milliseconds(judge.longest_call()));
  testing::Test::RecordProperty("longest_delay_ms", milliseconds(observer.longest_delay_ever()));
  testing::Test::RecordProperty("failures", judge.failures());
  EXPECT_EQ(judge.findings(), "") << judge.failures();
}

}  // namespace sheaf::test

#endif
