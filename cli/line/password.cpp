#include "cli/line/password.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/local_error.h"

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

Result<ClusterConfig> give_password(ClusterConfig config, const std::string& file,
                                    const std::string& given) {
  if (file.empty() && given.empty()) return config;
  const std::string place = file.empty() ? "SHEAF_PASSWORD or the terminal" : "--password-file";
  std::string other;
  if (!file.empty() && !given.empty()) other = "SHEAF_PASSWORD";
  if (!config.password.empty() || !config.password_file.empty())
    other = "the servers' configuration";
  if (!other.empty()) {
    return Failure(local_error(
        Outcome::invalid, Reason::bad_configuration,
        "the password comes from " + other + " or from " + place + ", and both are given"));
  }
  if (file.empty()) {
    config.password = given;
  } else {
    config.password_file = file;
  }
  return config;
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
