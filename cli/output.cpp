#include "cli/output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/text.h"

namespace sheaf::cli {

namespace {

// Waits until a descriptor that the caller made non-blocking takes bytes again.
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

}  // namespace

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

void complain(std::string_view sentence) {
  constexpr std::size_t longest = 4'096;
  std::string text = "sheaf: " + printable(sentence, longest);
  if (!text.ends_with('.')) text.push_back('.');
  text.push_back('\n');
  (void)write_all(STDERR_FILENO, text);
}

void prepare_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // Descriptors are handed out from the lowest number, so this open() gets the missing one.
    // Output gets a read-only descriptor: what is written to it is an error, not silently gone.
    const int flags = descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", flags) == -1) _exit(3);
  }
  (void)signal(SIGPIPE, SIG_IGN);
}

}  // namespace sheaf::cli
