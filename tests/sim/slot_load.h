#pragma once

// Load on a model cluster of the Redis protocol: whole clients, each with keys of its own in many
// slots, so that together they have keys in every slot. A client does one thing after another: it
// stores a new value, reads a key of its own or of another client, or adds to a counter.
//
// What is read is judged by the histories of the keys, and what the servers carried out by their
// log: what was acknowledged once, what was refused never.
//
// Thread rule: one thread.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/key_history.h"
#include "tests/sim/kit/sim_resp.h"
#include "tests/sim/kit/stack.h"

namespace sheaf::sim {

class SlotLoad;

// One client and what it does.
class SlotUser final : private socket::RequestSink, private socket::TimerSink {
 public:
  SlotUser(SlotLoad& load, SimWorld& world, SimNetwork& network, const ClusterConfig& config,
           unsigned number, const std::vector<std::string>& keys);
  ~SlotUser();
  SlotUser(const SlotUser&) = delete;
  SlotUser& operator=(const SlotUser&) = delete;

  void rest() { resting_ = true; }  // nothing more is begun
  void go_on();
  bool busy() const { return busy_; }
  Deadline last_success() const { return last_success_; }
  StackClient& client() { return client_; }
  KeyHistory& history(std::size_t index) { return keys_[index]; }
  std::size_t keys() const { return keys_.size(); }
  // What is wrong with its counters now; empty: nothing.
  std::string check_counters();

 private:
  enum class Doing : std::uint8_t { set, get, add };
  struct Counter {
    std::string name;
    std::int64_t acknowledged = 0;
    std::int64_t in_doubt = 0;
  };

  void on_timer(Now now) override;
  void on_done(socket::Request& request, const socket::Completion& completion) override;
  void begin(Now now);
  void end_read(const socket::Completion& completion);
  void end_write(const Error* error);
  void pause(Now now);

  SlotLoad& load_;
  StackClient client_;
  Random random_;
  std::unique_ptr<socket::Timer> timer_;
  std::vector<KeyHistory> keys_;
  std::vector<Counter> counters_;
  cluster::Request request_;
  std::array<std::string_view, 3> words_;
  Doing doing_ = Doing::get;
  KeyHistory* key_ = nullptr;
  Counter* counter_ = nullptr;
  std::size_t since_ = 0;
  bool busy_ = false;
  bool resting_ = true;
  Deadline last_success_{0};
};

struct ReadOptions {
  ReadTarget from = ReadTarget::primary;
  ReplicaMiss misses = ReplicaMiss::confirm;
};

class SlotLoad {
 public:
  // `clients` whole clients of a cluster of `primaries`.
  SlotLoad(std::uint64_t seed, unsigned primaries, unsigned clients,
           test::resp_model::ClusterOptions options = {}, ReadOptions reads = {});
  ~SlotLoad();
  SlotLoad(const SlotLoad&) = delete;
  SlotLoad& operator=(const SlotLoad&) = delete;

  // On average a client waits so long before it does the next thing.
  void run(std::chrono::nanoseconds pause);
  // Nothing more is begun; returns when nothing is in progress.
  void rest();

  // ---- changes; each returns when it is over
  // Every slot gets another owner, slot by slot, so many of them at once.
  void migrate_all(unsigned at_once, std::chrono::nanoseconds about);
  // The same by atomic migrations of so many slots each. Their nodes disagree for `gap`.
  void flip_all(std::size_t slots, std::chrono::nanoseconds about, std::chrono::nanoseconds gap);
  void cluster_down(std::chrono::nanoseconds time);
  void add_replicas();  // one for each primary
  // As many new nodes as there are get half of everything.
  void double_nodes(bool all_at_once, test::resp_model::ChangePace pace);

  // ---- judgement
  // Of all that has happened since the last call. Rests.
  void judge();
  // How many findings a judge would have. None of them counts any more.
  std::size_t forgive();
  void expect_no_errors();
  void expect_only(std::string_view text);  // errors begin with it
  std::size_t errors() const { return errors_.size(); }
  // Lets that time pass, and a second more. Every client has done something by then, and nothing
  // fails in that second.
  void expect_served_within(std::chrono::nanoseconds time);
  void forget_errors() { errors_.clear(); }
  // Replies to questions for the map, of all clients.
  double fetches_per_client() const;
  // Of all answers to reads and writes, the part that replicas gave.
  double share_of_replicas();
  void expect_calm_fetches() const;  // at most one a second

  std::uint64_t done() const { return done_; }  // of all clients
  SlotUser& user(std::size_t index) { return *users_[index]; }
  std::size_t users() const { return users_.size(); }
  Deadline now() const { return world.now().mono; }

  SimWorld world;
  SimNetwork network{world};
  SimResp resp;

 private:
  friend class SlotUser;
  struct Failed {
    Deadline at{0};
    std::string text;
  };
  // How often something may have been carried out.
  struct Times {
    unsigned least = 0;
    unsigned most = 0;
  };
  struct Shift {
    test::resp_model::SlotRange slots;
    unsigned source = 0;
    unsigned target = 0;
  };
  using Mover = std::function<void(const std::vector<Shift>&)>;

  void wait_for_changes();
  void move_all(const Mover& move);
  static std::vector<Shift> in_pieces(const std::vector<Shift>& shifts, std::size_t slots);
  std::vector<unsigned> owners() const;
  std::int64_t number_at(const std::string& key);
  void finding(std::string text);  // empty: there is none

  std::chrono::nanoseconds pause_{std::chrono::seconds(1)};
  std::vector<Failed> errors_;
  std::vector<std::string> findings_;
  std::map<std::string, Times> sets_;  // by value; values are all different
  std::uint64_t done_ = 0;
  std::vector<std::unique_ptr<SlotUser>> users_;
};

}  // namespace sheaf::sim
