#pragma once

// Standard input of the program, and how it is split into lines.
//
// Thread rule: one thread.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::cli {

// Everything up to the end of input. The error is one sentence: more than `limit` bytes, or the
// kernel's error.
std::expected<std::string, std::string> read_all(int descriptor, std::size_t limit);

// The lines of `text` without their '\n'; no empty line after a final '\n'. Nothing else separates
// lines and nothing is trimmed: a key may contain any byte except '\n' here.
std::vector<std::string_view> split_lines(std::string_view text);

// Reads the lines of an input of any length, in bounded memory.
class LineReader {
 public:
  // No line may be longer than `limit` bytes.
  LineReader(int descriptor, std::size_t limit);

  // The next line; valid until the next call. Nothing at the end, at an interruption (EINTR) and
  // after an error.
  std::optional<std::string_view> next();

  // One sentence; empty: no error.
  const std::string& error() const noexcept { return error_; }
  std::uint64_t lines() const noexcept { return lines_; }  // lines returned so far
  std::uint64_t bytes() const noexcept { return bytes_; }  // their bytes
  // The size of the whole input, if it is a file; else 0.
  std::uint64_t total() const noexcept { return total_; }
  // Goes back to the start. False: this input cannot be read twice.
  bool rewind();

 private:
  bool fill();

  int descriptor_;
  std::size_t limit_;
  std::string buffer_;
  std::size_t at_ = 0;    // the next line begins here
  std::size_t seen_ = 0;  // there is no '\n' from at_ to here
  bool ended_ = false;
  std::string error_;
  std::uint64_t lines_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t total_ = 0;
  std::int64_t begin_ = -1;  // the position in a file when we began
};

}  // namespace sheaf::cli
