#include "client/runtime/dialer_factory.h"

#include "client/runtime/outcomes.h"
#include "protocol/endpoint_kinds.h"
#include "store/pipe/pipe_dialer.h"

#ifdef SHEAF_TLS
#include "socket/tls/tls_dialer.h"
#endif

namespace sheaf::client::runtime {
namespace {

Failure wrong(std::string text) {
  return Failure(local_error(Outcome::invalid, Reason::bad_configuration, std::move(text)));
}

#ifdef SHEAF_TLS
Result<std::unique_ptr<socket::Dialer>> make_tls_dialer(const ClusterConfig& config,
                                                        socket::UvLoop& loop) {
  auto files = socket::tls::TlsFiles::open({.ca_file = config.tls_ca,
                                            .certificate_file = config.tls_cert,
                                            .key_file = config.tls_key,
                                            .key_password_file = config.tls_key_password_file,
                                            .name = config.tls_name,
                                            .protocol = config.tls_alpn});
  if (!files) return wrong(std::move(files.error()));
  return socket::tls::make_tls_dialer(loop, socket::make_tcp_dialer(loop), std::move(*files));
}
#else
Result<std::unique_ptr<socket::Dialer>> make_tls_dialer(const ClusterConfig& config,
                                                        socket::UvLoop&) {
  const std::string scheme(protocol::traits_of(config.kind).tls_scheme);
  return Failure(local_error(Outcome::unsupported, Reason::bad_configuration,
                             scheme + ":// needs TLS, and this sheaf was built without it"));
}
#endif

}  // namespace

Result<std::unique_ptr<socket::Dialer>> make_dialer(const ClusterConfig& config,
                                                    socket::UvLoop& loop) {
  if (protocol::traits_of(config.kind).transport == protocol::Transport::tcp) {
    if (config.tls) return make_tls_dialer(config, loop);
    return socket::make_tcp_dialer(loop);
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
