#include "cli/system/terminal_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sheaf::cli {

namespace {

// The sequences of xterm, which all modern terminals understand.
constexpr std::string_view enter = "\x1b[?1049h\x1b[?25l";  // another screen, no cursor
constexpr std::string_view leave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view home = "\x1b[H";
constexpr std::string_view clear_line = "\x1b[K";
constexpr std::string_view clear_below = "\x1b[J";

}  // namespace

// Disables Ctrl-Z, which would leave this screen to the shell.
TerminalScreen::TerminalScreen(int in, Output& out)
    : in_(in), out_(out), keys_(tcgetattr(in, &before_) == 0) {
  if (keys_) {
    termios ours = before_;
    ours.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ours.c_cc[VSUSP] = _POSIX_VDISABLE;
    tcsetattr(in_, TCSANOW, &ours);
  }
  out_.write(enter);
  out_.flush();
}

TerminalScreen::~TerminalScreen() {
  out_.write(leave);
  out_.flush();
  if (keys_) tcsetattr(in_, TCSANOW, &before_);
}

TerminalScreen::Size TerminalScreen::size() {
  winsize window{};
  Size size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_col > 0) size.columns = window.ws_col;
  if (window.ws_row > 0) size.lines = window.ws_row;
  return size;
}

void TerminalScreen::show(std::string_view frame) {
  out_.write(home);
  while (!frame.empty()) {
    const std::size_t end = frame.find('\n');
    out_.write(frame.substr(0, end));
    out_.write(clear_line);
    frame.remove_prefix(end == std::string_view::npos ? frame.size() : end + 1);
    if (end != std::string_view::npos) out_.write("\r\n");
  }
  out_.write(clear_below);
  out_.flush();
}

bool TerminalScreen::wait_for_q(std::chrono::milliseconds time) const {
  pollfd wanted{.fd = keys_ ? in_ : -1, .events = POLLIN, .revents = 0};
  if (::poll(&wanted, 1, static_cast<int>(time.count())) <= 0) return false;
  char key = 0;
  const ssize_t got = ::read(in_, &key, 1);
  return got == 0 || (got == 1 && (key == 'q' || key == 'Q'));
}

}  // namespace sheaf::cli
