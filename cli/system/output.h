#pragma once

// Standard output and error of the program: every byte is accounted for, a reader that went away or
// a full disk is an error and never a signal.
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <string>
#include <string_view>

namespace sheaf::cli {

// Buffered writer on a descriptor. The first error sticks; everything after it is discarded.
class Output {
 public:
  explicit Output(int descriptor);

  void write(std::string_view bytes);
  // Writes `text` and a newline.
  void line(std::string_view text);
  // Writes a value: on a terminal a line with what could control it as \xNN, else the bytes alone.
  void value(std::string_view bytes, bool raw = false);
  // The same as one of many, which a line ends in any case.
  void value_line(std::string_view bytes, bool raw = false);
  // Hands the buffer to the kernel. False if anything was ever lost.
  bool flush();

  // Into a terminal, and neither NO_COLOR nor TERM=dumb forbids it.
  bool colours() const;
  bool failed() const noexcept { return error_ != 0; }
  // errno of the first failed write, 0 if there was none.
  int error() const noexcept { return error_; }

 private:
  void write_through(std::string_view bytes);

  static constexpr std::size_t buffer_size = 64 * 1024;
  int descriptor_;
  bool terminal_;
  int error_ = 0;
  std::string buffer_;
};

// One sentence on standard error, after the program's name and with a full stop at its end. Bytes
// that could control a terminal are escaped. Errors of standard error are ignored.
void complain(std::string_view sentence);

// A line at the bottom of the terminal of standard error, which the next one or a sentence takes
// the place of; empty: none.
void show_status(std::string_view text);

// Standard input, output and error exist afterwards, so that no socket of the client ever gets one
// of their numbers; reading an input and writing to an output that the caller had closed fails.
// SIGPIPE is ignored.
void prepare_standard_streams();

}  // namespace sheaf::cli
