#pragma once

// Standard output and error of the program. No byte is lost silently: a reader that went away or a
// full disk is an error and never a signal.
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <string>
#include <string_view>

namespace sheaf::cli {

// Bytes as text that cannot control a terminal: UTF-8 stays, except its control characters, U+0080
// to U+009F; other bytes become \xNN. A word stays one: line feeds, tabs and backslashes become
// \xNN as well, so that different bytes never look alike.
enum class ShownAs : bool { lines, word };
std::string shown(std::string_view bytes, ShownAs as);

// Buffered writer on a descriptor. It keeps the first error and discards everything after it.
class Output {
 public:
  explicit Output(int descriptor);

  void write(std::string_view bytes);
  // Writes `text` and a newline.
  void line(std::string_view text);
  // Writes a value: to a terminal a line with control characters as \xNN, else the bytes alone.
  void value(std::string_view bytes, bool raw = false);
  // The same for one of many values; a line end always follows.
  void value_line(std::string_view bytes, bool raw = false);
  // Passes the buffer to the kernel. False if anything was ever lost.
  bool flush();

  // True on a terminal, unless NO_COLOR or TERM=dumb forbids it.
  bool colours() const;
  bool failed() const noexcept { return error_ != 0; }
  // errno of the first failed write; 0: no error.
  int error() const noexcept { return error_; }

 private:
  void write_through(std::string_view bytes);

  static constexpr std::size_t buffer_size = 64 * 1024;
  int descriptor_;
  bool terminal_;
  int error_ = 0;
  std::string buffer_;
};

// Prints one sentence on standard error, after the program's name and with a full stop at its end.
// Escapes bytes that could control a terminal. Ignores errors of standard error.
void complain(std::string_view sentence);

// A line at the bottom of the terminal of standard error; the next one or a sentence replaces it.
// Empty: removes it.
void show_status(std::string_view text);

// Afterwards standard input, output and error exist, so that no socket of the client gets one of
// their numbers. If the caller had closed standard input or output, reading or writing it fails.
// SIGPIPE is ignored.
void prepare_standard_streams();

}  // namespace sheaf::cli
