#pragma once

// Eight threads that write and read through one client of a live cluster while a test changes that,
// and what must hold all the time: no wrong value, and every call ends in time.
//
// Thread rule: one thread, beside those of the load.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sheaf/client.h>

#include "protocol/resp/hash_slot.h"
#include "tests/contract/endpoints.h"
#include "tests/support/resp_cluster.h"
#include "tests/support/sanitized.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {

using namespace std::chrono_literals;

// What a server that is lost takes with it.
enum class Loss : unsigned char {
  none,
  latest  // writes that it has acknowledged and nobody else has heard of
};

// One thread's keys. Nobody else writes them, so it knows what each may hold: its name and a number
// that grows.
class LoadWriter {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr unsigned keys_of_each = 40;
  static constexpr std::chrono::milliseconds patience = 3s;
  static constexpr std::chrono::milliseconds own_pause = 5s;  // for which this process may stand

  LoadWriter(Client& client, unsigned number, Loss loss) : client_(client), loss_(loss) {
    for (unsigned i = 0; i < keys_of_each; ++i) {
      keys_.push_back({"writer-" + std::to_string(number) + "/" + std::to_string(i)});
      counters_.push_back({"counter-" + std::to_string(number) + "/" + std::to_string(i)});
    }
  }

  void run(const std::stop_token& stop) {
    for (std::size_t i = 0; !stop.stop_requested(); i = (i + 1) % keys_.size()) {
      write(keys_[i]);
      read(keys_[(i * 7) % keys_.size()]);
      count(counters_[i]);
      if (i == 0) read_all();
    }
  }
  // What is wrong; empty if nothing is.
  std::string finding() const {
    const std::lock_guard lock(mutex_);
    return finding_;
  }
  std::uint64_t good() const { return good_; }

  // Of its keys.
  std::set<std::uint16_t> slots() const {
    std::set<std::uint16_t> all;
    for (const Key& key : keys_) all.insert(protocol::resp::hash_slot(key.name));
    for (const Counter& counter : counters_) all.insert(protocol::resp::hash_slot(counter.name));
    return all;
  }

  // Whether all keys can be read and written now.
  bool served() {
    bool all = true;
    for (Key& key : keys_) all = write(key) && read(key) && all;
    for (Counter& counter : counters_) all = count(counter) && all;
    return all;
  }

 private:
  struct Key {
    std::string name;
    std::uint64_t begun = 0;  // the latest value that was sent
    std::uint64_t acked = 0;  // the latest that is known to be stored; 0: none
  };

  struct Counter {
    std::string name;
    std::uint64_t acked = 0;
    std::uint64_t unknown = 0;
  };

  // An increment that was acknowledged was carried out once, one that is unknown once at most.
  bool count(Counter& counter) {
    const auto begun = Clock::now();
    const auto counted = client_.increment(counter.name, 1, {.initial = 1, .timeout = patience});
    if (Clock::now() - begun > patience + own_pause) found(counter.name + ": ended late");
    if (!counted) {
      if (counted.error().outcome == Outcome::unknown) ++counter.unknown;
      return false;
    }
    ++counter.acked;
    const std::uint64_t least = loss_ == Loss::none ? counter.acked : 1;
    if (**counted >= least && **counted <= counter.acked + counter.unknown) return true;
    found(counter.name + " is " + std::to_string(**counted) + "; acknowledged " +
          std::to_string(counter.acked) + ", unknown " + std::to_string(counter.unknown));
    return true;
  }

  bool write(Key& key) {
    const std::uint64_t value = ++key.begun;
    const auto begun = Clock::now();
    const auto stored =
        client_.set(key.name, key.name + "=" + std::to_string(value), {.timeout = patience});
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
    const std::string begin = key.name + "=";
    if (got && !got->data.starts_with(begin)) return found(key.name + " holds " + got->data);
    const std::uint64_t value = got ? std::stoull(got->data.substr(begin.size())) : 0;
    const std::uint64_t least = loss_ == Loss::none ? key.acked : 0;
    if (value >= least && value <= key.begun) return;
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
  const Loss loss_;
  std::vector<Key> keys_;
  std::vector<Counter> counters_;
  std::atomic<std::uint64_t> good_ = 0;
  mutable std::mutex mutex_;
  std::string finding_;
};

class LoadedCluster {
 public:
  explicit LoadedCluster(const RespClusterOptions& options, Loss loss = Loss::none)
      : cluster(options) {
    cluster.wait_until_settled();
    std::string uri = "redis://";
    for (std::size_t i = 0; i < options.primaries; ++i) {
      uri += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(cluster.server(i).port());
    }
    client.emplace(open(uri + "?connect_timeout=2s"));
    for (unsigned i = 0; i < threads_of_load; ++i) {
      load_.push_back(std::make_unique<LoadWriter>(*client, i, loss));
    }
    for (auto& writer : load_) {
      threads_.emplace_back([&writer](const std::stop_token& stop) { writer->run(stop); });
    }
    const auto works = [](const auto& writer) { return writer->good() > LoadWriter::keys_of_each; };
    wait_for_condition("every thread writes", [&] { return std::ranges::all_of(load_, works); });
  }

  // Moves 2,000 slots, with those of all keys of the load among them, each to the next primary.
  void move_slots(std::size_t primaries) {
    std::set<std::uint16_t> moving;
    for (const auto& writer : load_) moving.merge(writer->slots());
    for (std::uint16_t slot = 0; moving.size() < 2'000; slot += 9) moving.insert(slot);
    std::vector<std::vector<std::uint16_t>> by_owner(primaries);
    const std::vector<std::size_t> owners = cluster.owners();
    for (const std::uint16_t slot : moving) by_owner[owners[slot]].push_back(slot);
    for (std::size_t from = 0; from < primaries; ++from) {
      for (std::span<const std::uint16_t> slots = by_owner[from]; !slots.empty();) {
        const std::size_t count = std::min<std::size_t>(slots.size(), 64);
        cluster.migrate(from, (from + 1) % primaries, slots.first(count));
        slots = slots.subspan(count);
      }
    }
  }
  void stand_still(std::size_t server, std::chrono::seconds time) {
    cluster.stop(server);
    const auto stopped = LoadWriter::Clock::now();
    wait_for_condition("the time passes",
                       [&] { return LoadWriter::Clock::now() - stopped >= time; });
    cluster.resume(server);
  }

  // Ends the load; then every key is served again.
  void expect_all_good() {
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
    cluster.wait_until_settled();
    const auto settled = LoadWriter::Clock::now();
    for (auto& writer : load_) {
      while (!writer->served() && LoadWriter::Clock::now() - settled < 60s) {
      }
    }
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(LoadWriter::Clock::now() - settled);
    testing::Test::RecordProperty("served_after_ms", static_cast<int>(took.count()));
    EXPECT_LT(took, sanitized ? 20s : 10s) << "at most 2 s on a machine that does nothing else";
    for (auto& writer : load_) {
      EXPECT_EQ(writer->finding(), "");
    }
  }

  RespCluster cluster;
  std::optional<Client> client;

 private:
  static constexpr unsigned threads_of_load = 8;

  std::vector<std::unique_ptr<LoadWriter>> load_;
  std::vector<std::jthread> threads_;
};

}  // namespace sheaf::test
