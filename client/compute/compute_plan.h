#pragma once

// ComputePlan: one caller of get_or_compute that has found its key absent, as a pure machine. It
// waits for another caller of its client, or gets the right to compute, and then stores what was
// computed or gives the right back. computation.h carries it out.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// The right is a lease. memcached's meta protocol has leases: the first caller that asks for an
// absent key wins one, and stores with the version that came with it. For other servers it is a
// guard key on the same node, which only one caller can create. Both expire if their holder dies.
//
// | phase     | input                          | then                            | next      |
// |-----------|--------------------------------|---------------------------------|-----------|
// | following | on_value()                     | value                           | done      |
// | following | on_right()                     |                                 | computing |
// | following | on_lead(), leases available    | lease KEY                       | leasing   |
// | following | on_lead(), else                | get KEY                         | reading   |
// | leasing   | a value, not ours to renew     | value                           | done      |
// | leasing   | won                            | the right                       | ...       |
// | leasing   | absent, another has the lease  |                                 | waiting   |
// | leasing   | unsupported                    | get KEY                         | reading   |
// | reading   | a value                        | value                           | done      |
// | reading   | absent                         | set GUARD if absent             | guarding  |
// | guarding  | stored                         | get KEY again: another may have | rereading |
// |           |                                | computed since                  |           |
// | guarding  | not stored                     |                                 | waiting   |
// | rereading | absent                         | the right                       | ...       |
// | rereading | a value                        | value; remove GUARD, unheard    | done      |
// | guarding, | error; the guard is not ours   | the same                        | done      |
// | rereading | error; it is, or may be        | the same; remove GUARD, unheard | done      |
// |           | the same, of unknown version   | the same; get GUARD, unheard    | checking  |
// | checking  | it is ours                     | remove GUARD, unheard           | done      |
// | checking  | else                           |                                 | done      |
// | waiting   | pause is over                  | as on_lead()                    | ...       |
// | the right | the caller computes here       |                                 | computing |
// | the right | else                           |                                 | queued    |
// | queued    | give()                         |                                 | following |
// | queued    | deadline                       |                                 | recalling |
// | queued    | on_cancel()                    | error: cancelled                | recalling |
// | recalling | on_recalled(), it has begun    |                                 | computing |
// | recalling | on_recalled(), it will not     | error: timed out; then as       | ...       |
// |           |                                | on_failed()                     |           |
// | queued,   | on_made(), it can be stored    | set KEY if version, or absent   | storing   |
// | computing | on_made(), else; on_failed()   | remove GUARD, or the lease      | freeing   |
// |           | on_cancel()                    | error: cancelled                | computing |
// | storing   | an answer, and it is a lease   | value                           | done      |
// | storing   | else                           | remove GUARD                    | freeing   |
// | freeing   | an answer                      | value, or the error             | done      |
// | storing   | on_cancel()                    | value; the rest goes on unheard | the same  |
// | freeing   | on_cancel()                    | value; the answer is unheard    | done      |
// | following,| deadline                       | error: timed out                | done      |
// | waiting   | on_cancel()                    | error: cancelled                | done      |
// | the same, | on_shutdown()                  | error: closed                   | done      |
// | queued,   |                                |                                 |           |
// | computing |                                |                                 |           |
// | leasing,  | error                          | the same                        | done      |
// | reading   |                                |                                 |           |
//
// A value is stored only if no other was stored meanwhile: a computation that outlived its lease
// changes nothing.
//
// Thread rule: one thread at a time; under the baton.

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <sheaf/result.h>
#include <sheaf/value.h>

#include "base/random.h"
#include "client/calls/procedure.h"
#include "protocol/owned_operation.h"

namespace sheaf::client::compute {

// What a caller wants.
struct Terms {
  std::string key;
  std::string guard;  // guard_of(key)
  std::chrono::milliseconds lease{10'000};
  std::chrono::milliseconds ttl{0};  // of the value; 0 = never expires
  std::size_t longest_value = std::numeric_limits<std::size_t>::max();  // to store
  Deadline started{0};
  // Until then it waits. Afterwards it may take as long again to store the value.
  Deadline due{0};
  bool leases = false;             // worth trying; a node may still have none
  bool versions = false;           // the guard is removed by its version, else by its value
  bool here = false;               // the caller computes on its own stack
  std::shared_ptr<void> parent{};  // of its requests; see Procedure::set_parent
};

// The key that guards the computation of `key`: at most 250 bytes.
std::string guard_of(std::string_view key);

// The right to compute. It is won, and then used or given back.
struct Right {
  bool by_lease = false;
  std::string version;   // of the lease, or of the guard
  std::string holder{};  // the guard's text, unique to this holder
};

// The value a leader has made, for all that wait.
using SharedValue = std::shared_ptr<const Value>;
using Found = std::variant<Value, SharedValue>;

class ComputePlan final : public calls::Procedure {
 public:
  using Out = Result<Found>;
  ComputePlan(Terms terms, const Seed& seed);

  void start(Now) override {}
  void on_answer(unsigned id, const socket::Completion& answer) override;
  void on_deadline(Now now) override;
  bool on_cancel(Now now) override;
  void on_shutdown(Now now) override;
  bool poll_command(calls::Command& command) override;
  Deadline poll_deadline() const override;
  // The others of this client need not wait for it any longer. Step::end.
  bool done() const override {
    return phase_ == Phase::done || phase_ == Phase::checking || value() != nullptr;
  }

  // For a follower; also before start(). No effect once it is done.
  void on_lead();
  void on_value(SharedValue value);
  void on_right(Right right);

  // The function has ended, with a value, without one, or with the caller's error.
  void on_made(std::optional<std::string> made, Now now);
  void on_failed(Error error, Now now);
  // Another caller takes the right of a function that has not begun; this one follows.
  Right give();
  // `back`: the function had not begun, and will not.
  void on_recalled(bool back, Now now);

  const Terms& terms() const noexcept { return terms_; }
  // What its shell does now, besides the commands.
  enum class Step : std::uint8_t {
    none,
    queue,    // has the function begun elsewhere; until on_recalled() or on_made()
    recall,   // takes the function back, and calls on_recalled()
    compute,  // has the caller compute, and calls on_made()
    tell,     // gives the caller take_out(); there is more to do
    end       // gives the caller take_out() and the others value(), or the lead
  };
  Step step() const;
  Out take_out();
  // A value that this caller has found or made; null: none, or none yet.
  const Value* value() const noexcept;

 private:
  enum class Phase : std::uint8_t {
    following,
    leasing,
    reading,
    guarding,
    rereading,
    checking,
    waiting,
    queued,
    recalling,
    computing,
    storing,
    freeing,
    done
  };
  void claim();
  void ask(Phase phase, protocol::OwnedOperation operation);
  void on_lease(const socket::Completion& answer);
  void on_read(const socket::Completion& answer);
  void on_guard(const socket::Completion& answer);
  void on_check(const socket::Completion& answer);
  void on_stored(const socket::Completion& answer);
  void pause(Now now);
  void win(Right right);
  void leave(const socket::Completion& answer);
  void extend(Now now);
  void settle(Now now);
  void free(Phase phase);
  void finish();

  Terms terms_;
  Random random_;
  Deadline due_;  // of requests
  Phase phase_ = Phase::following;
  protocol::OwnedOperation operation_;  // in flight, or waiting to be polled
  bool wanted_ = false;
  unsigned pauses_ = 0;
  Deadline wake_ = never;
  Right right_;                // a guard may be ours from its request on
  std::optional<Value> made_;  // while storing, its data is in operation_
  std::optional<Out> out_;     // until it is taken
};

}  // namespace sheaf::client::compute
