#pragma once

// ThreadRoom: the common part of the worlds in which several threads call real clients: simulated
// endpoints, a simulated network and its faults, and the rule that a call ends once, by its
// deadline, and without an error if nothing is wrong.
//
// Thread rule: main() is the first simulated thread; counts() once the run is over.

#include <deque>
#include <functional>
#include <memory>

#include <sheaf/client.h>

#include "base/random.h"
#include "client/client_impl.h"
#include "client/compute/compute_controls.h"
#include "socket/lane/lane_controls.h"
#include "tests/sim/kit/planted_bugs.h"
#include "tests/sim/kit/stack.h"

namespace sheaf::sim {

// Errors of the mover, which carries values from fleet to fleet: see migration_room_test.cpp.
enum class MoverBug : std::uint8_t {
  none,
  hasty,          // begins a stage before every program has left the one before
  blind,          // copies without a placeholder
  leaves_values,  // in the old fleet, and goes from `drain` to `after` at once
};

// Faults planted in a run.
struct Plants {
  // Not a fault: the servers of every client change again and again. All of them are front ends of
  // one store, so no key loses its value when it gets another server.
  bool servers_change = false;
  // Not a fault: a driver turns the clients, on one thread or on several.
  bool driven = false;
  unsigned turning = 1;
  cluster::ClusterControls cluster{};
  socket::LaneControls lane{};
  client::compute::ComputeControls compute{};
  Bug session = Bug::none;
  MoverBug mover = MoverBug::none;
  PrimitiveBugs primitives{};
};

struct RoomCounts {
  unsigned calls = 0;
  unsigned failures = 0;  // keys and calls that ended with an error
  unsigned special = 0;   // what the room is about: see there
  unsigned changes = 0;   // of the servers
};

class ThreadRoom {
 public:
  ThreadRoom(const ThreadRoom&) = delete;
  ThreadRoom& operator=(const ThreadRoom&) = delete;
  virtual ~ThreadRoom() = default;

  void main();

  SimWorld& world() { return stack_.world; }
  const RoomCounts& counts() const { return counts_; }

 protected:
  struct Setting {
    std::uint64_t seed;
    EndpointKind kind;
    unsigned servers;
  };
  // What a seed draws first. `random` draws the rest: the faults of the servers, then the room's
  // choices.
  struct Draw {
    Random random;
    Setting setting;
  };
  // When a call began, and how long threads had been delayed until then.
  struct Start {
    Deadline at{0};
    std::chrono::nanoseconds delays{0};
  };

  ThreadRoom(const Draw& draw, const Plants& plants);

  // Draws one server or two. They are memcached in one of `memcached_in` runs and brokers in the
  // others, or brokers in all runs if `memcached_in` is 0.
  static Draw draw(std::uint64_t seed, std::uint64_t memcached_in);

  // What the room does, from its first client to the last. The faults have not begun yet.
  virtual void run() = 0;

  Client open_client(ClientOptions options = {});
  // Servers stop, are cut off and end connections in some runs, at moments within this time.
  void draw_faults(std::chrono::microseconds within = std::chrono::milliseconds(40));
  void end_faults();
  // Runs `main` on this many threads, each with its number, and waits for their end.
  void run_threads(unsigned count, const std::function<void(unsigned)>& main);
  // Rests, at times for longer than a call may last, so that no other call helps a forgotten one.
  void rest(Random& random);
  static void pass(std::chrono::nanoseconds time);

  Start begin_call() const;
  // `limit`: how long the call may have lasted.
  void end_call(const Start& started, std::chrono::nanoseconds limit);
  void end_call(const Start& started) { end_call(started, stack_.config.timeout); }
  void check_time(const Start& started, std::chrono::nanoseconds limit) const;
  // Checks an error that is allowed only if something is wrong.
  void check_error(const Error& error);
  // True if nothing is wrong in this run: calls must not fail.
  virtual bool calm() const;
  bool servers_change() const { return plants_.servers_change; }
  static void require(const std::string& finding);
  static std::chrono::microseconds draw_us(Random& random, std::uint64_t below) {
    return std::chrono::microseconds(random.below(below));
  }

  Random random_;
  const Plants plants_;
  Stack stack_;
  bool faulty_ = false;
  RoomCounts counts_;

 private:
  void draw_servers();
  void change_servers(Random& random);
  void check_servers();
  std::vector<NodeConfig> draw_members(Random& random) const;

  std::optional<Driver> driver_;
  std::vector<NodeConfig> all_servers_;
  std::vector<NodeConfig> members_;                      // the present servers
  std::vector<client::runtime::Context*> clients_here_;  // those open while threads run
  bool over_ = false;                                    // the threads have ended
};

}  // namespace sheaf::sim
