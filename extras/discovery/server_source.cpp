// URIs of sources of servers: the parts that a URI of servers does not have are removed, and the
// rest is read as such a URI.

#include <optional>
#include <utility>

#include <sheaf/server_source.h>

#include "base/secret.h"
#include "base/server_names.h"
#include "base/text.h"
#include "extras/discovery/dns/message.h"
#include "extras/discovery/lookup.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf {
namespace {

constexpr std::string_view srv_suffix = "+srv";
constexpr std::string_view elasticache_suffix = "+elasticache";
constexpr std::string_view after_scheme = "://";

Failure failure(std::string text) {
  return Failure({Outcome::invalid, Reason::bad_configuration, "", {}, std::move(text)});
}

// The kind that a scheme's suffix, such as "+srv", names; in either case.
std::optional<SourceKind> kind_of(std::string_view suffix) {
  const std::string name = server_names::folded(suffix);
  if (name == srv_suffix) return SourceKind::srv;
  if (name == elasticache_suffix) return SourceKind::elasticache;
  return std::nullopt;
}

// Checks what precedes the options: one name, and a port only where it has a meaning.
std::optional<std::string> check_place(std::string_view rest, SourceKind kind) {
  std::string_view place = rest.substr(0, rest.find('?'));
  if (const std::size_t at = place.rfind('@'); at != place.npos) place.remove_prefix(at + 1);
  if (place.find(',') != place.npos) return "a source of servers is one name";
  if (place.find('*') != place.npos) return "a source of servers has no weight";
  if (kind == SourceKind::srv && place.find(':') != place.npos) {
    return "the name of SRV records has no port: the records name the ports";
  }
  return std::nullopt;
}

std::optional<std::string> check_source(const ServerSource& source) {
  const auto& traits = protocol::traits_of(source.config.kind);
  const std::string_view how = to_string(source.kind);
  const bool fits = source.kind == SourceKind::srv ? traits.transport == protocol::Transport::tcp
                                                   : traits.lists_fleet;
  if (!fits)
    return std::string(traits.scheme) + ":// does not look up servers by +" + std::string(how);
  if (is_path(source.host)) return "a source of servers cannot be a Unix socket";
  if (source.config.ring == RingProfile::modula) return discovery::order_is_lost;
  if (source.kind != SourceKind::srv) return std::nullopt;
  const auto query = discovery::dns::SrvQuery::of(source.host, 0);
  if (query) return std::nullopt;
  return "the name of the SRV records " + query.error();
}

}  // namespace

inline namespace v0 {

std::string_view to_string(SourceKind kind) noexcept {
  return kind == SourceKind::srv ? srv_suffix.substr(1) : elasticache_suffix.substr(1);
}

bool ServerSource::is_source(std::string_view uri) noexcept {
  const std::size_t end = uri.find(after_scheme);
  return end != uri.npos && uri.substr(0, end).find('+') != uri.npos;
}

Result<ServerSource> ServerSource::parse_uri(std::string_view uri) {
  const std::size_t end = is_source(uri) ? uri.find(after_scheme) : uri.npos;
  const std::string_view scheme = uri.substr(0, end == uri.npos ? 0 : end);
  const auto kind = kind_of(scheme.substr(std::min(scheme.find('+'), scheme.size())));
  if (!kind) return failure("the URI does not begin with SCHEME+srv:// or SCHEME+elasticache://");
  const std::string_view rest = uri.substr(end + after_scheme.size());
  if (auto wrong = check_place(rest, *kind)) return failure(std::move(*wrong));
  std::string servers(scheme.substr(0, scheme.find('+')));
  servers.reserve(uri.size());
  servers.append(after_scheme).append(rest);
  auto config = ClusterConfig::parse_uri(servers);
  wipe(servers);  // it may hold a password
  if (!config) return Failure(std::move(config.error()));
  ServerSource source{*kind, {}, 0, std::move(*config)};
  source.host = source.config.nodes.front().host;
  if (*kind == SourceKind::elasticache) source.port = source.config.nodes.front().port;
  if (auto wrong = check_source(source)) return failure(std::move(*wrong));
  source.config.nodes.clear();
  return source;
}

}  // namespace v0
}  // namespace sheaf
