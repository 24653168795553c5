#pragma once

// CommandParser: a server's reader of commands. A command is an array of bulk strings; it may come
// in pieces of any size. What a live server would read as an inline command is broken here, for no
// client of ours may send one.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::test::resp_model {

using Words = std::vector<std::string>;

class CommandParser {
 public:
  enum class Progress : std::uint8_t { need_input, complete, broken };

  void append(std::string_view bytes) { bytes_ += bytes; }
  // The next command: words(). Broken: error() is the reply, and the connection is to be closed.
  Progress next();

  const Words& words() const { return words_; }
  const std::string& error() const { return error_; }

 private:
  // The line at `at_`, which moves after it; nothing if it is not complete.
  std::optional<std::string_view> line();
  Progress fail(std::string text);

  std::string bytes_;
  std::size_t at_ = 0;  // in the command that is being read
  Words words_;
  std::string error_;
};

}  // namespace sheaf::test::resp_model
