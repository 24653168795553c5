#include "cli/password.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace sheaf::cli {
namespace {

constexpr std::string_view servers_option = "--servers";

// What stands between the user and the last @: a password that was not escaped may hold one.
void hide(char* uri) {
  const std::string_view text(uri);
  const std::size_t scheme = text.find("://");
  if (scheme == text.npos) return;
  const std::size_t colon = text.find(':', scheme + 3);
  const std::size_t at = text.rfind('@');
  if (colon == text.npos || at == text.npos || at < colon) return;
  std::fill(uri + colon + 1, uri + at, '*');
}

}  // namespace

std::optional<std::string> give_password(ClusterConfig& config, const std::string& file,
                                         const char* environment) {
  const bool of_file = !file.empty();
  const bool of_environment = environment != nullptr && *environment != '\0';
  if (!of_file && !of_environment) return std::nullopt;
  const std::string given = of_file ? "--password-file" : password_variable;
  if (of_file && of_environment) {
    return "the password comes from --password-file or from " + std::string(password_variable) +
           ", and both are given";
  }
  if (!config.password.empty() || !config.password_file.empty()) {
    return "the password comes from the servers' configuration or from " + given +
           ", and both are given";
  }
  if (of_file) {
    config.password_file = file;
  } else {
    config.password = environment;
  }
  return std::nullopt;
}

void hide_passwords(std::span<char*> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word(words[i]);
    if (word == "--") return;  // keys and values follow
    if (word == servers_option) {
      if (i + 1 < words.size()) hide(words[++i]);
    } else if (word.starts_with("--servers=")) {
      hide(words[i] + servers_option.size() + 1);
    }
  }
}

}  // namespace sheaf::cli
