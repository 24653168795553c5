#include "client/runtime/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace sheaf::client::runtime {
namespace {

// Closes at the end of the scope.
class Descriptor {
 public:
  // Nobody waits for the other end of a pipe.
  explicit Descriptor(const std::string& path) noexcept
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const noexcept { return number_; }

 private:
  int number_;
};

}  // namespace

// Two writings within one tick of the file's clock look the same from outside.
bool SecretFile::changed() const { return young_ || FileStamp::of(path_) != stamp_; }

std::unexpected<std::string> SecretFile::wrong(const std::string& what) const {
  return std::unexpected(option_ + " " + printable(path_, 256) + ": " + what);
}

// Looked at before it is read: what changes meanwhile is noticed later.
std::expected<Secret, std::string> SecretFile::read() {
  stamp_ = FileStamp::of(path_);
  young_ = stamp_.young();
  return read_line();
}

std::expected<Secret, std::string> SecretFile::read_line() const {
  const Descriptor file(path_);
  struct stat found{};
  if (file.number() < 0 || ::fstat(file.number(), &found) != 0) return wrong(std::strerror(errno));
  if (!S_ISREG(found.st_mode)) return wrong("is no file that can be read as a whole");
  Secret text(most_bytes + 1);
  std::size_t size = 0;
  while (size < text.view().size()) {
    const auto got =
        ::read(file.number(), text.writable().data() + size, text.view().size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return wrong(std::strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > most_bytes) return wrong("has more than 64 KiB");
  std::string_view line = text.view().substr(0, size);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return wrong(size == 0 ? "is empty" : "its first line is empty");
  return Secret(line);
}

}  // namespace sheaf::client::runtime
