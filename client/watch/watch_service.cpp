#include "client/watch/watch_service.h"

#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "client/calls/checks.h"
#include "client/runtime/features.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::watch {
namespace {

constexpr std::size_t most_waiting = 1'000'000;

std::optional<Error> check_watch(std::span<const std::string_view> keys,
                                 const WatchOptions& options, const ClusterConfig& config) {
  if (auto missing = runtime::check_feature(config, Feature::watch)) return missing;
  if (keys.empty()) {
    return runtime::local_error(Outcome::invalid, Reason::bad_argument,
                                "no key to watch was given");
  }
  if (options.queue_limit < 1 || options.queue_limit > most_waiting) {
    return runtime::local_error(Outcome::invalid, Reason::bad_argument,
                                "queue_limit is " + std::to_string(options.queue_limit) +
                                    "; it must be 1 to " + std::to_string(most_waiting));
  }
  for (const std::string_view key : keys) {
    if (auto error = calls::check_key(key)) return error;
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

Result<std::shared_ptr<Watch::Session>> open_session(const std::shared_ptr<WatchService>& service,
                                                     std::span<const std::string_view> keys,
                                                     const WatchOptions& options,
                                                     WatchCallback callback) {
  runtime::Context& context = service->context;
  const runtime::Context::Entry entry(context);
  if (auto refused = context.refusal(true)) return Failure(std::move(*refused));
  if (auto error = check_watch(keys, options, context.config())) return Failure(std::move(*error));
  try {
    auto session =
        std::make_shared<Watch::Session>(service, each_once(keys), options, std::move(callback));
    session->start();
    context.path().run([&](Now now) { service->sessions.add(session, now); });
    return session;
  } catch (const std::system_error& error) {
    return Failure(runtime::no_thread(error));
  }
}

}  // namespace sheaf::client::watch
