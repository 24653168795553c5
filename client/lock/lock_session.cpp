#include "client/lock/lock_session.h"

#include <algorithm>

#include "base/read_clocks.h"
#include "base/text.h"
#include "client/calls/checks.h"
#include "client/calls/work.h"
#include "client/lock/fenced_operation.h"
#include "client/lock/versioned_plan.h"
#include "client/runtime/outcomes.h"
#include "cluster/locator.h"

namespace sheaf::client::lock {

// A release as a Work.
class LockSession::Release final {
 public:
  using Out = Result<bool>;

  Release(calls::WorkEnd& end, LockSession& session, Deadline deadline)
      : end_(end), session_(session), deadline_(deadline) {}

  void own() {}
  void start(Now now) {
    if (session_.plan_ == nullptr) return finish(false);
    session_.releasing_.push_back(this);
    session_.plan_->release(deadline_, now);
    session_.run_->resume(now);
  }
  void finish(Out result) {
    result_ = std::move(result);
    end_.ended();
  }
  Out take() { return std::move(result_); }

 private:
  calls::WorkEnd& end_;
  LockSession& session_;
  Deadline deadline_;
  Out result_{false};
};

LockSession::LockSession(std::shared_ptr<LockService> service, LockTerms terms)
    : service_(std::move(service)),
      context_(service_->context),
      name_(terms.name),
      fenced_(!terms.by_version),
      starting_(std::make_unique<LockPlan>(std::move(terms), service_->backoff, entropy())),
      tenure_(starting_->tenure()) {}

// ---- under the baton

void LockSession::begin(std::function<void()> settled, Now now) {
  settled_ = std::move(settled);
  self_ = shared_from_this();
  plan_ = starting_.get();
  service_->procedures.run(std::move(starting_), *this, now);
}

void LockSession::on_progress(calls::ProcedureRun& run, Now now) {
  const auto keep = shared_from_this();
  run_ = &run;
  publish();
  if (plan_->settled() && settled_) {
    acquired_ = plan_->acquired();
    failure_ = plan_->failure();
    std::exchange(settled_, nullptr)();
  }
  if (plan_->freed()) {
    for (Release* call : std::exchange(releasing_, {})) call->finish(*plan_->freed());
  }
  if (plan_->done()) {
    run_ = nullptr;
    plan_ = nullptr;
    self_ = nullptr;
    run.let_go();
  }
  tell_listeners(now);
}

// What other threads see; and the loss, once.
void LockSession::publish() {
  LockGuard::LossCallback lost;
  Error why;
  {
    const sync::MutexLock lock(mutex_);
    until_ = tenure_->held ? tenure_->until : Deadline{0};
    if (token_ != tenure_->token) token_ = tenure_->token;
    if (!plan_->loss() || loss_ || released_) return;
    loss_ = plan_->loss();
    why = *loss_;
    lost = std::exchange(on_loss_, nullptr);
  }
  if (lost)
    context_.dispatcher().post([lost = std::move(lost), why = std::move(why)] { lost(why); });
}

void LockSession::tell_listeners(Now now) {
  if (told_changes_ == tenure_->changes) return;
  told_changes_ = tenure_->changes;
  for (TenureListener* listener : std::vector(listeners_)) {
    if (std::ranges::find(listeners_, listener) != listeners_.end()) listener->on_tenure(now);
  }
}

void LockSession::on_doubt(Now now) {
  if (plan_ == nullptr) return;
  plan_->on_doubt(now);
  run_->resume(now);
}

// ---- any thread

// In a forked child the mutex may be held for ever: refusal() comes first.
bool LockSession::held() const {
  if (context_.refusal(false)) return false;
  const sync::MutexLock lock(mutex_);
  return !released_ && read_monotonic() < until_;
}

std::string LockSession::token() const {
  if (context_.refusal(false)) return {};
  const sync::MutexLock lock(mutex_);
  return !released_ && read_monotonic() < until_ ? token_ : std::string();
}

void LockSession::on_loss(LockGuard::LossCallback lost) {
  const runtime::Context::Entry entry(context_);
  const bool closed = context_.refusal(false).has_value();
  Error why;
  {
    const sync::MutexLock lock(mutex_);
    if (released_) return;
    if (!loss_) {
      on_loss_ = std::move(lost);
      return;
    }
    why = *loss_;
  }
  if (!lost) return;
  if (closed) return lost(why);  // no dispatcher runs any more
  context_.dispatcher().post([lost = std::move(lost), why] { lost(why); });
}

bool LockSession::stop_believing() {
  const sync::MutexLock lock(mutex_);
  on_loss_ = nullptr;
  return !std::exchange(released_, true);
}

Result<bool> LockSession::release(const Timeout& timeout) {
  const runtime::Context::Entry entry(context_);
  if (auto refused = context_.refusal(true)) return Failure(std::move(*refused));
  if (auto error = calls::check_timeout(timeout)) return Failure(std::move(*error));
  if (!stop_believing()) return false;
  return calls::Blocking<Release>(context_.lane(), {}, *this,
                                  context_.deadline(read_monotonic(), timeout))
      .wait();
}

void LockSession::drop() noexcept {
  const runtime::Context::Entry entry(context_);
  const auto refused = context_.refusal(true);
  if (!refused) {
    static_cast<void>(release({}));
  } else if (refused->reason == Reason::wrong_thread && stop_believing()) {
    calls::post(context_.lane(), [self = shared_from_this()](Now now) {
      if (self->plan_ == nullptr) return;
      self->plan_->release(now.mono, now);
      self->run_->resume(now);
    });
  }
}

// ---- fenced operations

std::optional<Error> LockSession::refusal(std::string_view key, bool other_node,
                                          const Timeout& timeout) const {
  if (auto refused = context_.refusal(true)) return refused;
  if (auto error = calls::check_key(key)) return error;
  if (auto error = calls::check_timeout(timeout)) return error;
  if (!fenced_) return std::nullopt;  // each key has a version of its own
  const cluster::Topology& topology = context_.topology();
  const std::uint32_t home = topology.owner(name_);
  const std::uint32_t there = topology.owner(key);
  if (home == there || other_node) return std::nullopt;
  const std::string tag(cluster::routing_key(name_));
  return runtime::local_error(
      Outcome::invalid, Reason::bad_argument,
      "the key " + printable(key) + " lives on " + topology.identity(there) + ", its lock " +
          printable(name_) + " on " + topology.identity(home) +
          ", where alone the token counts; begin the key with {" + printable(tag) + "}");
}

FencedTerms LockSession::terms(std::string_view key, bool other_node,
                               const Timeout& timeout) const {
  FencedTerms terms;
  terms.key = key;
  terms.started = read_monotonic();
  terms.deadline = context_.deadline(terms.started, timeout);
  const cluster::Topology& topology = context_.topology();
  terms.bound = (fenced_ && !other_node) || topology.owner(name_) == topology.owner(key);
  return terms;
}

template <class Fenced, class Versioned, class... More>
typename Fenced::Out LockSession::carry_out(FencedTerms wanted, More... more) {
  const auto carried = [&]<class P>(std::unique_ptr<P> plan) {
    return calls::Blocking<FencedOperation<P>>(context_.lane(), {}, *this, std::move(plan)).wait();
  };
  if (fenced_) {
    return carried(std::make_unique<Fenced>(tenure_, std::move(wanted), std::move(more)...));
  }
  return carried(std::make_unique<Versioned>(tenure_, std::move(wanted), std::move(more)...));
}

Result<GetResult> LockSession::read(std::string_view key, const FencedReadOptions& options) {
  const runtime::Context::Entry entry(context_);
  if (auto error = refusal(key, options.other_node, options.timeout)) return Failure(*error);
  if (auto error = calls::check_ttl(options.ttl)) return Failure(*error);
  if (!held()) return Failure(not_held(name_, {}));
  FencedTerms wanted = terms(key, options.other_node, options.timeout);
  wanted.ttl = calls::effective_ttl(options.ttl, context_.config());
  return carry_out<FencedRead, VersionedRead>(std::move(wanted));
}

Result<SetResult> LockSession::write(std::string_view key, std::string_view value,
                                     const FencedWriteOptions& options) {
  const runtime::Context::Entry entry(context_);
  if (auto error = refusal(key, options.other_node, options.timeout)) return Failure(*error);
  if (auto error = calls::check_value(value, context_.config())) return Failure(*error);
  if (auto error = calls::check_ttl(options.ttl)) return Failure(*error);
  if (!held()) return Failure(not_held(name_, {}));
  FencedTerms wanted = terms(key, options.other_node, options.timeout);
  wanted.value = value;
  wanted.ttl = calls::effective_ttl(options.ttl, context_.config());
  return carry_out<FencedWrite, VersionedWrite>(std::move(wanted), options.condition);
}

Result<RemoveResult> LockSession::remove(std::string_view key, const FencedRemoveOptions& options) {
  const runtime::Context::Entry entry(context_);
  if (auto error = refusal(key, options.other_node, options.timeout)) return Failure(*error);
  if (!held()) return Failure(not_held(name_, {}));
  std::optional<std::string> expected;
  if (options.if_value) {
    if (auto error = calls::check_value(*options.if_value, context_.config()))
      return Failure(*error);
    expected = *options.if_value;
  }
  return carry_out<FencedRemove, VersionedRemove>(terms(key, options.other_node, options.timeout),
                                                  std::move(expected));
}

}  // namespace sheaf::client::lock
