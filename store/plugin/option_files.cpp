#include "store/plugin/option_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/descriptor.h"
#include "store/rights/tokens.h"

namespace sheaf::store::plugin {
namespace {

std::unexpected<std::string> refuse(const std::string& path, std::string_view predicate) {
  return std::unexpected(path + " " + std::string(predicate));
}

// Reads one byte more than `most`, so that a longer text is detected.
std::expected<std::string, std::string> read_all(const std::string& path, std::size_t most,
                                                 bool secret) {
  // O_NONBLOCK, because a pipe without a writer would block the broker.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat state{};
  if (!file.valid() || fstat(file.get(), &state) != 0) {
    return refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  }
  if (!S_ISREG(state.st_mode)) return refuse(path, "is not a regular file");
  if ((state.st_mode & S_IWOTH) != 0) {
    return refuse(path, "is writable by every user of this machine");
  }
  if (secret && (state.st_mode & S_IROTH) != 0) {
    return refuse(path, "is readable by every user of this machine");
  }
  std::string text(most + 1, '\0');
  const auto size = read_up_to(file.get(), text);
  if (!size) return refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  text.resize(*size);
  return text;
}

}  // namespace

std::expected<rights::Rights, std::string> read_rights_file(const std::string& path) {
  const auto text = read_all(path, rights::max_rights_bytes, false);
  if (!text) return std::unexpected(text.error());
  auto rights = rights::parse_rights(*text);
  if (!rights) return std::unexpected(path + ": " + rights.error());
  return rights;
}

std::expected<std::string, std::string> read_tokens_file(const std::string& path) {
  auto text = read_all(path, rights::max_tokens_bytes, true);
  if (text && text->size() > rights::max_tokens_bytes) {
    return refuse(path, "is longer than 64 KiB");
  }
  return text;
}

}  // namespace sheaf::store::plugin
