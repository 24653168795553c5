#include "cli/system/output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/text.h"

namespace sheaf::cli {

namespace {

// Waits until a descriptor that the caller made non-blocking accepts bytes again.
void wait_writable(int descriptor) {
  pollfd wanted{.fd = descriptor, .events = POLLOUT, .revents = 0};
  (void)poll(&wanted, 1, -1);
}

// Writes everything; 0 or errno.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t taken = ::write(descriptor, bytes.data(), bytes.size());
    if (taken >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(taken));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_writable(descriptor);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// https://no-color.org
bool has_colours(int descriptor) {
  const char* const forbidden = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return isatty(descriptor) == 1 && (forbidden == nullptr || *forbidden == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

std::string shown(std::string_view bytes, ShownAs as) {
  const bool text = is_utf8(bytes);
  const bool word = as == ShownAs::word;
  const auto at = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0xffu;
  };
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool kept = !word && (at(i) == '\n' || at(i) == '\t');
    const bool control = (at(i) < 0x20 && !kept) || at(i) == 0x7f;
    if (text && at(i) == 0xc2 && at(i + 1) < 0xa0) {
      out += printable(bytes.substr(i++, 2));
    } else if (word && at(i) == '\\') {
      out += "\\x5C";
    } else if (control || (at(i) >= 0x80 && !text)) {
      out += printable(bytes.substr(i, 1));
    } else {
      out += bytes[i];
    }
  }
  return out;
}

bool Output::colours() const { return has_colours(descriptor_); }

Output::Output(int descriptor) : descriptor_(descriptor), terminal_(isatty(descriptor) == 1) {}

void Output::value(std::string_view bytes, bool raw) {
  if (!terminal_ || raw) return write(bytes);
  line(shown(bytes, ShownAs::lines));
}

void Output::value_line(std::string_view bytes, bool raw) {
  if (!terminal_ || raw) return line(bytes);
  line(shown(bytes, ShownAs::lines));
}

void Output::write(std::string_view bytes) {
  if (failed()) return;
  if (buffer_.size() + bytes.size() <= buffer_size) {
    buffer_.append(bytes);
    return;
  }
  flush();
  if (bytes.size() >= buffer_size) {
    write_through(bytes);
  } else {
    buffer_.assign(bytes);
  }
}

void Output::line(std::string_view text) {
  write(text);
  write("\n");
}

bool Output::flush() {
  write_through(buffer_);
  buffer_.clear();
  return !failed();
}

void Output::write_through(std::string_view bytes) {
  if (!failed()) error_ = write_all(descriptor_, bytes);
}

namespace {

bool status_stands = false;

}  // namespace

void complain(std::string_view sentence) {
  constexpr std::size_t longest = 4'096;
  show_status("");
  std::string text = has_colours(STDERR_FILENO) ? "\x1b[1;31msheaf:\x1b[0m " : "sheaf: ";
  text += printable(sentence, longest);
  if (!text.ends_with('.') && !text.ends_with('?')) text.push_back('.');
  text.push_back('\n');
  (void)write_all(STDERR_FILENO, text);
}

void show_status(std::string_view text) {
  if (text.empty() && !status_stands) return;
  status_stands = !text.empty();
  (void)write_all(STDERR_FILENO, "\r" + std::string(text) + "\x1b[K");
}

void prepare_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // open() returns the lowest free number, which is the missing one. The input is opened for
    // writing only and the output for reading only. So using them is an error, like using closed
    // ones, and neither an empty input nor lost output.
    const int flags = descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (open("/dev/null", flags) == -1) _exit(3);
  }
  (void)signal(SIGPIPE, SIG_IGN);
}

}  // namespace sheaf::cli
