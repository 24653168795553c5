// A broker that is killed at random points under load, again and again. No acknowledged write is
// lost, no version occurs twice or goes back, no fence is lowered, and increments under a lock add
// up. With persist=asked the load asks, and keys that do not ask are gone after each kill.
//
// SHEAF_KILL_ROUNDS is the number of kills; the suite has 20.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#ifdef SHEAF_TEST_BROKERS
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/locker.h>

#include "base/random.h"
#include "tests/live/durable/data_folder.h"
#include "tests/support/broker_process.h"
#include "tests/support/extent.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using test::BrokerProcess;
using test::DataFolder;

// The versions that all workers were given, and the faults that they found.
class Ledger {
 public:
  // Records a version that a write was given.
  void note(const std::string& version) {
    ++acknowledged;
    const std::lock_guard lock(mutex_);
    if (versions_.insert(version).second) return;
    faults_.push_back("version " + version + " was given out twice");
  }
  void fault(const std::string& what) {
    const std::lock_guard lock(mutex_);
    faults_.push_back(what);
  }
  std::vector<std::string> faults() {
    const std::lock_guard lock(mutex_);
    return faults_;
  }

  std::atomic<std::uint64_t> acknowledged = 0;
  std::atomic<bool> over = false;

 private:
  std::mutex mutex_;
  std::set<std::string> versions_;
  std::vector<std::string> faults_;
};

std::string uri_of(const BrokerProcess& broker) {
  return "mqtt://127.0.0.1:" + std::to_string(broker.port()) + "?timeout=1s";
}

std::uint64_t number_in(const GetResult& got) { return got ? std::stoull(got.value().data) : 0; }

// Writes growing numbers to its own keys and reads them.
class Writer {
 public:
  Writer(std::string name, std::string uri, Ledger& ledger, bool asks)
      : name_(std::move(name)), uri_(std::move(uri)), ledger_(ledger), asks_(asks) {}

  void operator()() {
    Client client = Client::open(uri_).value();
    Random random(std::hash<std::string>()(name_));
    while (!ledger_.over) {
      const std::string key = name_ + std::to_string(random.below(8));
      random.below(3) == 0 ? read(client, key) : write(client, key);
    }
    test::wait_for_condition("the broker is back", [&] { return client.get(name_).has_value(); });
    for (const auto& [key, state] : states_) read(client, key);
  }

 private:
  struct State {
    std::uint64_t told = 0;
    std::uint64_t tried = 0;
  };

  void write(Client& client, const std::string& key) {
    State& state = states_[key];
    ++state.tried;
    const auto done = client.set(key, std::to_string(state.tried), {.persist = asks_});
    if (!done) return;
    state.told = state.tried;
    ledger_.note(done->version.text);
    if (done->version.text <= newest_) ledger_.fault("version " + done->version.text + " is old");
    newest_ = done->version.text;
  }

  void read(Client& client, const std::string& key) {
    const State& state = states_[key];
    const auto got = client.get(key);
    if (!got) return;
    const std::uint64_t number = number_in(*got);
    if (number < state.told || number > state.tried) {
      ledger_.fault(key + " is " + std::to_string(number) + ", acknowledged was " +
                    std::to_string(state.told));
    }
  }

  std::string name_;
  std::string uri_;
  Ledger& ledger_;
  const bool asks_;
  std::map<std::string, State> states_;
  std::string newest_;
};

// Raises the fence of a key, then tries to write with older tokens.
void raise_fences(const std::string& uri, Ledger& ledger, bool asks) {
  Client client = Client::open(uri).value();
  std::string old;
  while (!ledger.over) {
    const auto token = client.set("token", "t");
    if (!token) continue;
    ledger.note(token->version.text);
    const auto done =
        client.set("fenced", "new", {.fence = {token->version.text}, .persist = asks});
    if (!done) continue;
    ledger.note(done->version.text);
    if (!old.empty()) {
      const auto stale = client.set("fenced", "stale", {.fence = {old}, .persist = asks});
      if (stale && stale->stored) ledger.fault("a fence was lowered to " + old);
    }
    old = token->version.text;
  }
}

struct Sum {
  std::atomic<std::uint64_t> counted = 0;
  std::atomic<std::uint64_t> unknown = 0;
};

// Increments a number under a lock.
void count(const std::string& uri, Ledger& ledger, Sum& sum, bool asks) {
  Client client = Client::open(uri).value();
  Locker locker(client, {.lease = 2s});
  while (!ledger.over) {
    auto guard = locker.lock("sum", {.wait = 3s});
    if (!guard) continue;
    const auto old = guard->read("{sum}n", {.persist = asks});
    if (!old) continue;
    const auto done =
        guard->write("{sum}n", std::to_string(number_in(*old) + 1), {.persist = asks});
    if (done && done->stored) {
      ++sum.counted;
      ledger.note(done->version.text);
    } else if (!done && done.error().outcome == Outcome::unknown) {
      ++sum.unknown;
    }
  }
}

// Two keys of a store with persist=asked, before a kill and after the restart. One of them asks.
class TwoKeys {
 public:
  TwoKeys(const std::string& uri, Ledger& ledger)
      : client_(Client::open(uri).value()), ledger_(ledger) {}

  void write() {
    kept_ = client_.set("kept", std::to_string(++number_), {.persist = true}).has_value();
    gone_ = client_.set("gone", std::to_string(number_)).has_value();
  }
  void check() {
    const GetResult kept = read("kept");
    if (kept_ && (!kept || kept->data != std::to_string(number_))) {
      ledger_.fault("the key that asked is lost: " + (kept ? kept->data : "absent"));
    }
    if (gone_ && read("gone")) ledger_.fault("the key that did not ask is still there");
  }

 private:
  GetResult read(std::string_view key) {
    GetResult found;
    test::wait_for_condition("the broker is back", [&] {
      auto got = client_.get(key);
      if (got) found = std::move(*got);
      return got.has_value();
    });
    return found;
  }

  Client client_;
  Ledger& ledger_;
  int number_ = 0;
  bool kept_ = false;
  bool gone_ = false;
};

// Kills the broker under load `rounds` times, or until a fault is found. Returns all faults.
// `asked`: its store has persist=asked.
std::vector<std::string> kill_under_load(const test::BrokerOptions& options, int rounds,
                                         bool asked = false) {
  BrokerProcess broker(options);
  Ledger ledger;
  Sum sum;
  const std::string uri = uri_of(broker);
  std::vector<std::thread> workers;
  workers.emplace_back(Writer("a", uri, ledger, asked));
  workers.emplace_back(Writer("b", uri, ledger, asked));
  workers.emplace_back(raise_fences, uri, std::ref(ledger), asked);
  workers.emplace_back(count, uri, std::ref(ledger), std::ref(sum), asked);
  workers.emplace_back(count, uri, std::ref(ledger), std::ref(sum), asked);
  std::optional<TwoKeys> two_keys;
  if (asked) two_keys.emplace(uri, ledger);

  Random random(std::uint64_t{2026});
  for (int round = 0; round < rounds && ledger.faults().empty(); ++round) {
    const std::uint64_t until = ledger.acknowledged + 10 + random.below(60);
    test::wait_for_condition("the load goes on", [&] { return ledger.acknowledged >= until; });
    if (two_keys) two_keys->write();
    broker.kill();
    broker.restart();
    if (two_keys) two_keys->check();
  }
  ledger.over = true;
  for (std::thread& worker : workers) worker.join();

  Client client = Client::open(uri).value();
  std::uint64_t total = 0;
  test::wait_for_condition("the broker is back", [&] {
    const auto got = client.get("{sum}n");
    if (got) total = number_in(*got);
    return got.has_value();
  });
  if (total < sum.counted || total > sum.counted + sum.unknown) {
    ledger.fault("the sum is " + std::to_string(total) + ", counted were " +
                 std::to_string(sum.counted));
  }
  std::printf("%d kills, %llu writes acknowledged, %llu counted under the lock, %llu unknown\n",
              rounds, static_cast<unsigned long long>(ledger.acknowledged),
              static_cast<unsigned long long>(sum.counted),
              static_cast<unsigned long long>(sum.unknown));
  return ledger.faults();
}

TEST(BrokerKills, NothingAcknowledgedIsLostAndNoFenceOrVersionGoesBack) {
  const DataFolder data;
  test::BrokerOptions options;
  options.plugin_options = {{"data", data.file()}};
  const auto rounds = test::number_from_environment("SHEAF_KILL_ROUNDS", test::extent_of(20));
  EXPECT_THAT(kill_under_load(options, static_cast<int>(rounds)), testing::IsEmpty());
}

TEST(BrokerKills, OfAStoreThatKeepsWhatAsksNothingThatAskedIsLostAndTheRestIsGone) {
  const DataFolder data;
  test::BrokerOptions options;
  options.plugin_options = {{"data", data.file()}, {"persist", "asked"}};
  const auto rounds = test::number_from_environment("SHEAF_KILL_ROUNDS", test::extent_of(10));
  EXPECT_THAT(kill_under_load(options, static_cast<int>(rounds), true), testing::IsEmpty());
}

TEST(BrokerKills, TheCheckFindsAStoreThatKeepsAlthoughNothingAsked) {
  const DataFolder data;
  test::BrokerOptions options;
  options.plugin_options = {{"data", data.file()}};
  EXPECT_THAT(kill_under_load(options, 5, true), testing::Not(testing::IsEmpty()));
}

TEST(BrokerKills, TheCheckFindsAStoreThatForgets) {
  EXPECT_THAT(kill_under_load({}, 5), testing::Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace sheaf
#endif
