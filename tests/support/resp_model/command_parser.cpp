// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/command_parser.h"

#include "protocol/resp/wire/reply_tree.h"

namespace sheaf::test::resp_model {
namespace {

constexpr std::int64_t most_words = 1'024 * 1'024;
constexpr std::int64_t longest_word = 512 * 1'024 * 1'024;

}  // namespace

std::optional<std::string_view> CommandParser::line() {
  const std::size_t end = bytes_.find("\r\n", at_);
  if (end == bytes_.npos) return std::nullopt;
  const std::string_view text = std::string_view(bytes_).substr(at_, end - at_);
  at_ = end + 2;
  return text;
}

CommandParser::Progress CommandParser::fail(std::string text) {
  error_ = "ERR Protocol error: " + std::move(text);
  return Progress::broken;
}

CommandParser::Progress CommandParser::next() {
  if (!error_.empty()) return Progress::broken;
  at_ = 0;
  words_.clear();
  if (bytes_.empty()) return Progress::need_input;
  if (bytes_[0] != '*') return fail("a command that is no array");
  const auto head = line();
  if (!head) return Progress::need_input;
  const auto count = protocol::resp::parse_number(head->substr(1));
  if (!count || *count > most_words) return fail("invalid multibulk length");
  for (std::int64_t i = 0; i < *count; ++i) {
    if (at_ == bytes_.size()) return Progress::need_input;
    if (bytes_[at_] != '$') return fail(std::string("expected '$', got '") + bytes_[at_] + "'");
    const auto size_line = line();
    if (!size_line) return Progress::need_input;
    const auto size = protocol::resp::parse_number(size_line->substr(1));
    if (!size || *size < 0 || *size > longest_word) return fail("invalid bulk length");
    const auto length = static_cast<std::size_t>(*size);
    if (bytes_.size() < at_ + length + 2) return Progress::need_input;
    if (bytes_.compare(at_ + length, 2, "\r\n") != 0) return fail("a word without its line end");
    words_.emplace_back(bytes_, at_, length);
    at_ += length + 2;
  }
  bytes_.erase(0, at_);
  return words_.empty() ? next() : Progress::complete;
}

}  // namespace sheaf::test::resp_model
