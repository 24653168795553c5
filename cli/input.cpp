#include "cli/input.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace sheaf::cli {

std::expected<std::string, std::string> read_all(int descriptor, std::size_t limit) {
  constexpr std::size_t step = 64 * 1024;
  std::string text;
  std::size_t used = 0;
  for (;;) {
    // One byte above the limit is asked for, to distinguish "exactly the limit" from "more".
    if (text.size() - used < step) text.resize(std::min(std::max(2 * used, step), limit + 1));
    const ssize_t got = ::read(descriptor, text.data() + used, text.size() - used);
    if (got == 0) break;
    if (got > 0) {
      used += static_cast<std::size_t>(got);
      if (used > limit) {
        return std::unexpected("standard input is longer than the limit of " +
                               std::to_string(limit) + " bytes");
      }
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
      (void)poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      return std::unexpected("cannot read standard input: " +
                             std::generic_category().message(errno));
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

}  // namespace sheaf::cli
