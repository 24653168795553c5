#include "store/plugin/rights_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace sheaf::store::plugin {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const noexcept { return number_; }

 private:
  int number_;
};

std::unexpected<std::string> refuse(const std::string& path, std::string_view predicate) {
  return std::unexpected(path + " " + std::string(predicate));
}

// Up to one byte more than a document may have, so that a longer one is seen to be.
std::expected<std::string, std::string> read_all(int descriptor, const std::string& path) {
  std::string text(rights::max_rights_bytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(descriptor, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(path, std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace

std::expected<rights::Rights, std::string> read_rights_file(const std::string& path) {
  // A pipe without a writer would stop the broker.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat state{};
  if (file.number() < 0 || fstat(file.number(), &state) != 0) {
    return refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  }
  if (!S_ISREG(state.st_mode)) return refuse(path, "is no regular file");
  if ((state.st_mode & S_IWOTH) != 0) {
    return refuse(path, "may be written by every user of this machine");
  }
  const auto text = read_all(file.number(), path);
  if (!text) return std::unexpected(text.error());
  auto rights = rights::parse_rights(*text);
  if (!rights) return std::unexpected(path + ": " + rights.error());
  return rights;
}

}  // namespace sheaf::store::plugin
