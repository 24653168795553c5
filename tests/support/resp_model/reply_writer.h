#pragma once

// ReplyWriter: writes a server's replies, in RESP2 or in RESP3.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sheaf::test::resp_model {

class ReplyWriter {
 public:
  // `protocol`: 2 or 3.
  ReplyWriter(std::string& out, int protocol) : out_(out), protocol_(protocol) {}

  int protocol() const { return protocol_; }

  void status(std::string_view text) { line('+', text); }
  void ok() { status("OK"); }
  // `text` is without "-".
  void error(std::string_view text) { line('-', text); }
  void number(std::int64_t value) { line(':', std::to_string(value)); }
  void null() { out_ += protocol_ == 3 ? "_\r\n" : "$-1\r\n"; }
  void bulk(std::string_view text) {
    line('$', std::to_string(text.size()));
    out_.append(text).append("\r\n");
  }
  // A text for people, such as that of INFO.
  void verbatim(std::string_view text) {
    if (protocol_ != 3) return bulk(text);
    line('=', std::to_string(text.size() + 4));
    out_.append("txt:").append(text).append("\r\n");
  }
  // Only the heads: the elements follow.
  void array(std::size_t size) { line('*', std::to_string(size)); }
  void push(std::size_t size) { line('>', std::to_string(size)); }
  void map(std::size_t pairs) {
    if (protocol_ != 3) return array(2 * pairs);
    line('%', std::to_string(pairs));
  }
  // Writes bytes unchanged, RESP or not.
  void raw(std::string_view bytes) { out_ += bytes; }

 private:
  void line(char type, std::string_view text) { out_.append(1, type).append(text).append("\r\n"); }

  std::string& out_;
  int protocol_;
};

}  // namespace sheaf::test::resp_model
