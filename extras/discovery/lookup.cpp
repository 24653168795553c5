#include "extras/discovery/lookup.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/local_error.h"
#include "base/read_clocks.h"
#include "base/server_names.h"
#include "base/text.h"
#include "extras/discovery/dns/message.h"
#include "extras/discovery/dns/name_servers.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::discovery {
namespace {

Error bad_argument(std::string text) {
  return local_error(Outcome::invalid, Reason::bad_argument, std::move(text));
}

}  // namespace

std::optional<Error> check_options(const DiscoveryOptions& options) {
  using namespace std::chrono_literals;
  if (options.timeout < 1ms || options.timeout > 24h) {
    return bad_argument("the timeout of a look-up must be 1ms to 24h");
  }
  if (options.name_servers.size() > dns::max_name_servers) {
    return bad_argument("there are more than 3 name servers");
  }
  for (const std::string& server : options.name_servers) {
    const auto read = dns::read_name_server(server);
    // The zone of an IPv6 address (RFC 4007) follows a %.
    const std::string address = read ? read->address.substr(0, read->address.find('%')) : "";
    if (address.empty() || address.find_first_not_of("0123456789abcdefABCDEF.:") != address.npos ||
        server_names::fault_of_host(address, address.find(':') != address.npos)) {
      return bad_argument("the name server " + printable(server) +
                          " is not a numeric address, ADDRESS or ADDRESS:PORT");
    }
  }
  return std::nullopt;
}

std::optional<Error> check_source(const ServerSource& source) {
  if (source.config.ring == RingProfile::modula) return bad_argument(order_is_lost);
  if (source.kind == SourceKind::srv) {
    const auto query = dns::SrvQuery::of(source.host, 0);
    if (query) return std::nullopt;
    return bad_argument("the name of the SRV records " + query.error());
  }
  const auto& traits = protocol::traits_of(source.config.kind);
  if (!traits.lists_fleet) {
    return bad_argument(std::string(traits.scheme) + ":// has no configuration endpoint");
  }
  const bool ipv6 = source.host.find(':') != std::string::npos;
  if (auto fault = server_names::fault_of_host(source.host, ipv6)) {
    return bad_argument("configuration endpoint: " + *fault);
  }
  if (source.port != 0) return std::nullopt;
  return bad_argument("configuration endpoint: the port is not " +
                      std::string(server_names::port_rule));
}

Result<Found> look_up(const ServerSource& source, const DiscoveryOptions& options) {
  if (auto wrong = check_options(options)) return Failure(std::move(*wrong));
  if (auto wrong = check_source(source)) return Failure(std::move(*wrong));
  const Deadline started = read_monotonic();
  auto found = source.kind == SourceKind::srv ? look_up_srv(source, options)
                                              : look_up_elasticache(source, options);
  if (!found) found.error().elapsed = read_monotonic() - started;
  return found;
}

}  // namespace sheaf::discovery
