#include "tests/sim/kit/sim_transport.h"

#include "base/checks.h"
#include "client/runtime/transport.h"

namespace sheaf {
namespace {

sim::SimNetwork* network = nullptr;
socket::LaneControls controls;
cluster::ClusterControls cluster_controls;
sim::Bug session_bug = sim::Bug::none;

}  // namespace

void sim::use_network(SimNetwork& used, const socket::LaneControls& rules, Bug bug,
                      const cluster::ClusterControls& cluster) {
  network = &used;
  controls = rules;
  session_bug = bug;
  cluster_controls = cluster;
}

sim::Bug sim::planted_bug() noexcept { return session_bug; }

Result<client::runtime::Transport> client::runtime::open_transport(const ClusterConfig& config) {
  SHEAF_CHECK(network != nullptr);
  auto loop = std::make_unique<sim::SimLoop>(network->world(), config.spin);
  auto dialer = network->dialer(*loop);
  return Transport{std::move(loop), std::move(dialer), controls, cluster_controls};
}

}  // namespace sheaf
