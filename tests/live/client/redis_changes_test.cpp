// A whole client on a cluster that changes: slots move, a primary fails over, a server stands still
// and one comes back with another address, all while threads write and read.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/endpoints.h"
#include "tests/support/resp_cluster.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr unsigned writers = 8;
constexpr unsigned keys_of_each = 40;
constexpr std::chrono::milliseconds patience = 3s;
constexpr std::chrono::milliseconds own_pause = 5s;  // for which this process may stand still

// One thread's keys. Nobody else writes them, so it knows what each may hold.
class RedisWriter {
 public:
  RedisWriter(Client& client, unsigned number) : client_(client) {
    for (unsigned i = 0; i < keys_of_each; ++i) {
      keys_.push_back({"writer-" + std::to_string(number) + "/" + std::to_string(i)});
    }
  }

  void run(const std::stop_token& stop) {
    for (std::size_t i = 0; !stop.stop_requested(); i = (i + 1) % keys_.size()) {
      write(keys_[i]);
      read(keys_[(i * 7) % keys_.size()]);
      if (i == 0) read_all();
    }
  }
  // What is wrong; empty if nothing is.
  std::string finding() const {
    const std::lock_guard lock(mutex_);
    return finding_;
  }
  std::uint64_t good() const { return good_; }

  // Whether all keys can be read and written now.
  bool served() {
    bool all = true;
    for (Key& key : keys_) all = write(key) && read(key) && all;
    return all;
  }

 private:
  struct Key {
    std::string name;
    std::uint64_t begun = 0;  // the latest value that was sent
    std::uint64_t acked = 0;  // the latest that is known to be stored; 0: none
  };

  bool write(Key& key) {
    const std::uint64_t value = ++key.begun;
    const auto begun = Clock::now();
    const auto stored = client_.set(key.name, std::to_string(value), {.timeout = patience});
    check_time(key, begun);
    if (stored) {
      key.acked = value;
      ++good_;
    }
    return stored.has_value();
  }

  bool read(Key& key) {
    const auto begun = Clock::now();
    const auto got = client_.get(key.name, {.timeout = patience});
    check_time(key, begun);
    if (got) judge(key, *got);
    return got.has_value();
  }

  void read_all() {
    std::vector<std::string_view> names;
    for (const Key& key : keys_) names.push_back(key.name);
    const auto begun = Clock::now();
    const auto all = client_.get_many(names, {.timeout = patience});
    check_time(keys_.front(), begun);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].result) judge(keys_[i], *all[i].result);
    }
  }

  // What was acknowledged is there, or a later value whose outcome was unknown.
  void judge(const Key& key, const GetResult& got) {
    const std::uint64_t value = got ? std::stoull(got->data) : 0;
    if (value >= key.acked && value <= key.begun) return;
    found(key.name + " holds " + std::to_string(value) + "; acknowledged " +
          std::to_string(key.acked) + ", begun " + std::to_string(key.begun));
  }

  void check_time(const Key& key, Clock::time_point begun) {
    if (Clock::now() - begun > patience + own_pause) found(key.name + ": a call ended late");
  }

  void found(std::string text) {
    const std::lock_guard lock(mutex_);
    if (finding_.empty()) finding_ = std::move(text);
  }

  Client& client_;
  std::vector<Key> keys_;
  std::atomic<std::uint64_t> good_ = 0;
  mutable std::mutex mutex_;
  std::string finding_;
};

class RedisChanges : public testing::Test {
 protected:
  RedisChanges() {
    cluster.wait_until_settled();
    std::string uri = "redis://";
    for (std::size_t i = 0; i < 3; ++i) {
      uri += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(cluster.server(i).port());
    }
    client.emplace(test::open(uri + "?connect_timeout=2s"));
    for (unsigned i = 0; i < writers; ++i) {
      load.push_back(std::make_unique<RedisWriter>(*client, i));
    }
  }
  void start() {
    for (auto& writer : load) {
      threads.emplace_back([&writer](const std::stop_token& stop) { writer->run(stop); });
    }
    const auto works = [](const auto& writer) { return writer->good() > keys_of_each; };
    test::wait_for_condition("every thread writes",
                             [&] { return std::ranges::all_of(load, works); });
  }
  // Ends the load; then every key is served again.
  void expect_all_good() {
    for (std::jthread& thread : threads) thread.request_stop();
    threads.clear();
    cluster.wait_until_settled();
    const auto settled = Clock::now();
    for (auto& writer : load) {
      while (!writer->served() && Clock::now() - settled < 60s) {
      }
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - settled);
    RecordProperty("served_after_ms", static_cast<int>(took.count()));
    EXPECT_LT(took, 20s) << "2 s on a machine that has the time";
    for (auto& writer : load) {
      EXPECT_EQ(writer->finding(), "");
    }
  }

  static test::RespClusterOptions options() {
    test::RespClusterOptions options;
    options.replicas = 1;
    options.server.persistent = true;
    return options;
  }

  test::RespCluster cluster{options()};
  std::optional<Client> client;
  std::vector<std::unique_ptr<RedisWriter>> load;
  std::vector<std::jthread> threads;
};

TEST_F(RedisChanges, SlotsMoveUnderLoad) {
  start();
  for (std::uint16_t slot = 0; slot < 16'384; slot += 331) {
    const std::size_t from = cluster.owner(slot);
    cluster.migrate(slot, (from + 1) % 3);
  }
  expect_all_good();
}

TEST_F(RedisChanges, APrimaryFailsOverUnderLoad) {
  start();
  cluster.fail_over(3);
  expect_all_good();
}

TEST_F(RedisChanges, AServerStandsStillUnderLoad) {
  start();
  cluster.stop(1);
  const auto stopped = Clock::now();
  test::wait_for_condition("5 s pass", [&] { return Clock::now() - stopped >= 5s; });
  cluster.resume(1);
  expect_all_good();
}

TEST_F(RedisChanges, AServerComesBackElsewhereUnderLoad) {
  start();
  cluster.kill(2);
  cluster.restart_elsewhere(2);
  expect_all_good();
}

}  // namespace
}  // namespace sheaf

#endif
