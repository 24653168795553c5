#include "cluster/config_builder.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "cluster/ring_locator.h"

namespace sheaf::cluster {
namespace {

constexpr std::size_t kMaxNodes = 1'024;
constexpr std::size_t kMaxHost = 253;           // RFC 1035 §2.3.4, as text
constexpr std::size_t kMaxCredential = 65'535;  // MQTT 5 §1.5.4 and §1.5.6

std::unexpected<Problem> problem(std::string text, Outcome outcome = Outcome::invalid) {
  return std::unexpected(Problem{std::move(text), outcome});
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// The 16 bytes of an IPv6 address or the 4 of an IPv4 address in `out`.
bool is_address(int family, std::string_view text, void* out) noexcept {
  std::array<char, INET6_ADDRSTRLEN + 1> buffer{};
  if (text.size() >= buffer.size() || text.find('\0') != text.npos) return false;
  std::memcpy(buffer.data(), text.data(), text.size());
  return inet_pton(family, buffer.data(), out) == 1;
}

bool is_host_name(std::string_view host) noexcept {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  if (host.size() > kMaxHost || !std::ranges::all_of(host, fits)) return false;
  // Digits and dots alone are an address, and a wrong one must not be asked of the DNS.
  if (host.find_first_not_of("0123456789.") != host.npos) return true;
  in_addr address{};
  return is_address(AF_INET, host, &address);
}

bool is_loopback(std::string_view host) noexcept {
  in_addr v4{};
  if (is_address(AF_INET, host, &v4)) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  if (is_address(AF_INET6, host, &v6)) return IN6_IS_ADDR_LOOPBACK(&v6);
  return lower(host) == "localhost";
}

std::optional<Problem> host_problem(const ServerParts& server) {
  if (server.host.empty()) return Problem{"the host is empty"};
  in6_addr address{};
  if (server.bracketed && !is_address(AF_INET6, server.host, &address)) {
    return Problem{"what stands in brackets is not an IPv6 address"};
  }
  if (!server.bracketed && !is_host_name(server.host)) {
    return Problem{"the host is neither a name nor an address"};
  }
  return std::nullopt;
}

}  // namespace

Checked ConfigBuilder::set_scheme(std::string_view scheme) {
  const std::string name = lower(scheme);
  if (name == "mqtt" || name == "embedded") {
    config_.kind = name == "mqtt" ? EndpointKind::state_store : EndpointKind::embedded;
    return {};
  }
  if (name == "mqtts" || name == "memcacheds" || name == "rediss") {
    return problem(name + ":// needs TLS, which comes with a later version", Outcome::unsupported);
  }
  if (name == "memcached" || name == "redis") {
    return problem(name + ":// comes with a later version", Outcome::unsupported);
  }
  return problem("the scheme is not mqtt or embedded");
}

Checked ConfigBuilder::add_server(const ServerParts& server, const std::string& where) {
  if (config_.nodes.size() == kMaxNodes) {
    return problem(where + ": there are more than " + std::to_string(kMaxNodes) + " servers");
  }
  if (const auto bad = host_problem(server)) return problem(where + ": " + bad->text);
  constexpr std::uint16_t default_port = 1883;
  NodeConfig node{std::string(server.host), server.port == 0 ? default_port : server.port,
                  server.weight};
  // Names that differ only in case are one server (RFC 4343).
  if (!identities_.insert(lower(node.identity())).second) {
    return problem(where + ": " + node.identity() + " is given twice");
  }
  total_weight_ += node.weight;
  config_.nodes.push_back(std::move(node));
  return {};
}

Checked ConfigBuilder::set_engines(std::string_view count) {
  const auto number = parse_decimal(count);
  if (!number || *number < 1 || *number > kMaxNodes) {
    return problem("embedded:// is followed by the number of engines, an integer from 1 to " +
                   std::to_string(kMaxNodes));
  }
  for (std::uint64_t i = 0; i < *number; ++i) {
    config_.nodes.push_back({"embedded", static_cast<std::uint16_t>(i), 1});
  }
  return {};
}

Checked ConfigBuilder::set_user(std::string_view user) {
  if (!given_.insert("user").second) return problem("is given twice");
  if (user.size() > kMaxCredential) {
    return problem("has more than " + std::to_string(kMaxCredential) + " bytes");
  }
  // A user name is an MQTT string: UTF-8 without U+0000 (MQTT 5 §1.5.4).
  if (!is_utf8(user) || user.find('\0') != user.npos) {
    return problem("is not UTF-8 text without NUL");
  }
  config_.user = std::string(user);
  return {};
}

Checked ConfigBuilder::set_password(std::string_view password) {
  if (!given_.insert("password").second) return problem("is given twice");
  if (password.size() > kMaxCredential) {
    return problem("has more than " + std::to_string(kMaxCredential) + " bytes");
  }
  config_.password = std::string(password);
  return {};
}

Checked ConfigBuilder::set_option(std::string_view name, std::string_view value, Written written) {
  const Option* option = find_option(name);
  if (option == nullptr) return problem("is unknown");
  if (!given_.insert(std::string(name)).second) return problem("is given twice");
  if (option->user != OptionUser::every && config_.kind != EndpointKind::embedded) {
    return problem("is for embedded:// only");
  }
  auto set = cluster::set_option(config_, *option, value, written);
  if (!set) return problem(std::move(set.error()));
  return {};
}

Checked ConfigBuilder::check_password() const {
  if (config_.password.empty() || config_.allow_plain_password) return {};
  const auto exposed = std::ranges::find_if(
      config_.nodes, [](const NodeConfig& node) { return !is_loopback(node.host); });
  if (exposed == config_.nodes.end()) return {};
  return problem("the password would reach " + exposed->identity() +
                 " unencrypted, which needs allow_plain_password=1");
}

std::expected<ClusterConfig, Problem> ConfigBuilder::finish() {
  if (config_.nodes.empty()) return problem("there is no server");
  if (config_.kind == EndpointKind::embedded &&
      (given_.contains("user") || given_.contains("password"))) {
    return problem("embedded:// takes no user and no password");
  }
  if (config_.pool_max < config_.pool_min) {
    return problem("option pool_max is " + std::to_string(config_.pool_max) +
                   ", below pool_min, which is " + std::to_string(config_.pool_min));
  }
  if (config_.locator == LocatorKind::ring && total_weight_ > max_ring_weight) {
    return problem("locator=ring takes weights of at most " + std::to_string(max_ring_weight) +
                   " in all, and these are " + std::to_string(total_weight_));
  }
  if (auto safe = check_password(); !safe) return std::unexpected(std::move(safe.error()));
  return std::move(config_);
}

}  // namespace sheaf::cluster
