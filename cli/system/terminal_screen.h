#pragma once

// A full-screen view in a terminal, which is restored at the end.
//
// Thread rule: one thread, one object at a time.

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <string_view>

#include "cli/system/output.h"

namespace sheaf::cli {

class TerminalScreen {
 public:
  // `in`: descriptor of the keys; unchanged if it is not a terminal.
  TerminalScreen(int in, Output& out);
  ~TerminalScreen();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  struct Size {
    std::size_t columns = 80;
    std::size_t lines = 24;
  };
  static Size size();

  // Replaces what is shown.
  void show(std::string_view frame);
  // Waits that long, or until a key or a signal arrives. True: the key `q`.
  bool wait_for_q(std::chrono::milliseconds time) const;

 private:
  int in_;
  Output& out_;
  termios before_{};  // read to make keys_
  bool keys_;
};

}  // namespace sheaf::cli
