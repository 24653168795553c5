#pragma once

// Reads big-endian numbers and views from a buffer. It never reads past the end: a short read sets
// failed() and returns zero or an empty view, so a parser needs to check only once, at its end.

#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace sheaf {

class ByteReader {
 public:
  explicit ByteReader(std::string_view data) noexcept : data_(data) {}
  explicit ByteReader(Bytes data) noexcept : data_(as_text(data)) {}

  std::size_t left() const noexcept { return data_.size() - at_; }
  std::size_t position() const noexcept { return at_; }
  bool failed() const noexcept { return failed_; }
  bool done() const noexcept { return !failed_ && left() == 0; }

  std::uint8_t u8() noexcept { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() noexcept { return number(8); }

  // The next `size` bytes as a view into the buffer.
  std::string_view view(std::size_t size) noexcept {
    if (size > left()) return fail(), std::string_view{};
    const std::string_view part = data_.substr(at_, size);
    at_ += size;
    return part;
  }
  std::string_view rest() noexcept { return view(left()); }
  void fail() noexcept { failed_ = true; }

 private:
  std::uint64_t number(std::size_t size) noexcept {
    const std::string_view part = view(size);
    std::uint64_t value = 0;
    for (const char c : part) value = value << 8 | static_cast<std::uint8_t>(c);
    return part.size() == size ? value : 0;
  }

  std::string_view data_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace sheaf
