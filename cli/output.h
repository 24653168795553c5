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
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  void write(std::string_view bytes);
  // Writes `text` and a newline.
  void line(std::string_view text);
  // Hands the buffer to the kernel. False if anything was ever lost.
  bool flush();

  bool failed() const noexcept { return error_ != 0; }
  // errno of the first failed write, 0 if there was none.
  int error() const noexcept { return error_; }

 private:
  void write_through(std::string_view bytes);

  static constexpr std::size_t buffer_size = 64 * 1024;
  int descriptor_;
  int error_ = 0;
  std::string buffer_;
};

// One sentence on standard error, after the program's name and with a full stop at its end. Bytes
// that could control a terminal are escaped. Errors of standard error are ignored.
void complain(std::string_view sentence);

// Standard input, output and error exist afterwards, so that no socket of the client ever gets one
// of their numbers; writing to an output that the caller had closed fails. SIGPIPE is ignored.
void prepare_standard_streams();

}  // namespace sheaf::cli
