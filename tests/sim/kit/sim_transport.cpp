#include "tests/sim/kit/sim_transport.h"

#include "base/checks.h"
#include "client/runtime/transport.h"

namespace sheaf {
namespace {

sim::SimNetwork* network = nullptr;
socket::LaneControls controls;

}  // namespace

void sim::use_network(SimNetwork& used, const socket::LaneControls& rules) {
  network = &used;
  controls = rules;
}

Result<client::runtime::Transport> client::runtime::open_transport(const ClusterConfig& config) {
  SHEAF_CHECK(network != nullptr);
  auto loop = std::make_unique<sim::SimLoop>(network->world(), config.spin);
  auto dialer = network->dialer(*loop);
  return Transport{std::move(loop), std::move(dialer), controls};
}

}  // namespace sheaf
