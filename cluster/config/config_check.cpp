#include "cluster/config/config_check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/text.h"
#include "cluster/config/config_options.h"
#include "cluster/placement/ring_locator.h"

namespace sheaf::cluster {
namespace {

using Found = std::optional<Problem>;
using protocol::EndpointTraits;
using protocol::OptionGroup;
using server_names::is_address;
using server_names::is_ipv6;

constexpr std::size_t max_credential = 65'535;  // MQTT 5 §1.5.4 and §1.5.6

Problem problem(std::string text) { return {std::move(text), Outcome::invalid}; }

Found too_long(std::string_view credential) {
  if (credential.size() <= max_credential) return std::nullopt;
  return problem("has more than " + std::to_string(max_credential) + " bytes");
}

Found check_kind(const EndpointTraits& traits) {
  if (traits.make_sessions != nullptr) return std::nullopt;
  return problem("the kind is not a value of EndpointKind");
}

bool in_process(const ClusterConfig& config) noexcept {
  return protocol::traits_of(config.kind).transport == protocol::Transport::engines;
}

Found check_node(const ClusterConfig& config, std::size_t index) {
  const NodeConfig& node = config.nodes[index];
  const std::string where = "server " + std::to_string(index + 1) + ": ";
  if (in_process(config)) {
    if (node.host != "embedded" || node.port != index) {
      return problem(where + "an embedded one is embedded:" + std::to_string(index));
    }
  } else if (is_path(node.host)) {
    if (auto bad = check_path(node.host)) return problem(where + bad->text);
    if (node.port != 0) return problem(where + std::string(path_has_no_port));
  } else {
    if (auto bad = check_host(node.host, is_ipv6(node.host))) return problem(where + bad->text);
    if (node.port == 0) return problem(where + "the port is not " + std::string(port_rule));
  }
  if (node.weight < 1 || node.weight > 65'535) {
    return problem(where + "the weight is not " + std::string(weight_rule));
  }
  return std::nullopt;
}

Found check_nodes(const ClusterConfig& config) {
  if (config.nodes.empty()) return problem("there is no server");
  if (config.nodes.size() > max_nodes) {
    return problem("there are more than " + std::to_string(max_nodes) + " servers");
  }
  std::unordered_set<std::string> identities;
  std::uint64_t weight = 0;
  for (std::size_t i = 0; i < config.nodes.size(); ++i) {
    if (auto bad = check_node(config, i)) return bad;
    const std::string identity = config.nodes[i].identity();
    if (!identities.insert(folded(identity)).second) return problem(identity + " is given twice");
    weight += config.nodes[i].weight;
  }
  const bool own_ring = config.locator == LocatorKind::ring && config.ring == RingProfile::none;
  if (own_ring && weight > max_ring_weight) {
    return problem("locator=ring takes weights of at most " + std::to_string(max_ring_weight) +
                   " in all, and these are " + std::to_string(weight));
  }
  return std::nullopt;
}

// True if an address is numeric, so that its text is the same for every client.
bool is_numeric(std::string_view host) noexcept {
  in_addr v4{};
  return is_address(AF_INET, host, &v4) || is_ipv6(host);
}

// Another client's placement works only with what that client knows of its servers.
Found check_ring(const ClusterConfig& config) {
  if (config.ring != RingProfile::none && config.locator != LocatorKind::ring) {
    return problem("option ring implies locator=ring, but locator is slots");
  }
  if (config.ring == RingProfile::spymemcached) {
    const auto named = std::ranges::find_if(
        config.nodes, [](const NodeConfig& node) { return !is_numeric(node.host); });
    if (named == config.nodes.end()) return std::nullopt;
    return problem("option ring=spymemcached takes numeric addresses only, but " +
                   named->identity() + " is a name");
  }
  std::string_view refused;
  if (config.ring == RingProfile::modula) {
    refused = "modula takes no weights: libmemcached ignores them there";
  }
  if (config.ring == RingProfile::pymemcache) {
    refused = "pymemcache takes no weights: pymemcache has none";
  }
  if (refused.empty()) return std::nullopt;
  const auto weighted =
      std::ranges::find_if(config.nodes, [](const NodeConfig& node) { return node.weight != 1; });
  if (weighted == config.nodes.end()) return std::nullopt;
  return problem("option ring=" + std::string(refused) + ", but " + weighted->identity() +
                 " has the weight " + std::to_string(weighted->weight));
}

// A cluster decides itself who owns what.
Found check_routing(const ClusterConfig& config) {
  const std::string needs_ring =
      " needs routing=ring at " + std::string(to_string(config.kind)) + "://";
  if (config.locator != LocatorKind::slots) return problem("option locator" + needs_ring);
  if (config.slots != ClusterConfig().slots) return problem("option slots" + needs_ring);
  if (config.failover != FailoverMode::owner) {
    return problem("option failover=rehash" + needs_ring);
  }
  const auto weighted =
      std::ranges::find_if(config.nodes, [](const NodeConfig& node) { return node.weight != 1; });
  if (weighted == config.nodes.end()) return std::nullopt;
  return problem("the weight of " + weighted->identity() + needs_ring);
}

// True if the servers, not the configuration, decide who owns a key.
bool servers_decide(const ClusterConfig& config) {
  return protocol::traits_of(config.kind).make_map != nullptr &&
         config.routing == RoutingKind::cluster;
}

// Options that work only with hosts and ports.
Found check_paths(const ClusterConfig& config) {
  const auto path =
      std::ranges::find_if(config.nodes, [](const NodeConfig& node) { return is_path(node.host); });
  if (path == config.nodes.end()) return std::nullopt;
  const std::string reason = ", and " + path->host + " is the path of a Unix socket";
  if (config.tls) return problem("TLS is for servers with a name or an address" + reason);
  if (config.ring != RingProfile::none) {
    return problem("option ring is for servers with a name or an address" + reason);
  }
  if (!servers_decide(config)) return std::nullopt;
  return problem("the servers of a cluster have a name or an address" + reason +
                 "; standalone servers need routing=ring");
}

// Only a cluster names servers.
Found check_hosts(const ClusterConfig& config) {
  const bool named = config.hosts != ClusterConfig().hosts;
  if (!named && config.address_map.empty()) return std::nullopt;
  if (config.routing == RoutingKind::cluster) return std::nullopt;
  return problem("option " + std::string(named ? "hosts" : "address_map") +
                 " needs routing=cluster: standalone servers name no others");
}

// Only a cluster says which servers are replicas.
Found check_reads(const ClusterConfig& config) {
  const ClusterConfig defaults;
  std::string name = "option ";
  if (config.reads != defaults.reads) {
    name += "reads";
  } else if (config.replica_misses != defaults.replica_misses) {
    name += "replica_misses";
  } else if (config.hedged_reads) {
    name += "hedged_reads";
  } else {
    return std::nullopt;
  }
  if (config.routing == RoutingKind::ring) {
    return problem(name + " needs routing=cluster: standalone servers have no replicas");
  }
  if (config.reads == ReadTarget::replicas) return std::nullopt;
  return problem(name + " needs reads=replicas");
}

Found check_kind_options(const ClusterConfig& config, const EndpointTraits& traits) {
  if (auto wrong = check_paths(config)) return wrong;
  if (auto wrong = check_reads(config)) return wrong;
  if (auto wrong = check_hosts(config)) return wrong;
  if (config.failover == FailoverMode::rehash && !traits.features.has(Feature::rehash)) {
    return problem("option failover=rehash is not supported at " + std::string(traits.scheme) +
                   "://");
  }
  if (servers_decide(config)) {
    if (auto wrong = check_routing(config)) return wrong;
  }
  return check_ring(config);
}

// Finds options that servers of this kind do not have.
Found check_groups(const ClusterConfig& config, const EndpointTraits& traits) {
  for (const Option& option : option_table()) {
    if (has_group(traits, config.tls, option.group) || !is_given(config, option)) continue;
    return problem("option " + std::string(option.name) + " is " + only_for(option.group));
  }
  if (config.engine_options.empty() || has_group(traits, config.tls, OptionGroup::engines)) {
    return std::nullopt;
  }
  return problem("options of engines are " + only_for(OptionGroup::engines));
}

Found check_tls(const ClusterConfig& config, const EndpointTraits& traits) {
  if (config.tls && traits.tls_scheme.empty()) {
    return problem(std::string(traits.scheme) + ":// has no TLS");
  }
  const std::string& name = config.tls_name;
  if (!name.empty() && check_host(name, name.find(':') != name.npos)) {
    return problem("option tls_name is neither a name nor an address");
  }
  const bool keyless = config.tls_key.empty();
  if (keyless && !config.tls_key_password_file.empty()) {
    return problem("option tls_key_password_file needs tls_key");
  }
  if (config.tls_cert.empty() == keyless) return std::nullopt;
  return problem(std::string("option ") +
                 (keyless ? "tls_cert needs tls_key" : "tls_key needs tls_cert"));
}

Found check_options(const ClusterConfig& config) {
  for (const Option& option : option_table()) {
    if (auto wrong = check_option(config, option)) {
      return problem("option " + std::string(option.name) + " " + *wrong);
    }
  }
  if (config.pool_max < config.pool_min) {
    return problem("option pool_max is " + std::to_string(config.pool_max) +
                   ", below pool_min, which is " + std::to_string(config.pool_min));
  }
  if (!config.client_id_exact.empty() && config.client_id != ClusterConfig().client_id) {
    return problem("option client_id_exact cannot be combined with client_id");
  }
  const EndpointTraits& traits = protocol::traits_of(config.kind);
  if (auto wrong = check_groups(config, traits)) return wrong;
  if (auto wrong = check_tls(config, traits)) return wrong;
  return check_kind_options(config, traits);
}

// A login must come from one source only.
Found check_login_source(const ClusterConfig& config, LoginFrom from) {
  const bool named = !config.user.empty() || !config.password.empty();
  const bool password_file = !config.password_file.empty();
  const bool token_file = !config.token_file.empty();
  if (!config.password.empty() && password_file) {
    return problem("option password_file cannot be combined with a password");
  }
  if (token_file && (named || password_file)) {
    return problem("option token_file cannot be combined with user, password or password_file");
  }
  if (from == LoginFrom::callback && (named || password_file || token_file)) {
    return problem(
        "the program's credentials cannot be combined with user, password, password_file or "
        "token_file");
  }
  if (config.auth_method != ClusterConfig().auth_method && !token_file)
    return problem("option auth_method needs token_file");
  return std::nullopt;
}

Found check_login(const ClusterConfig& config, LoginFrom from) {
  if (auto bad = check_user(config.user)) return problem("the user " + bad->text);
  if (auto bad = check_password(config.password)) return problem("the password " + bad->text);
  const std::string secret(secret_of(config, from));
  if (in_process(config)) {
    if (config.user.empty() && secret.empty()) return std::nullopt;
    return problem(std::string(to_string(config.kind)) + ":// takes no user and no password");
  }
  if (auto wrong = check_login_source(config, from)) return wrong;
  if (protocol::traits_of(config.kind).needs_user && from != LoginFrom::callback &&
      config.user.empty() && !secret.empty()) {
    const std::string scheme(to_string(config.kind));
    return problem("there is a password without a user name, which " + scheme +
                   ":// needs: write it before the hosts, " + scheme + "://USER@HOST");
  }
  const bool open = !config.tls && !config.allow_plain_password;
  if (secret.empty() || !open) return std::nullopt;
  const auto exposed = std::ranges::find_if(
      config.nodes, [](const NodeConfig& node) { return !is_loopback(node.host); });
  if (exposed == config.nodes.end()) return std::nullopt;
  return problem("the " + secret + " would reach " + exposed->identity() +
                 " unencrypted, which needs allow_plain_password=1");
}

}  // namespace

std::string_view secret_of(const ClusterConfig& config, LoginFrom from) noexcept {
  if (from == LoginFrom::callback || !config.password.empty() || !config.password_file.empty()) {
    return "password";
  }
  return config.token_file.empty() ? "" : "token";
}

std::optional<Problem> check_config(const ClusterConfig& config, LoginFrom from) {
  if (auto bad = check_kind(protocol::traits_of(config.kind))) return bad;
  if (auto bad = check_nodes(config)) return bad;
  if (auto bad = check_options(config)) return bad;
  return check_login(config, from);
}

std::optional<Problem> check_host(std::string_view host, bool bracketed) {
  auto fault = server_names::fault_of_host(host, bracketed);
  if (!fault) return std::nullopt;
  return problem(std::move(*fault));
}

std::optional<Problem> check_path(std::string_view path) {
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() < 2 || path.size() > longest || path.find('\0') != path.npos) {
    return problem("the path of a Unix socket has 2 to " + std::to_string(longest) +
                   " bytes without NUL");
  }
  return std::nullopt;
}

// A user name is an MQTT string: UTF-8 without U+0000 (MQTT 5 §1.5.4).
std::optional<Problem> check_user(std::string_view user) {
  if (!is_utf8(user) || user.find('\0') != user.npos) {
    return problem("is not UTF-8 text without NUL");
  }
  return too_long(user);
}

std::optional<Problem> check_password(std::string_view password) { return too_long(password); }

bool is_loopback(std::string_view host) noexcept {
  if (is_path(host)) return true;
  in_addr v4{};
  if (is_address(AF_INET, host, &v4)) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  if (is_address(AF_INET6, host, &v6)) return IN6_IS_ADDR_LOOPBACK(&v6);
  return folded(host) == "localhost";
}

}  // namespace sheaf::cluster
