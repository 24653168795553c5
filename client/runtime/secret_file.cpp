#include "client/runtime/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/text.h"

namespace sheaf::client::runtime {
namespace {

// Times of files are this coarse at worst.
constexpr std::int64_t coarse = 2'000'000'000;  // ns

std::int64_t nanoseconds_of(const timespec& time) noexcept {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

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

SecretFile::Stamp SecretFile::look() const {
  struct stat found{};
  if (::stat(path_.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino, found.st_size, nanoseconds_of(found.st_mtim),
          nanoseconds_of(found.st_ctim)};
}

// Two writings within one tick of the file's clock look the same from outside.
bool SecretFile::changed() const { return young_ || look() != stamp_; }

std::unexpected<std::string> SecretFile::wrong(const std::string& what) const {
  return std::unexpected(option_ + " " + printable(path_, 256) + ": " + what);
}

// Looked at before it is read: what changes meanwhile is noticed later.
std::expected<Secret, std::string> SecretFile::read() {
  stamp_ = look();
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  young_ = stamp_.size >= 0 && nanoseconds_of(now) - stamp_.changed < coarse;
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
