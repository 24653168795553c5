// Client::watch.

#include <algorithm>
#include <new>
#include <system_error>

#include <sheaf/client.h>

#include "client/calls/checks.h"
#include "client/client_impl.h"
#include "client/runtime/outcomes.h"
#include "client/watch/watch_session.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::runtime::local_error;

constexpr std::size_t kMostWaiting = 1'000'000;

std::optional<Error> check_watch(std::span<const std::string_view> keys,
                                 const WatchOptions& options, const ClusterConfig& config) {
  if (config.kind == EndpointKind::memcached) {
    return local_error(Outcome::unsupported, Reason::bad_argument,
                       "memcached does not tell of changes; no key can be watched there");
  }
  if (keys.empty()) {
    return local_error(Outcome::invalid, Reason::bad_argument, "no key to watch was given");
  }
  if (options.queue_limit < 1 || options.queue_limit > kMostWaiting) {
    return local_error(Outcome::invalid, Reason::bad_argument,
                       "queue_limit is " + std::to_string(options.queue_limit) +
                           "; it must be 1 to " + std::to_string(kMostWaiting));
  }
  for (const std::string_view key : keys) {
    if (auto error = client::calls::check_key(key)) return error;
  }
  return std::nullopt;
}

std::vector<std::string> each_once(std::span<const std::string_view> keys) {
  std::vector<std::string> once;
  std::set<std::string_view> seen;
  for (const std::string_view key : keys) {
    if (seen.insert(key).second) once.emplace_back(key);
  }
  return once;
}

}  // namespace

Result<Watch> Client::watch(std::string_view key, const WatchOptions& options) {
  return watch(std::span(&key, 1), options);
}

Result<Watch> Client::watch(std::span<const std::string_view> keys, const WatchOptions& options) {
  return watch(keys, options, {});
}

Result<Watch> Client::watch(std::span<const std::string_view> keys, const WatchOptions& options,
                            WatchCallback callback) {
  const Impl::Entry entry(*impl_);
  if (auto refused = impl_->refusal(true)) return Failure(std::move(*refused));
  if (auto error = check_watch(keys, options, impl_->config())) return Failure(std::move(*error));
  try {
    auto session =
        std::make_shared<Watch::Session>(impl_, each_once(keys), options, std::move(callback));
    session->start();
    impl_->path().run([&](Now now) { impl_->watch_roster().add(session, now); });
    return Watch(std::move(session));
  } catch (const std::system_error& error) {
    return Failure(local_error(Outcome::overloaded, Reason::other,
                               std::string("no thread could be started: ") + error.what()));
  }
}

}  // namespace v0
}  // namespace sheaf
