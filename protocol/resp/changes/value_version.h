#pragma once

// ValueVersion: the version of a value on servers that keep none. It is made of the value alone, 90
// bits of its XXH3 digest, so every connection and every process finds the same one. A value that
// was replaced and has come back has its old version again: what compares versions compares values.
//
// Thread rule: plain values and functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <cstddef>
#include <string_view>

namespace sheaf::protocol::resp {

class ValueVersion {
 public:
  // As long as a short string may be without memory of its own.
  static constexpr std::size_t size = 15;

  // Of no value: an empty text.
  constexpr ValueVersion() noexcept = default;
  static ValueVersion of(std::string_view value) noexcept;
  // A text that is no version becomes that of no value.
  static ValueVersion parse(std::string_view text) noexcept;

  // Letters, digits, "-" and "_".
  std::string_view text() const noexcept { return {text_.data(), text_[0] == 0 ? 0 : size}; }
  bool empty() const noexcept { return text().empty(); }
  friend bool operator==(const ValueVersion&, const ValueVersion&) = default;

 private:
  std::array<char, size> text_{};
};

}  // namespace sheaf::protocol::resp
