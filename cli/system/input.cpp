#include "cli/system/input.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace sheaf::cli {

namespace {

// Like read(2), but waits if the descriptor does not block.
ssize_t read_waiting(int descriptor, char* to, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(descriptor, to, size);
    if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return got;
    pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, -1) < 0 && errno == EINTR) return -1;
  }
}

std::string cannot_read(int error) {
  return "cannot read standard input: " + std::generic_category().message(error);
}

}  // namespace

std::expected<std::string, std::string> read_all(int descriptor, std::size_t limit) {
  constexpr std::size_t step = 64 * 1024;
  std::string text;
  std::size_t used = 0;
  for (;;) {
    // Asks for one byte above the limit, to distinguish "exactly the limit" from "more".
    if (text.size() - used < step) text.resize(std::min(std::max(2 * used, step), limit + 1));
    const ssize_t got = read_waiting(descriptor, text.data() + used, text.size() - used);
    if (got == 0) break;
    if (got > 0) {
      used += static_cast<std::size_t>(got);
      if (used > limit) {
        return std::unexpected("standard input is longer than the limit of " +
                               std::to_string(limit) + " bytes");
      }
    } else if (errno != EINTR) {
      return std::unexpected(cannot_read(errno));
    }
  }
  text.resize(used);
  return text;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

LineReader::LineReader(int descriptor, std::size_t limit) : descriptor_(descriptor), limit_(limit) {
  struct stat about{};
  if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return;
  begin_ = lseek(descriptor, 0, SEEK_CUR);
  if (begin_ >= 0 && about.st_size > begin_)
    total_ = static_cast<std::uint64_t>(about.st_size - begin_);
}

bool LineReader::rewind() {
  if (begin_ < 0 || lseek(descriptor_, begin_, SEEK_SET) != begin_) return false;
  buffer_.clear();
  at_ = seen_ = 0;
  ended_ = false;
  lines_ = bytes_ = 0;
  return true;
}

std::optional<std::string_view> LineReader::next() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', std::max(at_, seen_));
    const bool whole = end != buffer_.npos || (ended_ && at_ < buffer_.size());
    const std::size_t stop = std::min(end, buffer_.size());
    if (stop > at_ && stop - at_ > limit_) {
      error_ = "line " + std::to_string(lines_ + 1) + " is longer than the limit of " +
               std::to_string(limit_) + " bytes";
    }
    if (!error_.empty()) return std::nullopt;
    if (whole) {
      const std::string_view line = std::string_view(buffer_).substr(at_, stop - at_);
      bytes_ += line.size() + 1;
      ++lines_;
      at_ = seen_ = stop + 1;
      return line;
    }
    seen_ = buffer_.size();
    if (ended_ || !fill()) return std::nullopt;
  }
}

bool LineReader::fill() {
  constexpr std::size_t step = 256 * 1024;
  buffer_.erase(0, std::min(at_, buffer_.size()));
  seen_ -= std::min(at_, seen_);
  at_ = 0;
  const std::size_t used = buffer_.size();
  buffer_.resize(used + step);
  const ssize_t got = read_waiting(descriptor_, buffer_.data() + used, step);
  const int error = got < 0 ? errno : 0;
  buffer_.resize(used + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  ended_ = got == 0;
  if (error != 0 && error != EINTR) error_ = cannot_read(error);
  return error == 0;
}

}  // namespace sheaf::cli
