#include "socket/dial/network_dialer.h"

#include <string>
#include <utility>

#include "base/local_error.h"

#ifdef SHEAF_TLS
#include "socket/tls/tls_dialer.h"
#else
#include "protocol/endpoint_kinds.h"
#endif

namespace sheaf::socket {

#ifdef SHEAF_TLS
Result<std::unique_ptr<Dialer>> make_network_dialer(const ClusterConfig& config, UvLoop& loop) {
  auto plain = make_tcp_dialer(loop);
  if (!config.tls) return plain;
  auto files = tls::TlsFiles::open({.ca_file = config.tls_ca,
                                    .certificate_file = config.tls_cert,
                                    .key_file = config.tls_key,
                                    .key_password_file = config.tls_key_password_file,
                                    .name = config.tls_name,
                                    .protocol = config.tls_alpn});
  if (files) return tls::make_tls_dialer(loop, std::move(plain), std::move(*files));
  return Failure(
      local_error(Outcome::invalid, Reason::bad_configuration, std::move(files.error())));
}
#else
Result<std::unique_ptr<Dialer>> make_network_dialer(const ClusterConfig& config, UvLoop& loop) {
  if (!config.tls) return make_tcp_dialer(loop);
  const std::string scheme(protocol::traits_of(config.kind).tls_scheme);
  return Failure(local_error(Outcome::unsupported, Reason::bad_configuration,
                             scheme + ":// needs TLS, and this sheaf was built without it"));
}
#endif

}  // namespace sheaf::socket
