#pragma once

// A live cluster, a client of it, and eight threads that use the client while a test changes the
// cluster. All the time: no value is wrong, no command is executed twice, every call ends in time,
// only calls that may fail do, and slots are served again 2 s after the cluster has said which
// server serves them.
//
// Thread rule: one thread, besides those of the load.

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
#include "tests/support/lent_cluster.h"

namespace sheaf::test {

using namespace std::chrono_literals;

// The keys of one thread, and those that it shares with others.
//
// Thread rule: run() on its own thread; the others on any thread, check() after run() has ended.
class LoadWriter {
 public:
  LoadWriter(Load& load, unsigned number, std::span<const std::unique_ptr<LockedCounter>> locks);

  // Uses one key after another; once a round also all plain keys together and one of the locks.
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
  const LentCluster lent_;  // outlives everything else

 public:
  // Each call may take `patience`.
  explicit LoadedCluster(const RespClusterOptions& options,
                         std::chrono::milliseconds patience = 3s);

  // From now on changes may lose this.
  void expect_loss(Loss loss) { load_->loss = loss; }

  // Moves 2,000 slots, which include those of all keys of the load, each to the next server that
  // has slots.
  void move_slots();
  // The same by Valkey's atomic migrations, back and forth for this time. Every fourth is cancelled
  // while it runs. No call may fail.
  struct AtomicMoves {
    std::size_t done = 0;
    std::size_t cancelled = 0;
  };
  AtomicMoves move_slots_atomically(std::chrono::seconds time);
  // As RespCluster::fail_over. `primary` owns the slots now.
  void fail_over(std::size_t primary, std::size_t replica, std::string_view how = {});
  // Kills a primary; the others elect its replica. Redis only.
  void lose(std::size_t primary, std::size_t replica);
  void stand_still(std::size_t server, std::chrono::seconds time);
  void restart_elsewhere(std::size_t server);

  // Changes that the functions above do not make: from change_begins() on, the slots of one server
  // are not served until the cluster says that `owner` serves them. That counts from `not_before`
  // on.
  struct Change {
    std::string name;
    SlotSet slots;
    std::size_t permission = 0;
  };
  Change change_begins(std::string name, std::size_t server);
  void expect_served(const Change& change, std::size_t owner,
                     LoadCall::Clock::time_point not_before = {});

  // Ends the load, and checks that each key holds what it must.
  void expect_all_good();

  RespCluster& cluster;
  ClusterObserver observer;
  CallJudge judge{observer};
  std::optional<Client> client;

 private:
  static constexpr unsigned threads_of_load = 8;

  std::vector<LoadKey*> keys() const;
  // 2,000 slots, including those of all keys, by their present server.
  std::vector<std::vector<std::uint16_t>> slots_to_move();
  // Writes one key in each of these slots in one call, and repeats that until all are stored.
  // Returns the time when they were.
  LoadCall::Clock::time_point write_to_all(const SlotSet& slots);
  void wait_for_rounds(std::uint64_t more);

  std::optional<Load> load_;
  std::vector<std::unique_ptr<LockedCounter>> locks_;
  std::vector<std::unique_ptr<LoadWriter>> writers_;
  std::vector<std::jthread> threads_;  // last, because they use the others
};

}  // namespace sheaf::test
