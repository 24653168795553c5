// The servers of a client, for objects that may outlive it.

#include <utility>

#include <sheaf/client.h>

#include "base/local_error.h"
#include "client/calls/reconfigure.h"
#include "client/client_impl.h"

namespace sheaf {
inline namespace v0 {

ClientServers::ClientServers(const Client& client) : impl_(client::Internals::impl(client)) {}

// Handles keep the Impl of a closed client alive.
bool ClientServers::closed() const noexcept {
  const auto impl = impl_.lock();
  return impl == nullptr || impl->context().refusal(false).has_value();
}

Result<ServersChanged> ClientServers::replace(std::vector<NodeConfig> servers) const {
  const auto impl = impl_.lock();
  if (impl == nullptr) {
    return Failure(local_error(Outcome::shutdown, Reason::closed, "the client is closing"));
  }
  ClusterConfig config = impl->config();
  config.nodes = std::move(servers);
  return client::calls::reconfigure(impl->context(), config);
}

}  // namespace v0
}  // namespace sheaf
