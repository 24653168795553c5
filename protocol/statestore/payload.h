#pragma once

// The pieces that payloads are made of: lines, bulk strings, arrays of bulk strings. Every length
// is checked against the bytes present before it is used, so nothing of a hostile size is ever
// allocated.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/byte_writer.h"

namespace sheaf::protocol::statestore {

inline constexpr std::string_view crlf = "\r\n";

void append_array_head(ByteWriter& out, std::size_t count);
void append_bulk_head(ByteWriter& out, std::size_t size);
void append_bulk(ByteWriter& out, std::string_view data);

// Takes a payload apart from the front. A failed take() leaves the payload as it was.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view payload) noexcept : left_(payload) {}

  std::string_view left() const noexcept { return left_; }
  bool done() const noexcept { return left_.empty(); }

  bool take(std::string_view literal) noexcept;
  // `type`, a decimal number without sign or leading zeros, CRLF.
  std::optional<std::size_t> take_number(char type) noexcept;
  // `$`, length, CRLF, data, CRLF.
  std::optional<std::string_view> take_bulk() noexcept;

 private:
  std::string_view left_;
};

// A whole payload that is an array of bulk strings. `count` may exceed the kept items: no valid
// request has more arguments, but a refusal names what is wrong only if the framing is right.
struct BulkArray {
  static constexpr std::size_t kept = 6;

  std::array<std::string_view, kept> items{};
  std::size_t count = 0;

  static std::optional<BulkArray> parse(std::string_view payload) noexcept;
};

}  // namespace sheaf::protocol::statestore
