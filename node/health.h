#pragma once

// What the client believes about one node, and what to do about it: a state machine. Inputs and
// time go in; the caller pulls actions.
//
//   state        input                                        next
//   connecting   ready, answer                                up
//                connect failed                               down
//   up           3 time-outs in a row that count              down
//                connect failed                               down
//                connection lost                              up (the pool reconnects with backoff)
//                another process took our name                held
//   held         the pause is over                            recovering: the pool connects at once
//   down         probes: the first after 250 ms, then one
//                every 500 ms from the start of the one
//                before (never two at once), x 0.5-1.0
//                probe answered                               confirming
//                anything else                                down
//   confirming   100 ms after each answer another is asked
//                probe answered, enough of them               recovering: the pool connects at once
//                probe failed                                 down
//   recovering   as up; after the ramp of 2 s                 up
//
// A time-out counts only if nothing at all arrived over that connection after the request was sent,
// the silence has lasted 250 ms, and our own process was not paused. Anything that arrives between
// two time-outs ends the silence, even if it answers a request that has ended. A failed connect
// does not count if the node has answered any connection since the attempt began (the node may
// limit connections). A node that goes down again within 10 s of its return needs one more good
// answer each time (2 to 5). This holds back a node that flaps, yet every return is served within
// 1.2 s. Probe intervals run from start to start, and a probe gives up within its interval, so a
// request that a dead link swallows delays the next probe no longer than an answer would.
//
// Pure: no socket, clock, entropy, thread or callback.
// Thread rule: belongs to one lane.

#include <cstdint>

#include <sheaf/stats.h>

#include "base/clock.h"
#include "base/random.h"

namespace sheaf::node {

struct HealthOptions {
  unsigned timeouts = 3;
  std::chrono::nanoseconds silence = std::chrono::milliseconds(250);
  std::chrono::nanoseconds first_probe = std::chrono::milliseconds(250);
  std::chrono::nanoseconds probe_interval = std::chrono::milliseconds(500);
  // While the node refuses us permanently (wrong password): frequent attempts only fill its log.
  std::chrono::nanoseconds refused_interval = std::chrono::seconds(5);
  std::chrono::nanoseconds confirm_interval = std::chrono::milliseconds(100);
  std::chrono::nanoseconds ramp = std::chrono::seconds(2);
  std::chrono::nanoseconds stable = std::chrono::seconds(10);
  unsigned answers = 2;       // good answers in a row before the node is used again
  unsigned most_answers = 5;  // the limit for a node that flaps
};

enum class HealthAction : std::uint8_t {
  none,
  start_probe,   // ask once outside the pool, over the open probe connection or a new one; report
                 // through on_probe_result within probe_timeout()
  connect_pool,  // the node answers: connect now, without backoff
  drop_pool      // the node is down: no connection of the pool is worth keeping
};

class Health {
 public:
  explicit Health(const Seed& seed) noexcept : random_(seed) {}

  // Inputs.
  void on_ready(Now now) noexcept;   // the handshake of a pooled connection is done
  void on_answer(Now now) noexcept;  // any definite reply over the pool, errors included
  // A request over the pool reached its deadline. `sent`: when it was submitted to the connection;
  // `last_received`: when anything last arrived over that connection; `late`: our own process did
  // not run.
  void on_timeout(Deadline sent, Deadline last_received, bool late, Now now) noexcept;
  // An attempt of the pool, begun at `started`, failed. `permanent`: a retry soon is useless.
  void on_connect_failed(Deadline started, bool permanent, Now now) noexcept;
  // Another process uses the name of a connection of the pool. Its connection must not be ended
  // before `pause` is over: there are no probes, and the login does not matter.
  void on_taken_over(std::chrono::nanoseconds pause, Now now) noexcept;
  // The login has changed: a node that is down is probed at once.
  void on_new_login(Now now) noexcept;
  void on_probe_result(bool good, bool permanent, Now now) noexcept;

  // Outputs. After each input and at poll_deadline(), call next_action() until it returns none.
  HealthAction next_action(Now now) noexcept;
  Deadline poll_deadline() const noexcept;

  // Queries.
  NodeHealth state() const noexcept;
  bool usable() const noexcept { return state() != NodeHealth::down; }
  Deadline since() const noexcept { return since_; }  // when the state was entered
  // A probe gives up after this.
  std::chrono::nanoseconds probe_timeout() const noexcept { return options.probe_interval; }
  std::chrono::nanoseconds ramp() const noexcept { return options.ramp; }
  std::uint64_t downs() const noexcept { return downs_; }
  std::uint64_t probes() const noexcept { return probes_; }

 private:
  enum class State : std::uint8_t { connecting, up, held, down, confirming, recovering };

  void enter(State state, Now now) noexcept;
  void go_down(bool permanent, Now now) noexcept;
  void come_back(Now now) noexcept;
  void plan_probe(Deadline from, std::chrono::nanoseconds interval) noexcept;

  static constexpr HealthOptions options{};

  RareRandom random_;
  State state_ = State::connecting;
  Deadline since_{0};
  Deadline last_answer_{-1};
  // The consecutive time-outs that count, and the start of the silence.
  unsigned timeouts_ = 0;
  Deadline silent_since_ = never;
  // Recovery.
  Deadline next_probe_ = never;  // held: the end of the pause
  Deadline probe_started_{0};
  bool probing_ = false;
  bool asks_again_ = false;  // probe again at once if the current probe fails
  unsigned answers_ = 0;
  unsigned needed_ = options.answers;
  Deadline returned_ = never;  // when the node last came back; never: it has not been down
  bool drop_ = false;
  bool connect_ = false;
  std::uint64_t downs_ = 0;
  std::uint64_t probes_ = 0;
};

}  // namespace sheaf::node
