#pragma once

// LockPlan: one lock from the first request for it to the last: asks, waits, keeps it by renewals,
// notices its loss, gives it back. Pure.
//
// How the key is taken, kept and given back at the endpoint is the LockKey's matter.
//
// | phase   | input                        | then                            | next    |
// |---------|------------------------------|---------------------------------|---------|
// | waiting | poll, hint                   | take                            | asking  |
// | waiting | wait is over                 | settled: not acquired, or error | leaving |
// | asking  | done in time                 | settled: acquired               | held    |
// | asking  | done after our own lease     | take again                      | asking  |
// | asking  | taken by another             |                                 | waiting |
// | asking  | no answer                    | the attempt is in question      | waiting |
// | asking  | refused by the store         | settled: error                  | leaving |
// | held    | renewal is due               | keep, same connection           | held    |
// | held    | done in time                 | held for another lease          | held    |
// | held    | taken by another, gone       | lost                            | over    |
// | held    | done too late, lease over    | lost                            | freeing |
// | held    | connection ended             | lost                            | freeing |
// | held    | release()                    | once no renewal is in flight    | freeing |
// | freeing | start                        | give back                       | freeing |
// | freeing | answered, or one lease later |                                 | over    |
// | any     | on_shutdown()                | lost, not acquired              | over    |
//
// leaving = freeing if an attempt is in question, else over. Without patience (try_lock) a lock
// that is taken and most failures settle at once.
//
// Two rules keep two from believing at once. The belief ends a lease, less an allowance for clocks
// that drift, after the moment before the request that took or kept the key was sent. And it ends
// with the connection that carried the acquiring one: a store that lost its memory ends every
// connection, and a renewal on a new one could take back a lock that another held meanwhile.

#include <memory>
#include <optional>

#include <sheaf/result.h>

#include "base/random.h"
#include "client/calls/procedure.h"
#include "client/lock/lock_key.h"
#include "client/lock/release_backoff.h"
#include "client/lock/tenure.h"

namespace sheaf::client::lock {

struct LockTerms : LockItem {
  bool by_version = false;  // the endpoint compares versions, not values
  std::chrono::nanoseconds attempt_timeout = std::chrono::seconds(1);  // of each request
  // A connection of the pool that carries nothing for so long may be closed as idle.
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(60);
  bool patient = false;        // waits for the lock while another holds it
  Deadline wait_until{never};  // gives up then
  // Patient: gives up with the last error when nothing has been answered for so long.
  std::chrono::nanoseconds patience = std::chrono::nanoseconds::max();
  // The tenure ends with its connection; tests switch it off to see that two believe then.
  bool bound = true;
};

class LockPlan final : public calls::Procedure {
 public:
  static constexpr std::chrono::milliseconds poll_interval{250};  // x 0.8 .. 1.2
  // The first poll comes sooner: a release may fall between the refusal and the watch.
  static constexpr std::chrono::milliseconds first_poll{25};

  // How much shorter than the lease our belief is: 1 % for clocks that drift, and 50 ms.
  static std::chrono::nanoseconds drift_allowance(std::chrono::milliseconds lease) noexcept;

  // The release_backoff is the client's and outlives the plan. Without a key, that of the terms.
  LockPlan(LockTerms terms, ReleaseBackoff& release_backoff, Seed seed,
           std::unique_ptr<LockKey> key = nullptr);

  void start(Now now) override;
  void on_answer(unsigned id, const socket::Completion& answer) override;
  void on_deadline(Now now) override;
  void on_hint(Now now) override;
  void on_connection_ended(std::uint64_t connection, Now now) override;
  void on_shutdown(Now now) override;
  // Gives the lock back, or stops freeing it unheard; `report_by`: freed() is there by then.
  void release(Deadline report_by, Now now);
  // A fenced write ended without an answer.
  void on_doubt(Now now);

  bool poll_command(calls::Command& command) override;
  Deadline poll_deadline() const override;
  std::string_view watched_key() const override;
  bool done() const override { return phase_ == Phase::over; }

  // Whether it has been decided if the lock was got.
  bool settled() const noexcept { return settled_; }
  bool acquired() const noexcept { return acquired_; }
  // Settled, not acquired: why; none = another holds it.
  const std::optional<Error>& failure() const noexcept { return failure_; }
  // Acquired and then lost without release(): why.
  const std::optional<Error>& loss() const noexcept { return loss_; }
  // After release(): whether the lock was still ours, or why that is not known. The plan goes on
  // trying.
  const std::optional<Result<bool>>& freed() const noexcept { return freed_; }
  const std::shared_ptr<Tenure>& tenure() const noexcept { return tenure_; }

 private:
  enum class Phase : std::uint8_t { waiting, asking, held, releasing, freeing, over };

  void ask(Now now);
  void rest(Now now);
  void on_asked(const KeyAnswer& answer, Now now);
  void on_granted(const KeyAnswer& answer, Now now);
  void on_ask_failed(const KeyAnswer& answer, Now now);
  void give_up(std::optional<Error> why, Now now);
  void renew(Now now);
  void on_renewed(const KeyAnswer& answer, Now now);
  void lose(Error why, bool may_be_ours, Now now);
  void begin_freeing(Now now);
  void free(Now now);
  void on_freed(const KeyAnswer& answer, Now now);
  void end_tenure(std::string why);
  std::chrono::nanoseconds belief() const { return terms_.lease - drift_allowance(terms_.lease); }
  std::chrono::nanoseconds renew_interval() const;
  std::chrono::nanoseconds renew_timeout() const;

  LockTerms terms_;
  std::unique_ptr<LockKey> key_;
  ReleaseBackoff& release_backoff_;
  Random random_;
  std::shared_ptr<Tenure> tenure_ = std::make_shared<Tenure>();
  Phase phase_ = Phase::waiting;

  // Outcomes.
  bool settled_ = false;
  bool acquired_ = false;
  std::optional<Error> failure_;
  std::optional<Error> loss_;
  std::optional<Result<bool>> freed_;

  // Asking and waiting.
  Deadline asked_at_{0};
  Deadline ask_deadline_{0};
  Deadline poll_at_ = never;
  Deadline heard_at_{0};      // or since when nothing was heard
  bool heard_ = false;        // an attempt was answered
  bool denied_ = false;       // another holds it
  unsigned polls_ = 0;        // that found it held
  bool hinted_ = false;       // while asking
  bool in_question_ = false;  // an attempt may have got the lock

  // Held.
  Deadline renew_at_ = never;
  bool renewing_ = false;
  bool connected_ = false;  // the acquiring connection lives
  std::string trouble_;     // why the last renewal failed

  // Freeing.
  Deadline free_sent_{0};
  Deadline free_until_{0};
  Deadline free_at_ = never;
  Deadline report_by_ = never;
  bool free_bound_ = false;  // to the acquiring connection
};

}  // namespace sheaf::client::lock
