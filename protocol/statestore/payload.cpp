// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/payload.h"

#include <algorithm>

#include "base/text.h"

namespace sheaf::protocol::statestore {

void append_array_head(ByteWriter& out, std::size_t count) {
  out.u8('*');
  out.decimal(count);
  out.bytes(crlf);
}

void append_bulk_head(ByteWriter& out, std::size_t size) {
  out.u8('$');
  out.decimal(size);
  out.bytes(crlf);
}

void append_bulk(ByteWriter& out, std::string_view data) {
  append_bulk_head(out, data.size());
  out.bytes(data);
  out.bytes(crlf);
}

bool PayloadReader::take(std::string_view literal) noexcept {
  if (!left_.starts_with(literal)) return false;
  left_.remove_prefix(literal.size());
  return true;
}

std::optional<std::size_t> PayloadReader::take_number(char type) noexcept {
  if (!left_.starts_with(type)) return std::nullopt;
  constexpr std::size_t longest = 20;
  const std::string_view head = left_.substr(1, longest + crlf.size());
  const std::size_t end = head.find(crlf);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view digits = head.substr(0, end);
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  const auto number = parse_decimal(digits);
  if (number) left_.remove_prefix(1 + digits.size() + crlf.size());
  return number;
}

std::optional<std::string_view> PayloadReader::take_bulk() noexcept {
  PayloadReader ahead = *this;
  const auto size = ahead.take_number('$');
  if (!size || *size > ahead.left_.size()) return std::nullopt;
  const std::string_view data = ahead.left_.substr(0, *size);
  ahead.left_.remove_prefix(*size);
  if (!ahead.take(crlf)) return std::nullopt;
  *this = ahead;
  return data;
}

std::optional<BulkArray> BulkArray::parse(std::string_view payload) noexcept {
  PayloadReader in(payload);
  const auto count = in.take_number('*');
  if (!count) return std::nullopt;
  BulkArray array;
  // Ends with the payload at the latest, as each item takes bytes.
  for (; array.count < *count; ++array.count) {
    const auto item = in.take_bulk();
    if (!item) return std::nullopt;
    if (array.count < kept) array.items[array.count] = *item;
  }
  if (!in.done()) return std::nullopt;
  return array;
}

}  // namespace sheaf::protocol::statestore
