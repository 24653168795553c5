#pragma once

// Real memcached servers with one client, and threads that use it while servers fail. They check
// every answer against what was stored before.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"

namespace sheaf::test {

// The possible values of a key: the one stored last, and those that were written since then or may
// still arrive (writes that ended `unknown`).
struct Known {
  std::optional<std::string> last;
  std::vector<std::string> unsure;

  bool allows(const std::string& value) const {
    return value == last || std::ranges::find(unsure, value) != unsure.end();
  }
};

// Servers, their client, and 800 keys.
//
// Thread rule: the thread that made it; see Load.
class Fleet {
 public:
  using Clock = std::chrono::steady_clock;

  // The server `narrow` takes 64 connections.
  explicit Fleet(unsigned size, std::string options = "", std::optional<unsigned> narrow = {})
      : options_(std::move(options)) {
    MemcachedOptions few_connections;
    few_connections.arguments = {"-t", "1", "-c", "64", "-o", "maxconns_fast"};
    for (unsigned i = 0; i < size; ++i) {
      servers.emplace_back(i == narrow ? few_connections : MemcachedOptions());
    }
    for (int i = 0; i < 800; ++i) names.push_back("fault/" + std::to_string(i));
    keys.assign(names.begin(), names.end());
    known.resize(names.size());
    open_client();
    for (const std::string& name : names) {
      const std::string at = client->locate(name)->node;
      for (unsigned i = 0; i < size; ++i) {
        if (at == node(i)) owners.push_back(i);
      }
    }
    for (int i = 0; i < 10 && set_all() > 0; ++i) {
    }
    EXPECT_EQ(set_all(), 0u);
  }

  void open_client() {
    std::string uri = "memcached://";
    for (unsigned i = 0; i < servers.size(); ++i) uri += (i > 0 ? "," : "") + node(i);
    client.emplace(open(uri + options_));
  }
  std::string node(unsigned index) const {
    return "127.0.0.1:" + std::to_string(servers[index]->port());
  }
  const std::string& key_on(unsigned index) const {
    return names[static_cast<std::size_t>(std::ranges::find(owners, index) - owners.begin())];
  }
  NodeStats stats(unsigned index) const { return client->stats()[index]; }

  // Sets every key to its own name. Returns how many could not be set.
  std::size_t set_all() {
    std::vector<SetItem> items;
    for (const std::string& name : names) items.push_back({name, name});
    const auto results = client->set_many(items, {.timeout = std::chrono::seconds(5)});
    std::size_t failed = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (results[i].result) known[i] = {names[i], {}};
      failed += !results[i].result;
    }
    return failed;
  }
  // The time from now until a steady caller gets an answer.
  Clock::duration time_to_success(unsigned index) {
    using namespace std::chrono_literals;
    const auto start = Clock::now();
    while (Clock::now() - start < 20s) {
      if (client->get(key_on(index), {.timeout = 5s})) return Clock::now() - start;
      std::this_thread::yield();
    }
    return 20s;
  }
  void wait_until_down(unsigned index) {
    using namespace std::chrono_literals;
    const auto end = Clock::now() + 20s;
    while (stats(index).health != NodeHealth::down) {
      ASSERT_LT(Clock::now(), end);
      (void)client->get(key_on(index), {.timeout = 100ms});
    }
  }
  // Waits until two more probes have been sent: the outage lasts.
  void wait_for_probes(unsigned index) const {
    const auto end = Clock::now() + std::chrono::seconds(20);
    const std::uint64_t wanted = stats(index).probes + 2;
    while (stats(index).probes < wanted) {
      ASSERT_LT(Clock::now(), end);
      std::this_thread::yield();
    }
  }
  // The reads and writes that a server has received since its start or since it was borrowed, as it
  // counts them.
  std::uint64_t arrived(unsigned index) const {
    Client direct = open("memcached://" + node(index));
    const std::string stats =
        direct.server_stats({}, {.timeout = std::chrono::seconds(10)}).front().text.value();
    const auto number = [&](std::string_view name) {
      const std::size_t at = stats.find(name);
      EXPECT_NE(at, std::string::npos) << name;
      return std::strtoull(stats.c_str() + at + name.size(), nullptr, 10);
    };
    return number("cmd_get ") + number("cmd_set ");
  }

  std::vector<Lent<MemcachedProcess>> servers;
  std::optional<Client> client;
  std::vector<std::string> names;
  std::vector<std::string_view> keys;  // the same
  std::vector<unsigned> owners;        // by key
  std::vector<Known> known;            // by key

 private:
  std::string options_;
};

// Opens clients until the server takes no more.
inline std::vector<Client> crowd(const std::string& node) {
  std::vector<Client> all;
  while (all.size() < 100) {
    all.push_back(open("memcached://" + node));
    if (all.back().check_nodes({.timeout = std::chrono::seconds(5)}).front().error) break;
  }
  EXPECT_LT(all.size(), 100u);
  return all;
}

// Four threads that read and write a fleet's keys, each its own, and check every answer.
class FleetLoad {
 public:
  enum class Reads { mixed, in_batches };

  // Only keys of `victim` may fail, and they may be absent only if it `forgets`.
  FleetLoad(Fleet& fleet, unsigned victim, bool forgets, Reads reads = Reads::mixed)
      : fleet_(fleet), victim_(victim), forgets_(forgets), reads_(reads) {
    for (std::size_t t = 0; t < threads; ++t) threads_.emplace_back([this, t] { run(t); });
  }
  ~FleetLoad() { stop(); }
  FleetLoad(const FleetLoad&) = delete;
  FleetLoad& operator=(const FleetLoad&) = delete;

  void wait_for(std::uint64_t more) const {
    const std::uint64_t wanted = done_ + more;
    while (done_ < wanted) std::this_thread::yield();
  }
  // The number of failures of the victim's keys.
  std::uint64_t failed() const { return failed_; }
  void end() {
    stop();
    EXPECT_EQ(wrong_, 0u) << "values that nobody can have stored last, or lost ones";
    EXPECT_EQ(others_, 0u) << "failures of keys of other nodes";
  }

 private:
  static constexpr std::size_t threads = 4;
  static constexpr auto timeout = std::chrono::seconds(2);  // for calls that a busy machine delays

  void stop() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void run(std::size_t first) {
    for (std::size_t i = first; !over_; i += threads) {
      const std::size_t key = i % fleet_.names.size();
      const bool batches = reads_ == Reads::in_batches;
      const std::size_t turn = i / fleet_.names.size() % (batches ? 16 : 4);
      if (turn == 3) {
        count(key, write(key, i));
      } else if (turn == 1 || batches) {
        i = read_many(i);
      } else {
        count(key, judge(key, fleet_.client->get(fleet_.names[key], {.timeout = timeout})));
      }
    }
  }
  void count(std::size_t key, bool answered) {
    if (!answered) ++(fleet_.owners[key] == victim_ ? failed_ : others_);
    ++done_;
  }
  // Reads this thread's next 100 keys, or those left until it has read all. Returns the last key's
  // `i`.
  std::size_t read_many(std::size_t i) {
    std::vector<std::size_t> numbers;
    std::vector<std::string_view> keys;
    const std::size_t end = (i / fleet_.names.size() + 1) * fleet_.names.size();
    for (; i < end && keys.size() < 100; i += threads) {
      numbers.push_back(i % fleet_.names.size());
      keys.push_back(fleet_.keys[numbers.back()]);
    }
    const auto all = fleet_.client->get_many(keys, {.timeout = timeout});
    for (std::size_t at = 0; at < all.size(); ++at) {
      wrong_ += all[at].key != keys[at];
      count(numbers[at], judge(numbers[at], all[at].result));
    }
    return i - threads;
  }
  bool write(std::size_t key, std::size_t number) {
    const std::string& name = fleet_.names[key];
    const std::string value = name + "#" + std::to_string(number);
    const auto stored = fleet_.client->set(name, value, {.timeout = timeout});
    if (stored) {
      fleet_.known[key].last = value;
    } else if (stored.error().outcome == Outcome::unknown) {
      fleet_.known[key].unsure.push_back(value);
    }
    return stored.has_value();
  }
  // False if there was no answer.
  bool judge(std::size_t key, const Result<GetResult>& got) {
    Known& known = fleet_.known[key];
    if (!got) return false;
    if (got->has_value()) {
      wrong_ += !known.allows((*got)->data);
      known.last = (*got)->data;
    } else {
      wrong_ += known.last && !(forgets_ && fleet_.owners[key] == victim_);
      known.last.reset();
    }
    return true;
  }

  Fleet& fleet_;
  unsigned victim_;
  bool forgets_;
  Reads reads_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> wrong_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::uint64_t> others_ = 0;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sheaf::test
