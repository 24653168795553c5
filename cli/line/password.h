#pragma once

// Keeps passwords off the command line, and hides those that are on it.
//
// Thread rule: pure functions, except that two look into a file.

#include <expected>
#include <span>
#include <string>

#include <sheaf/cluster_config.h>
#include <sheaf/result.h>

#include "base/secret.h"

namespace sheaf::cli {

// The environment variable that may hold the password.
inline constexpr const char* password_variable = "SHEAF_PASSWORD";

// Adds the password of --password-file, or the one from the environment or the terminal (empty:
// none), to the configuration. Refuses passwords from two places, and a file without one.
Result<ClusterConfig> give_password(ClusterConfig config, const std::string& file,
                                    const std::string& given);

// The password in a file: its first line. The error is one clause.
std::expected<Secret, std::string> read_password(const std::string& path);

// Overwrites the passwords in the URIs of a command line with asterisks: `ps` and /proc show them
// to every user of the machine.
void hide_passwords(std::span<char*> words);

}  // namespace sheaf::cli
