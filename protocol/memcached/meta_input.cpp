// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/meta_input.h"

#include "protocol/memcached/meta_lines.h"

namespace sheaf::protocol::memcached {

std::expected<void, Step> MetaInput::end_skipped() {
  if (!line_end_due_) return {};
  if (data().size() < line_end.size()) return std::unexpected(Step::need_input);
  if (!data().starts_with(line_end)) {
    return std::unexpected(life_.broken("a value that is longer than announced"));
  }
  consumed(line_end.size());
  line_end_due_ = false;
  return {};
}

std::expected<std::string_view, Step> MetaInput::line(std::size_t offset) const {
  const std::string_view rest = data().substr(offset, max_reply_line);
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) {
    return std::unexpected(rest.size() < max_reply_line ? Step::need_input
                                                        : life_.broken("a line above 8 KiB"));
  }
  if (end == 0 || rest[end - 1] != '\r') {
    return std::unexpected(life_.broken("a line that ends without CR"));
  }
  return rest.substr(0, end - 1);
}

std::expected<std::optional<std::string_view>, Step> MetaInput::value(std::size_t size,
                                                                      std::size_t line) {
  if (size > max_value_size) {
    return std::unexpected(life_.broken("a value longer than any expected"));
  }
  if (size > value_limit_) {
    life_.input().skip(line + size);
    line_end_due_ = true;
    return std::nullopt;
  }
  const std::string_view here = data();
  const std::size_t whole = line + size + line_end.size();
  if (here.size() < whole) return std::unexpected(Step::need_input);
  if (!here.substr(line + size).starts_with(line_end)) {
    return std::unexpected(life_.broken("a value that is longer than announced"));
  }
  consumed(whole);
  return here.substr(line, size);
}

}  // namespace sheaf::protocol::memcached
