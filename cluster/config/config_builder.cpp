#include "cluster/config/config_builder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"

namespace sheaf::cluster {
namespace {

// How others write the schemes of this library.
std::string_view usual_scheme(std::string_view name) noexcept {
  constexpr std::pair<std::string_view, std::string_view> usual[] = {
      {"valkey", "redis"}, {"valkeys", "rediss"}, {"memcache", "memcached"}};
  const auto found =
      std::ranges::find(usual, name, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(usual) ? name : found->second;
}

// ". Did you mean redis?", or nothing.
std::string guess_scheme(std::string_view name) {
  std::vector<std::string_view> known;
  for (const protocol::EndpointTraits& kind : protocol::endpoint_kinds()) {
    known.push_back(kind.scheme);
    if (!kind.tls_scheme.empty()) known.push_back(kind.tls_scheme);
  }
  return guess(name, known);
}

// What other clients write as an option, and where it is written here; empty: nothing is known.
std::string written_elsewhere(std::string_view name, const protocol::EndpointTraits& traits) {
  if (traits.transport == protocol::Transport::engines) return {};
  constexpr std::string_view tls[] = {"tls", "ssl", "use_tls", "usetls", "use_ssl", "usessl"};
  constexpr std::string_view login[] = {"user", "username", "password", "pass", "passwd", "auth"};
  if (std::ranges::find(tls, name) != std::end(tls) && !traits.tls_scheme.empty()) {
    return ": the scheme chooses TLS, " + std::string(traits.tls_scheme) + "://";
  }
  if (std::ranges::find(login, name) != std::end(login)) {
    return ": user and password are written before the hosts, " + std::string(traits.scheme) +
           "://USER:PASSWORD@HOST";
  }
  if (name == "weight") return ": a weight is written after a star, HOST:PORT*WEIGHT";
  return {};
}

}  // namespace

Checked ConfigBuilder::set_scheme(std::string_view scheme) {
  const std::string written = folded(scheme);
  const std::string_view name = usual_scheme(written);
  if (name.find("sentinel") != name.npos) {
    return refusal(
        "Sentinel is not supported: name the servers of a cluster, or standalone servers with "
        "routing=ring");
  }
  if (name.find('+') != name.npos) {
    return refusal(
        "a scheme with a + says where servers are listed, not which servers: sheaf/discovery.h "
        "looks them up");
  }
  const protocol::EndpointTraits* const traits = protocol::find_scheme(name);
  if (traits == nullptr) {
    return refusal("the scheme is not " + protocol::list_schemes("") + ", or with TLS " +
                   protocol::list_tls_schemes("") + guess_scheme(name));
  }
  traits_ = traits;
  config_.kind = traits->kind;
  config_.tls = name != traits->scheme;
  return {};
}

Checked ConfigBuilder::add_server(const ServerParts& server, const std::string& where) {
  if (config_.nodes.size() == max_nodes) {
    return refusal(where + ": there are more than " + std::to_string(max_nodes) + " servers");
  }
  const bool path = is_path(server.host);
  const auto bad = path ? check_path(server.host) : check_host(server.host, server.bracketed);
  if (bad) return refusal(where + ": " + bad->text);
  if (path && server.port != 0) return refusal(where + ": " + std::string(path_has_no_port));
  std::uint16_t usual = config_.tls ? traits_->tls_port : traits_->default_port;
  if (path) usual = 0;
  NodeConfig node{std::string(server.host), server.port == 0 ? usual : server.port, server.weight};
  if (!identities_.insert(folded(node.identity())).second) {
    return refusal(where + ": " + node.identity() + " is given twice");
  }
  config_.nodes.push_back(std::move(node));
  return {};
}

Checked ConfigBuilder::set_engines(std::string_view count) {
  const auto number = parse_decimal(count);
  if (!number || *number < 1 || *number > max_nodes) {
    return refusal("embedded:// is followed by the number of engines, an integer from 1 to " +
                   std::to_string(max_nodes));
  }
  for (std::uint64_t i = 0; i < *number; ++i) {
    config_.nodes.push_back({"embedded", static_cast<std::uint16_t>(i), 1});
  }
  return {};
}

Checked ConfigBuilder::set_user(std::string_view user) {
  if (!given_.insert("user").second) return refusal("is given twice");
  if (auto bad = check_user(user)) return std::unexpected(std::move(*bad));
  config_.user = std::string(user);
  return {};
}

Checked ConfigBuilder::set_password(std::string_view password) {
  if (!given_.insert("password").second) return refusal("is given twice");
  if (auto bad = check_password(password)) return std::unexpected(std::move(*bad));
  // Keeps the password out of the object itself: moving the configuration would leave a copy there.
  config_.password.reserve(std::max<std::size_t>(password.size(), 32));
  config_.password.append(password);
  return {};
}

Checked ConfigBuilder::set_option(std::string_view name, std::string_view value, Written written) {
  const Option* option = find_option(name);
  const bool database = name == "db" || name == "database";
  if (database && traits_->options == protocol::OptionGroup::redis) {
    if (value == "0") return {};
    return refusal("must be 0: " + std::string(only_database));
  }
  if (option == nullptr) {
    const std::string elsewhere = written_elsewhere(folded(name), *traits_);
    return refusal("is unknown" + (elsewhere.empty() ? guess_option(name) : elsewhere));
  }
  if (!given_.insert(std::string(name)).second) return refusal("is given twice");
  if (!has_group(*traits_, config_.tls, option->group)) {
    return refusal("is " + only_for(option->group));
  }
  if (name == "ring" && given_.contains("locator") && config_.locator == LocatorKind::slots) {
    return refusal("implies locator=ring, but locator is slots");
  }
  if (given_.contains("client_id") && given_.contains("client_id_exact")) {
    return refusal("cannot be combined with " +
                   std::string(name == "client_id" ? "client_id_exact" : "client_id"));
  }
  auto set = cluster::set_option(config_, *option, value, written);
  if (!set) return refusal(std::move(set.error()));
  return {};
}

std::expected<ClusterConfig, Problem> ConfigBuilder::finish() {
  if (auto bad = check_config(config_)) return std::unexpected(std::move(*bad));
  return std::move(config_);
}

}  // namespace sheaf::cluster
