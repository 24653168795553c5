#pragma once

// Passwords that a command line keeps out of itself, and what it shows of those that it does not.
//
// Thread rule: pure functions, but for a look into the file.

#include <span>
#include <string>

#include <sheaf/cluster_config.h>
#include <sheaf/result.h>

namespace sheaf::cli {

// The environment variable that may have the password.
inline constexpr const char* password_variable = "SHEAF_PASSWORD";

// The configuration with the password of --password-file, or of the environment or the terminal
// (empty: none). It is refused where passwords come from two places, or if the file has none.
Result<ClusterConfig> give_password(ClusterConfig config, const std::string& file,
                                    const std::string& given);

// Overwrites the passwords in the URIs of a command line with asterisks: `ps` and /proc show them
// to everybody on the machine.
void hide_passwords(std::span<char*> words);

}  // namespace sheaf::cli
