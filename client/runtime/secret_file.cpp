#include "client/runtime/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/text.h"

namespace sheaf::client::runtime {
// Two writes within one tick of the file's clock look the same from outside.
bool SecretFile::changed() const { return young_ || FileStamp::of(path_) != stamp_; }

std::unexpected<std::string> SecretFile::wrong(const std::string& what) const {
  return std::unexpected(option_ + " " + printable(path_, 256) + ": " + what);
}

// The stamp is taken before reading: a change meanwhile is noticed later.
std::expected<Secret, std::string> SecretFile::read() {
  stamp_ = FileStamp::of(path_);
  young_ = stamp_.young();
  return read_line();
}

std::expected<Secret, std::string> SecretFile::read_line() const {
  // Opening a pipe must not wait for its other end.
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found{};
  if (!file.valid() || ::fstat(file.get(), &found) != 0) return wrong(std::strerror(errno));
  if (!S_ISREG(found.st_mode)) return wrong("is not a file that can be read as a whole");
  Secret text(most_bytes + 1);
  const auto size = read_up_to(file.get(), text.writable());
  if (!size) return wrong(std::strerror(errno));
  if (*size > most_bytes) return wrong("has more than 64 KiB");
  std::string_view line = text.view().substr(0, *size);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return wrong(*size == 0 ? "is empty" : "its first line is empty");
  return Secret(line);
}

}  // namespace sheaf::client::runtime
