#include <algorithm>
#include <utility>

#include <sheaf/locker.h>

#include "base/random.h"
#include "base/read_clocks.h"
#include "base/text.h"
#include "client/calls/checks.h"
#include "client/calls/work.h"
#include "client/lock/lock_session.h"
#include "client/runtime/features.h"
#include "client/runtime/outcomes.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::lock::LockService;
using client::lock::LockSession;
using client::lock::LockTerms;
using client::runtime::Context;
using client::runtime::local_error;

constexpr std::size_t longest_holder = 256;

std::optional<Error> bad(std::string text) {
  return local_error(Outcome::invalid, Reason::bad_argument, std::move(text));
}

std::optional<Error> check_options(const LockerOptions& options) {
  if (options.lease < Locker::min_lease || options.lease > Locker::max_lease) {
    return bad("the lease is " + format_duration(options.lease) + "; it must be " +
               format_duration(Locker::min_lease) + " to " + format_duration(Locker::max_lease));
  }
  if (options.holder.size() > longest_holder) {
    return bad("the holder's name has " + std::to_string(options.holder.size()) +
               " bytes; at most " + std::to_string(longest_holder) + " are allowed");
  }
  return std::nullopt;
}

LockStrength strength_of(const ClusterConfig& config) noexcept {
  const bool fenced = client::runtime::supports(config, Feature::fencing);
  return fenced ? LockStrength::fenced : LockStrength::advisory;
}

// An acquisition as a Work; its session says how it ended.
class Acquire {
 public:
  using Out = std::shared_ptr<LockSession>;

  Acquire(client::calls::WorkEnd& end, std::shared_ptr<LockSession> session)
      : end_(end), session_(std::move(session)) {}

  void own() {}  // a session owns what it needs
  void start(Now now) {
    session_->begin([this] { end_.ended(); }, now);
  }
  Out take() { return std::move(session_); }

 private:
  client::calls::WorkEnd& end_;
  std::shared_ptr<LockSession> session_;
};

}  // namespace

std::string_view to_string(LockStrength strength) noexcept {
  return strength == LockStrength::fenced ? "fenced" : "advisory";
}

// ---- LockGuard

LockGuard::LockGuard(std::shared_ptr<LockSession> session) noexcept
    : session_(std::move(session)) {}
LockGuard::LockGuard(LockGuard&&) noexcept = default;
LockGuard& LockGuard::operator=(LockGuard&& other) noexcept {
  if (this == &other) return *this;
  if (session_ != nullptr) session_->drop();
  session_ = std::move(other.session_);
  return *this;
}
LockGuard::~LockGuard() {
  if (session_ != nullptr) session_->drop();
}

const std::string& LockGuard::name() const noexcept {
  static const std::string none;
  return session_ != nullptr ? session_->name() : none;
}

LockStrength LockGuard::strength() const noexcept {
  return session_ != nullptr ? strength_of(session_->service().context.config())
                             : LockStrength::advisory;
}
LockStrength Locker::strength() const noexcept { return strength_of(service_->context.config()); }

bool LockGuard::held() const noexcept { return session_ != nullptr && session_->held(); }

FencingToken LockGuard::token() const {
  return session_ != nullptr ? FencingToken{session_->token()} : FencingToken();
}

void LockGuard::on_loss(LossCallback lost) {
  if (session_ != nullptr) session_->on_loss(std::move(lost));
}

Result<bool> LockGuard::release(Timeout timeout) {
  return session_ != nullptr ? session_->release(timeout) : Result<bool>(false);
}

Result<GetResult> LockGuard::read(std::string_view key, const FencedReadOptions& options) {
  if (session_ == nullptr) return Failure(client::lock::not_held({}, "the guard was moved from"));
  return session_->read(key, options);
}

Result<SetResult> LockGuard::write(std::string_view key, std::string_view value,
                                   const FencedWriteOptions& options) {
  if (session_ == nullptr) return Failure(client::lock::not_held({}, "the guard was moved from"));
  return session_->write(key, value, options);
}

Result<RemoveResult> LockGuard::remove(std::string_view key, const FencedRemoveOptions& options) {
  if (session_ == nullptr) return Failure(client::lock::not_held({}, "the guard was moved from"));
  return session_->remove(key, options);
}

// ---- Locker

struct Locker::Request {
  std::string_view name;
  bool patient = false;
  bool blocking = true;
  std::chrono::nanoseconds wait{0};  // patient
  std::chrono::nanoseconds patience = std::chrono::nanoseconds::max();
  Timeout timeout{};  // not patient
};

Locker::Locker(Client& client, LockerOptions options)
    : service_(client.locks()), options_(std::move(options)) {
  if (options_.holder.empty()) options_.holder = service_->context.config().client_id;
}

Result<Locker::Session> Locker::prepare(const Request& request) const {
  if (auto refused = service_->context.refusal(request.blocking))
    return Failure(std::move(*refused));
  const ClusterConfig& config = service_->context.config();
  if (auto missing = client::runtime::check_feature(config, Feature::locks)) {
    return Failure(std::move(*missing));
  }
  if (auto error = check_options(options_)) return Failure(std::move(*error));
  if (auto error = client::calls::check_key(request.name)) return Failure(std::move(*error));
  if (auto error = client::calls::check_timeout(request.timeout)) return Failure(std::move(*error));
  const Deadline now = read_monotonic();
  LockTerms terms;
  terms.name = request.name;
  terms.nonce = options_.holder + ":" + Random(entropy()).hex(32);
  terms.lease = options_.lease;
  terms.by_version = protocol::traits_of(config.kind).compares == protocol::Compares::versions;
  terms.attempt_timeout = request.timeout.value_or(config.timeout);
  terms.idle_timeout = config.idle_timeout;
  terms.patient = request.patient;
  terms.patience = request.patience;
  terms.wait_until = request.patient
                         ? now + std::min<std::chrono::nanoseconds>(request.wait, max_wait)
                         : service_->context.deadline(now, request.timeout);
  return std::make_shared<LockSession>(service_, std::move(terms));
}

LockResult Locker::run(const Request& request) const {
  const Context::Entry entry(service_->context);
  auto session = prepare(request);
  if (!session) return Failure(std::move(session.error()));
  client::calls::Blocking<Acquire>(service_->context.lane(), {}, *session).wait();
  if ((*session)->acquired()) return std::optional<LockGuard>(LockGuard(std::move(*session)));
  if (const auto& failure = (*session)->failure()) return Failure(*failure);
  return std::optional<LockGuard>();
}

// The guard travels in a shared pointer, for jobs of the dispatcher are copyable.
void Locker::run_async(const Request& request, LockCallback done) const {
  const Context::Entry entry(service_->context);
  auto session = prepare(request);
  if (!session) {
    service_->context.dispatcher().post(
        [done = std::move(done), error = std::move(session.error())] { done(Failure(error)); });
    return;
  }
  client::calls::Receiver<Session> receiver{[done = std::move(done)](Session ended) {
    if (ended->acquired()) return done(std::optional<LockGuard>(LockGuard(std::move(ended))));
    if (const auto& failure = ended->failure()) return done(Failure(*failure));
    done(std::optional<LockGuard>());
  }};
  client::calls::Detached<Acquire>::begin(service_->context, std::move(receiver), nullptr,
                                          std::move(*session));
}

LockResult Locker::try_lock(std::string_view name, Timeout timeout) {
  return run({.name = name, .timeout = timeout});
}

void Locker::try_lock_async(std::string_view name, Timeout timeout, LockCallback done) {
  run_async({.name = name, .blocking = false, .timeout = timeout}, std::move(done));
}

LockResult Locker::lock(std::string_view name, std::chrono::nanoseconds wait) {
  return run({.name = name, .patient = wait.count() > 0, .wait = wait});
}

// However long it takes, unless nothing is answered for so long.
LockResult Locker::lock_patiently(std::string_view name, std::chrono::nanoseconds patience) {
  return run({.name = name, .patient = true, .wait = max_wait, .patience = patience});
}

void Locker::lock_async(std::string_view name, std::chrono::nanoseconds wait, LockCallback done) {
  run_async({.name = name, .patient = wait.count() > 0, .blocking = false, .wait = wait},
            std::move(done));
}

}  // namespace v0
}  // namespace sheaf
