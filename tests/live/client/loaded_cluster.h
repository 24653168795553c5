#pragma once

// A live cluster, one client of it, and eight threads that use that client while a test changes the
// cluster. What must hold all the time: no wrong value, nothing carried out twice, every call ends
// in time, only calls fail that may, and slots are served again 2 s after the cluster has said by
// whom.
//
// Thread rule: one thread, beside those of the load.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sheaf/client.h>

#include "tests/live/client/call_judge.h"
#include "tests/live/client/cluster_observer.h"
#include "tests/live/client/load_keys.h"
#include "tests/support/resp_cluster.h"

namespace sheaf::test {

using namespace std::chrono_literals;

// One thread's keys, and those that it shares with others.
//
// Thread rule: run() on its thread; the others on any, check() once that has ended.
class LoadWriter {
 public:
  LoadWriter(Load& load, unsigned number, std::span<const std::unique_ptr<LockedCounter>> locks);

  // Uses one key after the other, all plain ones together once a round, and one of the locks.
  void run(const std::stop_token& stop);
  std::uint64_t rounds() const { return rounds_; }
  const std::vector<std::unique_ptr<LoadKey>>& keys() const { return keys_; }
  void check();

 private:
  void read_all();

  Load& load_;
  std::vector<std::unique_ptr<LoadKey>> keys_;
  std::vector<PlainKey*> plain_;
  const std::span<const std::unique_ptr<LockedCounter>> locks_;
  std::atomic<std::uint64_t> rounds_ = 0;
};

class LoadedCluster {
 public:
  // Each call may take `patience`.
  explicit LoadedCluster(const RespClusterOptions& options,
                         std::chrono::milliseconds patience = 3s);

  // Changes from now on may do this.
  void expect_loss(Loss loss) { load_->loss = loss; }

  // Moves 2,000 slots, with those of all keys of the load among them, each to the next of the
  // servers that have slots.
  void move_slots();
  // The same by Valkey's atomic migrations, to and fro for this time; every fourth is cancelled
  // while it goes on. No call may fail.
  struct AtomicMoves {
    std::size_t done = 0;
    std::size_t cancelled = 0;
  };
  AtomicMoves move_slots_atomically(std::chrono::seconds time);
  // As RespCluster::fail_over. `primary` has the slots now.
  void fail_over(std::size_t primary, std::size_t replica, std::string_view how = {});
  // Kills a primary; the others elect its replica. Redis.
  void lose(std::size_t primary, std::size_t replica);
  void stand_still(std::size_t server, std::chrono::seconds time);
  void restart_elsewhere(std::size_t server);

  // For what the ones above do not do: slots of one server are not served from change_begins() on,
  // until the cluster says that `owner` serves them, and that counts from `not_before` on.
  struct Change {
    std::string name;
    SlotSet slots;
    std::size_t permission = 0;
  };
  Change change_begins(std::string name, std::size_t server);
  void expect_served(const Change& change, std::size_t owner,
                     Call::Clock::time_point not_before = {});

  // Ends the load; then each key holds what it must.
  void expect_all_good();

  RespCluster cluster;
  ClusterObserver observer;
  CallJudge judge{observer};
  std::optional<Client> client;

 private:
  static constexpr unsigned threads_of_load = 8;

  std::vector<LoadKey*> keys() const;
  // 2,000 slots, with those of all keys, by the server that has them now.
  std::vector<std::vector<std::uint16_t>> slots_to_move();
  // Writes one key of each of these slots in one call, again until all of them are stored. Returns
  // when that was so.
  Call::Clock::time_point write_to_all(const SlotSet& slots);
  void wait_for_rounds(std::uint64_t more);

  std::optional<Load> load_;
  std::vector<std::unique_ptr<LockedCounter>> locks_;
  std::vector<std::unique_ptr<LoadWriter>> writers_;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace sheaf::test
