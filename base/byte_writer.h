#pragma once

// Appends big-endian numbers and bytes to a string that the caller owns. A reused string keeps its
// capacity, so writing to it does not allocate.

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace sheaf {

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) noexcept : out_(out) {}

  std::size_t size() const noexcept { return out_.size(); }
  void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void u16(std::uint16_t value) { number(value, 2); }
  void u32(std::uint32_t value) { number(value, 4); }
  void u64(std::uint64_t value) { number(value, 8); }
  void bytes(std::string_view data) { out_.append(data); }
  // Decimal digits, no sign, no padding.
  void decimal(std::uint64_t value);

 private:
  void number(std::uint64_t value, unsigned size) {
    char raw[8];
    for (unsigned i = 0; i < size; ++i) {
      raw[i] = static_cast<char>(static_cast<std::uint8_t>(value >> (8 * (size - 1 - i))));
    }
    out_.append(raw, size);
  }
  std::string& out_;
};

}  // namespace sheaf
