#include "client/runtime/transport.h"

#include "client/runtime/dialer_factory.h"
#include "client/runtime/outcomes.h"
#include "socket/uv/uv_loop.h"

namespace sheaf::client::runtime {

Result<Transport> open_transport(const ClusterConfig& config) {
  auto loop = socket::UvLoop::create({config.spin});
  if (!loop) {
    return Failure(local_error(Outcome::overloaded, Reason::other,
                               "cannot open an event loop: " + loop.error()));
  }
  auto dialer = make_dialer(config, **loop);
  if (!dialer) return Failure(std::move(dialer.error()));
  return Transport{std::move(*loop), std::move(*dialer), {}, {}};
}

}  // namespace sheaf::client::runtime
