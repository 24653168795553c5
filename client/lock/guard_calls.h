#pragma once

// The calls of a guard: release, read, write and remove, each a template over its way
// (client/calls/ways.h).
//
// Thread rule: any thread.

#include <memory>
#include <utility>

#include "client/calls/ways.h"
#include "client/lock/fenced_operation.h"
#include "client/lock/lock_works.h"
#include "client/lock/versioned_plan.h"

namespace sheaf::client::lock {

using SharedSession = std::shared_ptr<LockSession>;

// The key of a fenced operation, and the options that all such operations have.
struct FencedTarget {
  std::string_view key;
  bool other_node = false;
  Timeout timeout;
  Stop stop;
};

// The terms of an operation that may start now. `wrong`: an error that the caller's own checks
// found.
Result<FencedTerms> fenced_terms(LockSession& session, calls::Form form, const FencedTarget& target,
                                 std::optional<Error> wrong);

// Releases the lock without reporting the result; the client keeps trying.
inline void release_unheard(const SharedSession& session) {
  if (!session->view().give_back()) return;
  calls::post(session->context().lane(),
              [session](Now now) { session->release([](const Result<bool>&) {}, now.mono, now); });
}

// A caller that cannot wait still gives the lock back: a thread that drives, or a caller whose stop
// token was already stopped.
template <class Way>
typename Way::Return release(const SharedSession& session, const ReleaseOptions& options, Way way) {
  runtime::Context& context = session->context();
  const runtime::Context::Entry entry(context);
  const auto admitted =
      calls::admit(context, Way::form, options.timeout, options.stop, std::nullopt);
  if (!admitted) {
    const Reason reason = admitted.error().reason;
    if (reason == Reason::cancelled || reason == Reason::wrong_thread) release_unheard(session);
    return way.refuse(context, admitted.error());
  }
  if (!session->view().give_back()) return way.give(context, false);
  return way.template run<Release>(context, options.stop, calls::AsItIs(), session,
                                   admitted->deadline);
}

// Runs one of two plans: the fenced one if the lock has tokens, else the versioned one.
template <class Fenced, class Versioned, class Way, class... More>
typename Way::Return carry_out(const SharedSession& session, Result<FencedTerms> terms, Stop stop,
                               Way way, More... more) {
  runtime::Context& context = session->context();
  if (!terms) return way.refuse(context, std::move(terms.error()));
  const auto run = [&]<class P>(std::unique_ptr<P> plan) {
    return way.template run<FencedOperation<typename P::Out::value_type>>(
        context, stop, calls::AsItIs(), session, std::move(plan));
  };
  const std::shared_ptr<Tenure>& tenure = session->tenure();
  if (session->fenced()) {
    return run(std::make_unique<Fenced>(tenure, std::move(*terms), std::move(more)...));
  }
  return run(std::make_unique<Versioned>(tenure, std::move(*terms), std::move(more)...));
}

template <class Way>
typename Way::Return read(const SharedSession& session, std::string_view key,
                          const FencedReadOptions& options, Way way) {
  const runtime::Context::Entry entry(session->context());
  const ClusterConfig& config = session->context().config();
  auto terms =
      fenced_terms(*session, Way::form, {key, options.other_node, options.timeout, options.stop},
                   calls::first_of(calls::check_ttl(options.ttl),
                                   calls::check_persist(options.persist, config)));
  if (terms) {
    terms->ttl = calls::effective_ttl(options.ttl, config);
    terms->persist = options.persist;
  }
  return carry_out<FencedRead, VersionedRead>(session, std::move(terms), options.stop,
                                              std::move(way));
}

template <class Way>
typename Way::Return write(const SharedSession& session, std::string_view key,
                           std::string_view value, const FencedWriteOptions& options, Way way) {
  const runtime::Context::Entry entry(session->context());
  const ClusterConfig& config = session->context().config();
  auto terms =
      fenced_terms(*session, Way::form, {key, options.other_node, options.timeout, options.stop},
                   calls::first_of(calls::check_value(value, config), calls::check_ttl(options.ttl),
                                   calls::check_persist(options.persist, config)));
  if (terms) {
    terms->value = value;
    terms->ttl = calls::effective_ttl(options.ttl, config);
    terms->persist = options.persist;
  }
  return carry_out<FencedWrite, VersionedWrite>(session, std::move(terms), options.stop,
                                                std::move(way), options.condition);
}

template <class Way>
typename Way::Return remove(const SharedSession& session, std::string_view key,
                            const FencedRemoveOptions& options, Way way) {
  const runtime::Context::Entry entry(session->context());
  std::optional<Error> wrong;
  std::optional<std::string> expected;
  if (options.if_value) {
    wrong = calls::check_value(*options.if_value, session->context().config());
    if (!wrong) expected = *options.if_value;
  }
  auto terms =
      fenced_terms(*session, Way::form, {key, options.other_node, options.timeout, options.stop},
                   std::move(wrong));
  return carry_out<FencedRemove, VersionedRemove>(session, std::move(terms), options.stop,
                                                  std::move(way), std::move(expected));
}

}  // namespace sheaf::client::lock
