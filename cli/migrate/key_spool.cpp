#include "cli/migrate/key_spool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/percent.h"
#include "base/text.h"

namespace sheaf::cli {
namespace {

std::string temporary_folder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

// An open file whose name is already removed. Null: errno says why.
std::FILE* nameless_file() {
  std::string path = temporary_folder() + "/sheaf-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  ::unlink(path.c_str());
  std::FILE* const file = ::fdopen(descriptor, "w+");
  if (file == nullptr) {
    const int error = errno;
    ::close(descriptor);
    errno = error;
  }
  return file;
}

}  // namespace

// An encoded key contains no line end.
void KeySpool::add(std::string_view key) {
  const std::string line = percent_encode(key) + '\n';
  const std::lock_guard lock(mutex_);
  if (!good_) return;
  if (reading_) std::fseek(file_.get(), 0, SEEK_END);
  reading_ = false;
  good_ = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  if (!good_) error_ = errno;
  ++size_;
}

std::optional<std::string> KeySpool::next() {
  const std::lock_guard lock(mutex_);
  if (!good_ || !reading_) return std::nullopt;
  std::string line;
  for (int c = 0; (c = std::getc(file_.get())) != '\n';) {
    if (c == EOF) return std::nullopt;
    line.push_back(static_cast<char>(c));
  }
  return percent_decode(line);
}

void KeySpool::rewind() {
  const std::lock_guard lock(mutex_);
  if (!good_) return;
  good_ = std::fflush(file_.get()) == 0 && std::fseek(file_.get(), 0, SEEK_SET) == 0;
  if (!good_) error_ = errno;
  reading_ = true;
}

void KeySpool::clear() {
  const std::lock_guard lock(mutex_);
  file_.reset(nameless_file());
  good_ = file_ != nullptr;
  if (!good_) error_ = errno;
  size_ = 0;
  reading_ = false;
}

std::uint64_t KeySpool::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

bool KeySpool::good() const {
  const std::lock_guard lock(mutex_);
  return good_;
}

std::string KeySpool::failure() const {
  const std::lock_guard lock(mutex_);
  return "the keys cannot be kept in a temporary file in " + printable(temporary_folder(), 256) +
         ": " + std::strerror(error_);
}

}  // namespace sheaf::cli
