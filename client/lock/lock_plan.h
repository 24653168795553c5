#pragma once

// LockPlan: one lock from the first request for it to the last: asks, waits, keeps it by renewals,
// notices its loss, gives it back. Pure.
//
// | phase   | input                        | then                            | next    |
// |---------|------------------------------|---------------------------------|---------|
// | waiting | poll, hint                   | SET name nonce NEX PX lease     | asking  |
// | waiting | wait is over                 | settled: not acquired, or error | leaving |
// | asking  | +OK in time                  | settled: acquired               | held    |
// | asking  | +OK after our own lease      | SET again                       | asking  |
// | asking  | :-1                          |                                 | waiting |
// | asking  | no answer                    | the attempt is in question      | waiting |
// | asking  | refused by the store         | settled: error                  | leaving |
// | held    | renewal is due               | the same SET, same connection   | held    |
// | held    | +OK in time                  | held for another lease          | held    |
// | held    | :-1                          | lost                            | over    |
// | held    | +OK too late, lease over     | lost                            | freeing |
// | held    | connection ended             | lost                            | freeing |
// | held    | release()                    | once no renewal is in flight    | freeing |
// | freeing | start                        | VDEL name nonce                 | freeing |
// | freeing | answered, or one lease later |                                 | over    |
// | any     | on_shutdown()                | lost, not acquired              | over    |
//
// leaving = freeing if an attempt is in question, else over. Without patience (try_lock) :-1 and
// most failures settle at once.
//
// Two rules keep two from believing at once. The belief ends a lease, less an allowance for clocks
// that drift, after the moment before the SET was sent. And it ends with the connection that
// carried the acquiring SET: a store that lost its memory ends every connection, and a NEX on a new
// one could take back a lock that another held meanwhile.

#include <memory>
#include <optional>

#include <sheaf/result.h>

#include "base/random.h"
#include "client/lock/courtesy.h"
#include "client/lock/tenure.h"
#include "client/procedure.h"

namespace sheaf::client {

struct LockTerms {
  std::string name;
  std::string nonce;  // nobody else's, and of this acquisition only
  std::chrono::milliseconds lease{10'000};
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

class LockPlan final : public Procedure {
 public:
  static constexpr std::chrono::milliseconds poll_interval{250};  // x 0.8 .. 1.2
  // The first poll comes sooner: a release may fall between the refusal and the watch.
  static constexpr std::chrono::milliseconds first_poll{25};

  // How much shorter than the lease our belief is: 1 % for clocks that drift, and 50 ms.
  static std::chrono::nanoseconds drift_allowance(std::chrono::milliseconds lease) noexcept;

  // The courtesy is the client's and outlives the plan.
  LockPlan(LockTerms terms, Courtesy& courtesy, Seed seed);

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

  bool poll_command(Command& command) override;
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
  enum Id : unsigned { ask_id = 1, renew_id, free_id };

  void ask(Now now);
  void rest(Now now);
  void on_asked(const socket::Completion& answer);
  void on_granted(const socket::Completion& answer);
  void on_ask_failed(const socket::Completion& answer);
  void give_up(std::optional<Error> why, Now now);
  void renew(Now now);
  void on_renewed(const socket::Completion& answer);
  void lose(Error why, bool may_be_ours, Now now);
  void begin_freeing(Now now);
  void free(Now now);
  void on_freed(const socket::Completion& answer);
  void end_tenure(std::string why);
  std::chrono::nanoseconds belief() const { return terms_.lease - drift_allowance(terms_.lease); }
  std::chrono::nanoseconds renew_interval() const;
  std::chrono::nanoseconds renew_timeout() const;
  protocol::Operation lock_operation(Deadline deadline) const;

  LockTerms terms_;
  Courtesy& courtesy_;
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
  Deadline sent_at_{0};
  Deadline ask_deadline_{0};
  Deadline poll_at_ = never;
  Deadline heard_at_{0};      // or since when nothing was heard
  bool heard_ = false;        // an attempt was answered
  bool denied_ = false;       // another holds it
  bool hinted_ = false;       // while asking
  bool in_question_ = false;  // an attempt may have got the lock
  bool want_ask_ = false;

  // Held.
  Deadline renew_at_ = never;
  Deadline renew_sent_{0};
  bool renewing_ = false;
  bool want_renew_ = false;
  bool connected_ = false;  // the acquiring connection lives
  std::string trouble_;     // why the last renewal failed

  // Freeing.
  Deadline free_sent_{0};
  Deadline free_until_{0};
  Deadline free_at_ = never;
  Deadline report_by_ = never;
  bool want_free_ = false;
  bool free_bound_ = false;  // to the acquiring connection
};

}  // namespace sheaf::client
