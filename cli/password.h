#pragma once

// Passwords that a command line keeps out of itself, and what it shows of those that it does not.
//
// Thread rule: pure functions.

#include <optional>
#include <span>
#include <string>

#include <sheaf/cluster_config.h>

namespace sheaf::cli {

// The environment variable that may have the password.
inline constexpr const char* password_variable = "SHEAF_PASSWORD";

// Gives a configuration the password of --password-file (empty: none) or of the environment (null
// or empty: none). The sentence says why it is refused: a password comes from one place.
std::optional<std::string> give_password(ClusterConfig& config, const std::string& file,
                                         const char* environment);

// Overwrites the passwords in the URIs of a command line with asterisks: `ps` and /proc show them
// to everybody on the machine.
void hide_passwords(std::span<char*> words);

}  // namespace sheaf::cli
