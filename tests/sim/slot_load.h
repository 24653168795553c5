#pragma once

// Load on a model cluster of the Redis protocol: complete clients, each with its own keys in many
// slots, so that together they have keys in every slot. A client does one thing after another: it
// stores a new value, reads a key of its own or of another client, or adds to a counter.
//
// The histories of the keys judge what is read, and the servers' log judges what they carried out:
// acknowledged requests once, refused ones never.
//
// Thread rule: one thread.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/key_history.h"
#include "tests/sim/kit/sim_resp.h"
#include "tests/sim/kit/stack.h"
#include "tests/sim/kit/write_order.h"

namespace sheaf::sim {

class SlotLoad;

// One client and its actions.
class SlotUser final : private socket::RequestSink, private socket::TimerSink {
 public:
  SlotUser(SlotLoad& load, SimWorld& world, SimNetwork& network, const ClusterConfig& config,
           unsigned number, const std::vector<std::string>& keys);
  ~SlotUser();
  SlotUser(const SlotUser&) = delete;
  SlotUser& operator=(const SlotUser&) = delete;

  void rest() { resting_ = true; }  // begins nothing more
  void go_on();
  bool busy() const { return in_flight_ > 0; }
  Deadline last_success() const { return last_success_; }
  StackClient& client() { return client_; }
  KeyHistory& history(std::size_t index) { return keys_[index]; }
  std::size_t keys() const { return keys_.size(); }
  // Returns what is wrong with its counters now; empty: nothing.
  std::string check_counters();

 private:
  enum class Doing : std::uint8_t { set, get, add };
  struct Counter {
    std::string name;
    std::int64_t acknowledged = 0;
    std::int64_t in_doubt = 0;
  };
  struct Action final : cluster::Request {
    Doing doing = Doing::get;
    KeyHistory* history = nullptr;
    Counter* counter = nullptr;
    std::size_t since = 0;                   // of a read, for KeyHistory
    std::size_t write = 0;                   // of a set, for KeyHistory
    std::optional<WriteOrder::Read> read{};  // of a get, unless a replica may answer it
    std::string value;
    std::array<std::string_view, 3> words;
    bool in_flight = false;
  };

  void on_timer(Now now) override;
  void on_done(socket::Request& request, const socket::Completion& completion) override;
  void begin(Now now);
  void read(Action& action, KeyHistory& history);
  void set(Action& action, KeyHistory& history);
  void add(Action& action);
  void end_read(Action& action, const socket::Completion& completion);
  void end_write(Action& action, const Error* error);
  void pause(Now now);

  SlotLoad& load_;
  StackClient client_;
  Random random_;
  std::unique_ptr<socket::Timer> timer_;
  std::vector<KeyHistory> keys_;
  std::vector<Counter> counters_;
  std::array<Action, 4> actions_;  // all on one key, except that a read may be of another client's
  unsigned in_flight_ = 0;
  bool resting_ = true;
  Deadline last_success_{0};
};

struct ReadOptions {
  ReadTarget from = ReadTarget::primary;
  ReplicaMiss misses = ReplicaMiss::confirm;
  bool hedged = false;
};

class SlotLoad {
 public:
  // `clients` complete clients of a cluster of `primaries`.
  SlotLoad(std::uint64_t seed, unsigned primaries, unsigned clients,
           test::resp_model::ClusterOptions options = {}, ReadOptions reads = {});
  ~SlotLoad();
  SlotLoad(const SlotLoad&) = delete;
  SlotLoad& operator=(const SlotLoad&) = delete;

  // A client waits this long on average before its next action.
  void run(std::chrono::nanoseconds pause);
  // Begins nothing more; returns when nothing is in progress.
  void rest();

  // ---- changes; each returns when it is over
  // Gives every slot another owner, slot by slot, this many at once.
  void migrate_all(unsigned at_once, std::chrono::nanoseconds about);
  // The same with atomic migrations of this many slots each. Their nodes disagree for `gap`.
  void flip_all(std::size_t slots, std::chrono::nanoseconds about, std::chrono::nanoseconds gap);
  void cluster_down(std::chrono::nanoseconds time);
  void add_replicas();  // one for each primary
  // Doubles the number of nodes; the new ones get half of all slots.
  void double_nodes(bool all_at_once, test::resp_model::ChangePace pace);

  // ---- judgement
  // Judges everything that has happened since the last call. Rests the clients first.
  void judge();
  // Returns the number of findings that judge() would have, and drops them.
  std::size_t forgive();
  void expect_no_errors();
  void expect_only(std::string_view text);  // the beginning of every error
  std::size_t errors() const { return errors_.size(); }
  // Lets that time pass, and a second more. Every client has acted by then, and no call fails in
  // that second.
  void expect_served_within(std::chrono::nanoseconds time);
  void forget_errors() { errors_.clear(); }
  // Replies to requests for the map, on average for each client.
  double fetches_per_client() const;
  // The share of replicas in all answers to reads and writes.
  double share_of_replicas();
  void expect_calm_fetches() const;  // at most one a second

  std::uint64_t done() const { return done_; }  // of all clients
  // Operations that began while another one of their client on their key was in flight.
  std::size_t overlaps() const { return order_.overlaps(); }
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
  // How often a request may have been carried out.
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
  void finding(std::string text);  // empty: no finding

  const ReadTarget reads_;
  std::chrono::nanoseconds pause_{std::chrono::seconds(1)};
  std::vector<Failed> errors_;
  std::vector<std::string> findings_;
  std::map<std::string, Times> sets_;  // by value; all values differ
  WriteOrder order_;
  std::uint64_t done_ = 0;
  std::vector<std::unique_ptr<SlotUser>> users_;
};

}  // namespace sheaf::sim
