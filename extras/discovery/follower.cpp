#include "extras/discovery/follower.h"

#include <unistd.h>

#include <utility>

#include "base/local_error.h"
#include "base/secret.h"
#include "base/text.h"

namespace sheaf::discovery {
namespace {

DiscoveryOptions look_up_options(const FollowOptions& options) {
  return {.timeout = options.timeout, .name_servers = options.name_servers};
}

}  // namespace

std::optional<Error> check_follow(const ServerSource& source, const FollowOptions& options) {
  using namespace std::chrono_literals;
  if (options.interval < 1s || options.interval > 1h) {
    return local_error(Outcome::invalid, Reason::bad_argument,
                       "the interval of a follower must be 1s to 1h");
  }
  if (auto wrong = check_options(look_up_options(options))) return wrong;
  return check_source(source);
}

Follower::Follower(ServerSource source, const FollowOptions& options, Hand hand)
    : source_(std::move(source)),
      interval_(options.interval),
      options_(look_up_options(options)),
      hand_(std::move(hand)),
      process_(::getpid()) {
  wipe(source_.config.password);  // no look-up needs it
  options_.stop = &token_;
  thread_ = QuietThread("sheaf-servers", [this] { run(); });
}

Follower::~Follower() {
  if (::getpid() != process_) {  // a forked child has no such thread
    thread_.detach();
    return;
  }
  stop_.request_stop();
  parker_.unpark();
  thread_.join();
}

void Follower::run() {
  while (!token_.stop_requested()) {
    look();
    static_cast<void>(parker_.park_for(interval_));
  }
}

void Follower::look() {
  auto found = look_up(source_, options_);
  if (token_.stop_requested()) return;
  if (!found) {
    hand_(Failure(std::move(found.error())));
    return;
  }
  const auto verdict = plan_.judge(*found);
  if (!verdict) {
    Error older = local_error(Outcome::refused, Reason::other, verdict.error());
    older.node = join_host_port(source_.host, source_.port);
    hand_(Failure(std::move(older)));
  } else if (*verdict == FollowPlan::Verdict::differ && hand_(found->servers)) {
    plan_.take(std::move(*found));
  }
}

}  // namespace sheaf::discovery
