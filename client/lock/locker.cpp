// Locker and AsyncLocker: the same calls, blocking and asynchronous.

#include <algorithm>
#include <utility>

#include <sheaf/async.h>

#include "base/random.h"
#include "base/text.h"
#include "client/calls/detached.h"
#include "client/lock/guard_access.h"
#include "client/lock/lock_kind.h"
#include "client/lock/lock_works.h"
#include "client/runtime/features.h"
#include "client/runtime/outcomes.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::calls::Form;
using client::calls::Returned;
using client::lock::GuardAccess;
using client::lock::LockService;
using client::lock::LockSession;
using client::lock::LockTerms;
using client::runtime::Context;
using client::runtime::local_error;
using std::chrono::nanoseconds;

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

// The terms of an acquisition that waits as the options say. If `wait` is 0, it does not wait.
Result<LockTerms> lock_terms(const Context& context, Form form, const LockerOptions& locker,
                             std::string_view name, const LockOptions& options) {
  const auto admitted = client::calls::admit(
      context, form, options.timeout, options.stop,
      client::calls::first_of(client::runtime::check_feature(context.config(), Feature::locks),
                              check_options(locker), client::calls::check_key(name)));
  if (!admitted) return Failure(admitted.error());
  const ClusterConfig& config = context.config();
  LockTerms terms;
  terms.name = name;
  terms.nonce = locker.holder + ":" + Random(entropy()).hex(32);
  terms.parent = admitted->parent;
  terms.lease = locker.lease;
  terms.by_version = client::lock::by_version(config);
  terms.whole_seconds = !client::runtime::supports(config, Feature::millisecond_ttl);
  terms.attempt_timeout = options.timeout.value_or(config.timeout);
  terms.idle_timeout = config.idle_timeout;
  terms.patient = !options.wait || options.wait->count() > 0;
  terms.wait_until = admitted->deadline;
  if (terms.patient) {
    terms.wait_until =
        client::calls::end_of(options.wait.value_or(longest_wait), admitted->started);
  }
  if (!options.wait) terms.patience = std::max<nanoseconds>(locker.lease, config.timeout);
  return terms;
}

template <class Way>
typename Way::Return acquire(const std::shared_ptr<LockService>& service,
                             const LockerOptions& locker, std::string_view name,
                             const LockOptions& options, Way way) {
  Context& context = service->context;
  const Context::Entry entry(context);
  auto terms = lock_terms(context, Way::form, locker, name, options);
  if (!terms) return way.refuse(context, std::move(terms.error()));
  return way.template run<client::lock::Acquire>(
      context, options.stop, GuardAccess(),
      std::make_shared<LockSession>(service, std::move(*terms)));
}

// try_lock() is lock() with a wait of 0.
LockOptions without_wait(const TryLockOptions& options) {
  return {.wait = nanoseconds(0), .timeout = options.timeout, .stop = options.stop};
}

}  // namespace

std::string_view to_string(LockStrength strength) noexcept {
  return strength == LockStrength::fenced ? "fenced" : "advisory";
}

Locker::Locker(Client& client, LockerOptions options)
    : service_(sheaf::client::lock::service_of(client)), options_(std::move(options)) {
  const ClusterConfig& config = service_->context.config();
  if (!options_.holder.empty()) return;
  options_.holder = config.client_id_exact.empty() ? config.client_id : config.client_id_exact;
}

LockStrength Locker::strength() const noexcept {
  return client::lock::strength_of(service_->context.config());
}

LockResult Locker::try_lock(std::string_view name, const TryLockOptions& options) {
  return lock(name, without_wait(options));
}

LockResult Locker::lock(std::string_view name, const LockOptions& options) {
  return acquire(service_, options_, name, options, Returned<LockResult>());
}

AsyncLocker Locker::async() const { return {*this, {}}; }

Call<LockResult> AsyncLocker::try_lock(std::string_view name, const TryLockOptions& options) const {
  return lock(name, without_wait(options));
}

Call<LockResult> AsyncLocker::lock(std::string_view name, const LockOptions& options) const {
  const std::shared_ptr<LockService>& service = locker_.service_;
  return client::calls::prepare<LockResult, client::lock::Acquire>(
      {service, service->context, hook_}, options.stop,
      [service, locker = locker_.options_, name = std::string(name), options = options](
          Context&, Stop stop, auto way) mutable {
        options.stop = stop;
        acquire(service, locker, name, options, way);
      });
}

}  // namespace v0
}  // namespace sheaf
