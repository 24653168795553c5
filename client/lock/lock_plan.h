#pragma once

// LockPlan: one lock from its first request to its last. It acquires the lock or waits for it,
// renews it, notices its loss, and releases it.
//
// The LockKey decides how the key is acquired, renewed and released at the endpoint.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// | phase      | input                        | then                          | next       |
// |------------|------------------------------|-------------------------------|------------|
// | waiting    | poll time, hint              | acquire                       | asking     |
// | waiting    | the wait is over             | settled: not acquired, error  | leaving    |
// | asking     | done in time                 | settled: acquired             | held       |
// | asking     | done after our own lease     | acquire again                 | asking     |
// | asking     | taken by another             | if a hint came meanwhile:     | waiting    |
// |            |                              | polls at once                 |            |
// | asking     | no answer                    | the attempt is in question    | waiting    |
// | asking     | refused by the store         | settled: error                | leaving    |
// | held       | a renewal is due             | renew, same connection        | renewing   |
// | renewing   | done in time                 | held for another lease        | held       |
// | renewing   | no answer                    | the next renewal is due soon  | held       |
// | renewing   | taken by another, gone       | lost                          | over       |
// | renewing   | done too late                | lost                          | freeing    |
// | held,      | the lease is over, or the    | lost                          | freeing    |
// | renewing   | connection ended             |                               |            |
// | held       | release()                    |                               | freeing    |
// | renewing   | release()                    |                               | releasing  |
// | releasing  | the renewal ended            |                               | freeing    |
// | freeing    | start; no answer, and a      | release                       | freeing    |
// |            | while later                  |                               |            |
// | freeing    | answered, or one lease later |                               | over       |
// | waiting    | on_cancel()                  | settled: cancelled            | leaving    |
// | asking     | on_cancel()                  |                               | cancelling |
// | cancelling | the attempt ended            | settled: cancelled            | leaving    |
// | releasing, | on_cancel()                  | freed: cancelled, unknown     | the same   |
// | freeing    |                              |                               |            |
// | any        | on_shutdown()                | lost, not acquired            | over       |
//
// leaving = freeing if an attempt is in question, else over. Without patience (try_lock), a taken
// lock and most failures settle at once.
//
// Two rules keep two clients from believing in the lock at once. First, the belief ends one lease,
// less an allowance for clock drift, after the moment *before* the acquiring or renewing request
// was sent. Second, it ends with the connection that carried the acquiring request: a store that
// lost its memory ends every connection, and a renewal on a new connection could take back a lock
// that another client held meanwhile.
//
// Thread rule: one thread at a time; under the baton.

#include <memory>
#include <optional>

#include <sheaf/result.h>

#include "base/random.h"
#include "client/calls/procedure.h"
#include "client/lock/lock_controls.h"
#include "client/lock/lock_key.h"
#include "client/lock/lock_memory.h"
#include "client/lock/tenure.h"

namespace sheaf::client::lock {

struct LockTerms : LockItem {
  bool by_version = false;  // the endpoint compares versions instead of values
  std::chrono::nanoseconds attempt_timeout = std::chrono::seconds(1);  // for each request
  // A pooled connection that is unused for this long may be closed as idle.
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(60);
  bool patient = false;        // waits while another client holds the lock
  Deadline wait_until{never};  // when to give up
  // Patient: gives up with the last error when no request was answered for this long.
  std::chrono::nanoseconds patience = std::chrono::nanoseconds::max();
  std::shared_ptr<void> parent{};  // of the requests; see Procedure::set_parent
  LockControls controls{};
};

// Times derived from the lease of a lock.
struct LeaseTimes {
  explicit LeaseTimes(const LockTerms& terms) noexcept;

  std::chrono::nanoseconds belief;
  std::chrono::nanoseconds renew_interval;
  std::chrono::nanoseconds renew_timeout;
};

class LockPlan final : public calls::Procedure {
 public:
  static constexpr std::chrono::milliseconds poll_interval{250};  // x 0.8 .. 1.2
  // The first poll comes sooner: a release may fall between the refusal and the watch.
  static constexpr std::chrono::milliseconds first_poll{25};

  // The memory belongs to the client and outlives the plan. If `key` is null, the terms choose one.
  LockPlan(LockTerms terms, LockMemory& memory, Seed seed, std::unique_ptr<LockKey> key = nullptr);

  void start(Now now) override;
  void on_answer(unsigned id, const socket::Completion& answer) override;
  void on_deadline(Now now) override;
  void on_hint(Now now) override;
  void on_connection_ended(std::uint64_t connection, Now now) override;
  bool on_cancel(Now now) override;
  void on_shutdown(Now now) override;
  // Releases the lock. freed() has a value by `report_by`.
  void release(Deadline report_by, Now now);
  // Call when a fenced write has ended without an answer.
  void on_doubt(Now now);

  bool poll_command(calls::Command& command) override;
  Deadline poll_deadline() const override;
  std::string_view watched_key() const override;
  bool done() const override { return phase_ == Phase::over; }

  // True once it is decided if the lock was acquired.
  bool settled() const noexcept { return phase_ > Phase::cancelling; }
  bool acquired() const noexcept { return acquired_; }
  // Settled, not acquired: the reason; none if another client holds the lock.
  const std::optional<Error>& failure() const noexcept { return failure_; }
  // The reason that the lock was lost without release(), if it was.
  const std::optional<Error>& loss() const noexcept { return loss_; }
  // After release(): true if the lock was still ours, or the reason that this is not known; then
  // the plan keeps trying.
  const std::optional<Result<bool>>& freed() const noexcept { return freed_; }
  const std::shared_ptr<Tenure>& tenure() const noexcept { return tenure_; }

 private:
  enum class Phase : std::uint8_t {
    waiting,
    asking,
    cancelling,
    // settled:
    held,
    renewing,
    releasing,
    freeing,
    over
  };
  bool holds() const noexcept { return phase_ == Phase::held || phase_ == Phase::renewing; }

  void ask(Now now);
  void rest(Now now, Deadline free_at = never);
  void on_asked(const KeyAnswer& answer, Now now);
  void on_granted(const KeyAnswer& answer, Now now);
  void on_ask_failed(const KeyAnswer& answer, Now now);
  void give_up(std::optional<Error> why, Now now);
  void give_up_cancelled(Now now);
  void renew(Now now);
  void on_renewed(const KeyAnswer& answer, Now now);
  void lose(Error why, bool may_be_ours, Now now);
  void begin_freeing(Now now);
  void free(Now now);
  void on_freed(const KeyAnswer& answer, Now now);
  void end_tenure(std::string why);

  LockTerms terms_;
  const LeaseTimes times_;
  std::unique_ptr<LockKey> key_;
  LockMemory& memory_;
  Random random_;
  std::shared_ptr<Tenure> tenure_ = std::make_shared<Tenure>();
  Phase phase_ = Phase::waiting;

  // Outcomes.
  bool acquired_ = false;
  std::optional<Error> failure_;
  std::optional<Error> loss_;
  std::optional<Result<bool>> freed_;

  // Asking and waiting.
  Deadline started_at_{0};
  Deadline asked_at_{0};
  Deadline ask_deadline_{0};
  Deadline poll_at_ = never;          // asking: when a hint came
  std::optional<Deadline> heard_at_;  // when the latest answer came
  bool denied_ = false;               // an attempt failed, or found the lock held
  unsigned polls_ = 0;                // attempts that found it held
  bool in_question_ = false;          // an attempt may have acquired the lock

  // Held.
  Deadline renew_at_ = never;
  std::optional<std::uint64_t> connection_;  // that acquired the lock, while it exists
  std::string trouble_;                      // why the last renewal failed

  // Freeing.
  Deadline free_sent_{0};
  Deadline free_until_{0};
  Deadline free_at_ = never;
  Deadline report_by_ = never;
  bool free_bound_ = false;  // the release uses the connection that acquired the lock
};

}  // namespace sheaf::client::lock
