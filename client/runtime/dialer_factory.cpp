#include "client/runtime/dialer_factory.h"

#include "client/runtime/outcomes.h"
#include "protocol/endpoint_kinds.h"
#include "socket/dial/network_dialer.h"
#include "store/pipe/pipe_dialer.h"

namespace sheaf::client::runtime {
namespace {

Failure wrong(std::string text) {
  return Failure(local_error(Outcome::invalid, Reason::bad_configuration, std::move(text)));
}

}  // namespace

Result<std::unique_ptr<socket::Dialer>> make_dialer(const ClusterConfig& config,
                                                    socket::UvLoop& loop) {
  if (protocol::traits_of(config.kind).transport == protocol::Transport::tcp) {
    return socket::make_network_dialer(config, loop);
  }
  store::EngineOptions options;
  for (const auto& [name, value] : config.engine_options) {
    if (auto set = options.set(name, value); !set) return wrong(std::move(set.error()));
  }
  auto engines = store::pipe::open_engines(config.embedded_name,
                                           static_cast<unsigned>(config.nodes.size()), options);
  if (!engines) return wrong(std::move(engines.error()));
  return std::unique_ptr<socket::Dialer>(
      std::make_unique<store::pipe::PipeDialer>(loop, std::move(*engines)));
}

}  // namespace sheaf::client::runtime
