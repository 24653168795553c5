#pragma once

// CommandParser: a server's reader of commands. A command is an array of bulk strings; it may come
// in pieces of any size. An inline command, which a live server would read, is broken here, since
// our clients must not send one.
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
  // Reads the next command into words(). If it is broken, error() is the reply and the connection
  // must be closed.
  Progress next();

  const Words& words() const { return words_; }
  const std::string& error() const { return error_; }

 private:
  // The line at `at_`, which then moves past it; nothing if the line is incomplete.
  std::optional<std::string_view> line();
  Progress fail(std::string text);

  std::string bytes_;
  std::size_t at_ = 0;  // in the command being read
  Words words_;
  std::string error_;
};

}  // namespace sheaf::test::resp_model
