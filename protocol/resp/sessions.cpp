// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/sessions.h"

#include <algorithm>
#include <utility>

#include "protocol/output_queue.h"
#include "protocol/resp/changes/rules.h"
#include "protocol/resp/session.h"

namespace sheaf::protocol::resp {

RespSessions::RespSessions(const ClusterConfig& config) {
  options_.handshake.login = login();
  options_.over_tls = config.tls;
  options_.keep_alive = config.keep_alive;
  options_.handshake_limit =
      std::max(config.connect_timeout, config.timeout);  // sockets are stricter
  options_.value_limit = config.value_limit;
  options_.max_in_flight = config.max_in_flight;
}

std::unique_ptr<Session> RespSessions::make(unsigned, SessionUse use, Now) {
  SessionOptions options = options_;
  options.handshake.readonly = use == SessionUse::reads;
  options.handshake.known = known();
  return std::make_unique<RespSession>(std::move(options));
}

bool RespSessions::takes_batches(std::string_view key) const noexcept { return is_good_key(key); }

// A larger value is sent from where it lies, and alone.
bool RespSessions::sets_batches(std::string_view key, std::string_view value) const noexcept {
  return is_good_key(key) && value.size() <= OutputQueue::copy_limit &&
         value.size() <= options_.value_limit;
}

}  // namespace sheaf::protocol::resp
