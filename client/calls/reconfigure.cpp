#include "client/calls/reconfigure.h"

#include <utility>

#include "client/runtime/outcomes.h"
#include "cluster/config/config_change.h"

namespace sheaf::client::calls {

Result<ServersChanged> reconfigure(runtime::Context& context, const ClusterConfig& config) {
  if (auto refused = context.refusal(true)) return Failure(std::move(*refused));
  if (auto wrong = cluster::fixed_difference(context.config(), config)) {
    return Failure(
        runtime::local_error(Outcome::invalid, Reason::bad_configuration, std::move(*wrong)));
  }
  return context.update(config.nodes).transform([&](const std::vector<NodeConfig>& before) {
    cluster::ServerChanges changes = cluster::changes_of(before, config.nodes);
    return ServersChanged{std::move(changes.added), std::move(changes.removed),
                          std::move(changes.reweighted)};
  });
}

}  // namespace sheaf::client::calls
