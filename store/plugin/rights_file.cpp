#include "store/plugin/rights_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/descriptor.h"

namespace sheaf::store::plugin {
namespace {

std::unexpected<std::string> refuse(const std::string& path, std::string_view predicate) {
  return std::unexpected(path + " " + std::string(predicate));
}

// Reads one byte more than a document may have, so that a longer document is detected.
std::expected<std::string, std::string> read_all(int descriptor, const std::string& path) {
  std::string text(rights::max_rights_bytes + 1, '\0');
  const auto size = read_up_to(descriptor, text);
  if (!size) return refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  text.resize(*size);
  return text;
}

}  // namespace

std::expected<rights::Rights, std::string> read_rights_file(const std::string& path) {
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
  const auto text = read_all(file.get(), path);
  if (!text) return std::unexpected(text.error());
  auto rights = rights::parse_rights(*text);
  if (!rights) return std::unexpected(path + ": " + rights.error());
  return rights;
}

}  // namespace sheaf::store::plugin
