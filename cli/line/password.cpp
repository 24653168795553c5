#include "cli/line/password.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/local_error.h"
#include "base/secret.h"
#include "base/text.h"

namespace sheaf::cli {
namespace {

constexpr std::string_view servers_option = "--servers";

// Hides what is between the user and the last @: an unescaped password may contain one.
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

std::expected<Secret, std::string> read_password(const std::string& path) {
  constexpr std::size_t most_bytes = 64u << 10;
  // Opening a pipe must not wait for its other end.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about{};
  if (!file.valid() || ::fstat(file.get(), &about) != 0) {
    return std::unexpected(std::strerror(errno));
  }
  if (!S_ISREG(about.st_mode)) return std::unexpected("it is not a regular file");
  Secret text(most_bytes + 1);
  const auto size = read_up_to(file.get(), text.writable());
  if (!size) return std::unexpected(std::strerror(errno));
  if (*size > most_bytes) return std::unexpected("it has more than 64 KiB");
  std::string_view line = text.view().substr(0, std::min(*size, text.view().find('\n')));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return std::unexpected("its first line is empty");
  text.shrink(line.size());
  return text;
}

Result<ClusterConfig> give_password(ClusterConfig config, const std::string& file,
                                    const std::string& given) {
  if (file.empty() && given.empty()) return config;
  const std::string place = file.empty() ? "SHEAF_PASSWORD or the terminal" : "--password-file";
  std::string other;
  if (!file.empty() && !given.empty()) other = "SHEAF_PASSWORD";
  if (!config.password.empty() || !config.password_file.empty())
    other = "the servers' configuration";
  if (!other.empty()) {
    return Failure(local_error(Outcome::invalid, Reason::bad_configuration,
                               "the password is given both by " + other + " and by " + place));
  }
  if (file.empty()) {
    config.password = given;
    return config;
  }
  // The client reads it again for each login. A problem with it now is a mistake of the caller.
  if (const auto password = read_password(file); !password) {
    return Failure(local_error(
        Outcome::invalid, Reason::bad_configuration,
        "cannot read --password-file " + printable(file, 256) + ": " + password.error()));
  }
  config.password_file = file;
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
