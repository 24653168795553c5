#pragma once

// ValueVersion: the version of a value on servers that have no versions. It is 90 bits of the
// value's XXH3 digest, so every connection and every process computes the same one. A value that
// was replaced and then restored has its old version again: comparing versions means comparing
// values.
//
// Thread rule: plain values and functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <cstddef>
#include <string_view>

namespace sheaf::protocol::resp {

class ValueVersion {
 public:
  // The longest text that std::string stores without an allocation.
  static constexpr std::size_t size = 15;

  // The version of no value: an empty text.
  constexpr ValueVersion() noexcept = default;
  static ValueVersion of(std::string_view value) noexcept;
  // A text that is not a version becomes the version of no value.
  static ValueVersion parse(std::string_view text) noexcept;

  // Letters, digits, "-" and "_".
  std::string_view text() const noexcept { return {text_.data(), text_[0] == 0 ? 0 : size}; }
  bool empty() const noexcept { return text().empty(); }
  friend bool operator==(const ValueVersion&, const ValueVersion&) = default;

 private:
  std::array<char, size> text_{};
};

}  // namespace sheaf::protocol::resp
