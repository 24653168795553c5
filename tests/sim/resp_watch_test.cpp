// Watches of a client that does nothing else, on a model cluster of the Redis protocol whose slots
// move and whose nodes fail. Redis notifies, Garnet is polled. Whatever happens, the watch ends on
// what the keys hold, never reports a value older than one before, and reports in time again. The
// writer waits for each write, so the order of operations on a key is not in question.

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/sim/kit/seeds.h"
#include "tests/sim/resp_world.h"

namespace sheaf::sim {
namespace {

using client::calls::WatchStart;
using client::calls::WatchUpdate;
using protocol::resp::hash_slot;

class RespWatch final : private client::calls::WatchSink {
 public:
  RespWatch(std::uint64_t seed, bool of_garnet)
      : random_(seed ^ 0xa7c4), run_(seed, options(of_garnet)) {
    ClusterConfig config;
    config.kind = EndpointKind::redis;
    config.nodes = run_.resp.addresses();
    client::watch::WatchRegistryOptions watching;
    watching.key.audit = 10s;
    watcher_ = std::make_unique<StackClient>(run_.world, run_.network, config, seed + 10, Bug::none,
                                             watching);
    for (unsigned i = 0; i < 12; ++i) {
      const std::string key = "k" + std::to_string(i);
      keys_[key];
      watcher_->later(
          [this, key](Now now) { watcher_->watches().add(key, *this, WatchStart::current, now); });
    }
  }

  void go_on(int steps) {
    for (int i = 0; i < steps; ++i) {
      const std::string key = "k" + std::to_string(random_.below(keys_.size()));
      if (random_.below(4) == 0) run_.change(hash_slot(key), random_);
      if (random_.below(12) == 0) run_.spoil(random_);
      write(key);
      run_.world.run_for(std::chrono::milliseconds(random_.below(80)));
    }
    run_.world.run_for(40s);
    for (auto& [key, state] : keys_) check(key, state);
    expect_in_time();
  }
  // A primary falls silent for a minute, and a replica takes its place.
  void lose_a_primary() {
    run_.world.run_for(2s);
    run_.resp.stop_for(2, 60s);
    run_.fail_over(2);
    run_.world.run_for(6s);  // the watch's connection counts as dead after half of it
    for (const auto& [key, state] : keys_) {
      for (int tries = 0; tries < 10 && !run_.get(key).answered; ++tries) continue;
    }
    expect_in_time();
  }
  // Call when no fault is left: a change is reported at once or by the next poll.
  void expect_in_time() {
    for (const auto& [key, state] : keys_) write(key);
    run_.world.run_for(2s);
    for (const auto& [key, state] : keys_) check(key, state);
  }
  std::size_t reported() const { return reported_; }
  std::size_t gaps() const { return gaps_; }
  void shut_down() { watcher_->shut_down(); }

 private:
  struct Key {
    const Op* write = nullptr;                 // the latest
    bool doubtful = false;                     // an earlier write may still be carried out
    unsigned newest = 0;                       // the number of the newest value reported
    std::optional<std::string> held = "none";  // as last reported
  };

  static test::resp_model::ClusterOptions options(bool of_garnet) {
    test::resp_model::ClusterOptions made;
    if (of_garnet) made.dialect = test::resp_model::garnet();
    made.gossip = {1ms, 200ms};
    made.wary = true;
    return made;
  }

  // Writes one value at a time to each key.
  void write(const std::string& key) {
    Key& state = keys_[key];
    if (state.write != nullptr && state.write->ended == 0) return;
    if (state.write != nullptr && !state.write->answered) state.doubtful = true;
    state.write = random_.below(6) == 0 ? &run_.client->remove(key, 2s)
                                        : &run_.client->set(key, std::to_string(++last_), 2s);
  }

  void on_update(std::string_view name, const WatchUpdate& update, Now) override {
    Key& key = keys_[std::string(name)];
    ++reported_;
    switch (update.kind) {
      case WatchEvent::Kind::gap:
        ++gaps_;
        return;
      case WatchEvent::Kind::failed:
      case WatchEvent::Kind::changed:
        return;
      case WatchEvent::Kind::current:
      case WatchEvent::Kind::set:
      case WatchEvent::Kind::deleted:
        break;
    }
    key.held = update.value ? std::optional(std::string(*update.value)) : std::nullopt;
    if (!key.held) return;
    const auto number = static_cast<unsigned>(std::stoul(*key.held));
    EXPECT_TRUE(number >= key.newest || key.doubtful) << name << " goes back to " << number;
    key.newest = std::max(key.newest, number);
  }

  void check(const std::string& key, const Key& state) {
    const Op& got = run_.get(key);
    ASSERT_TRUE(got.answered) << key << ": " << got.text;
    const bool absent = got.status == protocol::Status::absent;
    EXPECT_EQ(state.held, absent ? std::nullopt : std::optional(got.got)) << key;
  }

  Random random_;
  RespWorld run_;
  std::unique_ptr<StackClient> watcher_;
  std::map<std::string, Key> keys_;
  unsigned last_ = 0;
  std::size_t reported_ = 0;
  std::size_t gaps_ = 0;
};

TEST(RespWatch, EndsOnWhatTheKeysHoldWhateverTheClusterDoesForEverySeed) {
  const Seeds seeds = seeds_of(40);
  std::size_t reported = 0;
  std::size_t gaps = 0;
  for (const std::uint64_t seed : seeds) {
    RespWatch watch(seed, seed % 2 == 0);
    watch.go_on(200);
    watch.shut_down();
    reported += watch.reported();
    gaps += watch.gaps();
  }
  if (!seeds.adds_up()) return;
  EXPECT_GT(reported, 50 * seeds.count());
  EXPECT_GT(gaps, seeds.count());
}

// The client learns of the new owner because it asks; it does not fetch the map for half a minute.
TEST(RespWatch, AClientThatOnlyWatchesFollowsItsKeysToAReplica) {
  for (const bool of_garnet : {false, true}) {
    RespWatch watch(5, of_garnet);
    watch.lose_a_primary();
    watch.shut_down();
    EXPECT_GT(watch.gaps(), 0u);
  }
}

}  // namespace
}  // namespace sheaf::sim
