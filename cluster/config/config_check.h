#pragma once

// The rules for every configuration, from a URI, a JSON document or a program.
//
// Thread rule: pure functions and plain values.

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sheaf/cluster_config.h>

#include "base/server_names.h"

namespace sheaf::cluster {

// Why a configuration is refused: one sentence without a password.
struct Problem {
  std::string text;
  Outcome outcome = Outcome::invalid;
};

inline std::unexpected<Problem> refusal(std::string text, Outcome outcome = Outcome::invalid) {
  return std::unexpected(Problem{std::move(text), outcome});
}

// Where a client's login comes from.
enum class LoginFrom : std::uint8_t {
  config,   // the configuration: user and password, or files
  callback  // the program, for every connection
};
// The first error in a whole configuration.
std::optional<Problem> check_config(const ClusterConfig& config,
                                    LoginFrom from = LoginFrom::config);
// The part of a login that must be kept secret: "password", "token"; empty if there is no secret.
std::string_view secret_of(const ClusterConfig& config, LoginFrom from) noexcept;

// Checks of parts, for callers that can name the place better. A host has no brackets.
std::optional<Problem> check_host(std::string_view host, bool bracketed);
std::optional<Problem> check_path(std::string_view path);
// Texts without their subject: "is not UTF-8 text without NUL".
std::optional<Problem> check_user(std::string_view user);
std::optional<Problem> check_password(std::string_view password);

// True for an address of this machine, its name "localhost", or a path.
bool is_loopback(std::string_view host) noexcept;

using server_names::folded;
using server_names::max_nodes;
using server_names::port_rule;
inline constexpr std::string_view path_has_no_port = "a Unix socket has no port";
inline constexpr std::string_view weight_rule = "an integer from 1 to 65535";

}  // namespace sheaf::cluster
