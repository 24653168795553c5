#pragma once

// How one of many processes gets to compute the value of an absent key. ClaimPlan ends with the
// value, with the right to compute it, or with an error. SettlePlan stores the computed value, or
// gives the right back.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// The right is a lease. memcached's meta protocol has leases: the first caller that asks for an
// absent key wins one, and stores with the version that came with it. For other servers it is a
// guard key on the same node, which only one caller can create. Both expire if their holder dies.
//
// In one client only the leader claims. The ClaimPlan of any other caller follows: it waits for the
// leader's value, for the lead, or for a right already won. single_flight.h reports these.
//
// ClaimPlan:
//
// | phase     | input                          | then                            | next      |
// |-----------|--------------------------------|---------------------------------|-----------|
// | start     | another of this client leads   |                                 | following |
// | following | on_value()                     | value                           | done      |
// | following | on_right()                     | compute                         | done      |
// | following | on_lead()                      | as start of the leader          | ...       |
// | start     | leases are available           | lease KEY                       | leasing   |
// | start     | else                           | get KEY                         | reading   |
// | leasing   | a value, not ours to renew     | value                           | done      |
// | leasing   | won                            | compute, with its version       | done      |
// | leasing   | absent, another has the lease  |                                 | waiting   |
// | leasing   | unsupported                    | get KEY                         | reading   |
// | reading   | a value                        | value                           | done      |
// | reading   | absent                         | set GUARD if absent             | guarding  |
// | guarding  | stored                         | get KEY again: another may have | rereading |
// |           |                                | computed since                  |           |
// | guarding  | not stored                     |                                 | waiting   |
// | rereading | absent                         | compute                         | done      |
// | rereading | a value                        | value; remove GUARD, unheard    | done      |
// | waiting   | pause is over                  | as start                        | ...       |
// | following,| deadline                       | error: timed out                | done      |
// | waiting   | on_cancel()                    | error: cancelled                | done      |
// |           | on_shutdown()                  | error: closed                   | done      |
// | rereading | on_cancel()                    | the same; remove GUARD, unheard | done      |
// | any       | error                          | the same                        | done      |
//
// SettlePlan. It starts with the right, and with a value if that was computed on the stack:
//
// | phase     | input                          | then                            | next      |
// |-----------|--------------------------------|---------------------------------|-----------|
// | start     | computed elsewhere             |                                 | computing |
// | start     | a value that can be stored     | set KEY if version, or absent   | storing   |
// | start     | else                           | remove GUARD, or the lease      | freeing   |
// | computing | on_made()                      | as start                        | ...       |
// | computing | it has not begun in time       | overdue(), for the owner        | overdue   |
// | overdue   | on_begun()                     |                                 | computing |
// | overdue   | on_made()                      | as start                        | ...       |
// | computing,| on_shutdown(), abandon()       |                                 | done      |
// | overdue   |                                |                                 |           |
// | storing   | an answer, and it is a lease   |                                 | done      |
// | storing   | else                           | remove GUARD                    | freeing   |
// | freeing   | an answer                      |                                 | done      |
// | storing,  | on_cancel()                    | finishes unheard                | done      |
// | freeing   |                                |                                 |           |
//
// A value is stored only if no other was stored meanwhile: a computation that outlived its lease
// changes nothing.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sheaf/result.h>
#include <sheaf/value.h>

#include "base/random.h"
#include "client/calls/procedure.h"
#include "client/compute/claim.h"
#include "protocol/owned_operation.h"

namespace sheaf::client::compute {

// What both plans know.
struct Terms {
  std::string key;
  std::string guard;   // guard_of(key)
  std::string holder;  // the guard's value, unique to this holder
  std::chrono::milliseconds lease{10'000};
  std::chrono::milliseconds ttl{0};  // of the value; 0 = never expires
  bool leases = false;               // worth trying; a node may still have none
  bool versions = false;             // the guard is removed by its version, else by its value
  std::size_t longest_value = std::numeric_limits<std::size_t>::max();  // to store
  std::shared_ptr<void> parent{};  // of its requests; see Procedure::set_parent
};

// The key that guards the computation of `key`: at most 250 bytes.
std::string guard_of(std::string_view key);

// The caller leads, or follows another caller of this client.
enum class Place : bool { leader, follower };

class ClaimPlan final : public calls::Procedure {
 public:
  using Out = Result<Claim>;
  ClaimPlan(Terms terms, Deadline started, Deadline due, const Seed& seed,
            Place place = Place::leader);

  void start(Now now) override;
  void on_answer(unsigned id, const socket::Completion& answer) override;
  void on_deadline(Now now) override;
  bool on_cancel(Now now) override;
  void on_shutdown(Now now) override;
  bool poll_command(calls::Command& command) override;
  Deadline poll_deadline() const override;
  bool done() const override { return phase_ == Phase::done; }
  Out take_out() { return std::move(*out_); }

  // For a follower. No effect once it is done.
  void on_lead();
  void on_value(SharedValue value);
  void on_right(Right right);  // also before start()

 private:
  enum class Phase : std::uint8_t {
    idle,
    following,
    leasing,
    reading,
    guarding,
    rereading,
    waiting,
    done
  };
  bool waits() const noexcept { return phase_ == Phase::following || phase_ == Phase::waiting; }
  void begin();
  void ask(Phase phase, protocol::OwnedOperation operation);
  void set_guard();
  void pause(Now now);
  void finish(Out out);
  void give(const socket::Completion& answer);
  void on_lease(const socket::Completion& answer);

  Terms terms_;
  Deadline started_;
  Deadline due_;
  Random random_;
  const Place place_;
  Phase phase_ = Phase::idle;
  protocol::OwnedOperation operation_;  // in flight, or waiting to be polled
  bool wanted_ = false;
  bool frees_guard_ = false;  // at the end; the answer is ignored
  unsigned pauses_ = 0;
  Deadline wake_ = never;
  std::string guard_version_;
  std::optional<Out> out_;
};

class SettlePlan final : public calls::Procedure {
 public:
  using Out = Value;  // empty if none was made
  // Without a value, gives the right back.
  SettlePlan(Terms terms, Right right, std::optional<std::string> value, Deadline due);
  // The value is computed elsewhere; that should begin by `begin_by`.
  SettlePlan(Terms terms, Right right, Deadline begin_by);

  void start(Now now) override;
  void on_answer(unsigned id, const socket::Completion& answer) override;
  void on_deadline(Now now) override;
  bool on_cancel(Now now) override;
  void on_shutdown(Now) override { abandon(); }
  bool poll_command(calls::Command& command) override;
  Deadline poll_deadline() const override { return computing() ? begin_by_ : never; }
  bool done() const override { return phase_ == Phase::done || cancelled_; }
  Out take_out() { return {std::move(value_).value_or(std::string()), std::move(stored_), 0}; }

  // True while the value is computed elsewhere.
  bool computing() const noexcept { return phase_ == Phase::computing || phase_ == Phase::overdue; }
  // True if the computation should have begun by now. The owner then calls on_begun() or ends it.
  bool overdue() const noexcept { return phase_ == Phase::overdue; }
  void on_begun() noexcept;
  // The computation has ended, with or without a value; storing may take until `due`.
  void on_made(std::optional<std::string> value, Deadline due);
  // Another caller has the right now, or it is left to expire.
  void abandon() noexcept;

 private:
  enum class Phase : std::uint8_t { idle, computing, overdue, storing, freeing, done };
  void settle();
  void ask(Phase phase, protocol::OwnedOperation operation);
  void free();

  Terms terms_;
  Right right_;
  std::optional<std::string> value_;  // while storing, it is in operation_
  Deadline due_ = never;
  Deadline begin_by_ = never;
  Phase phase_ = Phase::idle;
  protocol::OwnedOperation operation_;  // in flight, or waiting to be polled
  bool wanted_ = false;
  bool cancelled_ = false;
  Version stored_;
};

}  // namespace sheaf::client::compute
