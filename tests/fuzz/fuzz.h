#pragma once

// Shared by all fuzz targets. A target is one file in targets/, which defines run() and seeds();
// main.cpp turns it into a program. A run that crashes, leaks, hangs or breaks an expectation is a
// finding, and libFuzzer keeps its input.
//
// Thread rule: one thread.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"

namespace sheaf::fuzz {

// One run on any bytes.
void run(std::string_view bytes);
// Inputs to begin with, so that the fuzzer need not guess the format: messages as they are sent.
std::vector<std::string> seeds();

// Reports a finding unless `holds` is true.
inline void expect(bool holds, const char* what,
                   std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: not true: %s\n", where.file_name(), unsigned{where.line()}, what);
  __builtin_trap();
}

// Reads an input from its front. Whatever is missing at the end reads as zeros.
class Input {
 public:
  explicit Input(std::string_view bytes) noexcept : left_(bytes) {}

  bool done() const noexcept { return left_.empty(); }
  std::uint8_t u8() noexcept {
    const std::string_view one = text(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one[0]);
  }
  std::uint64_t u64() noexcept {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | u8();
    return value;
  }
  bool flag() noexcept { return (u8() & 1) != 0; }
  // Reads one byte as the size, then that many bytes.
  std::string_view short_text() noexcept { return text(u8()); }
  std::string_view text(std::size_t size) noexcept {
    const std::string_view front = left_.substr(0, size);
    left_.remove_prefix(front.size());
    return front;
  }
  std::string_view rest() noexcept { return text(left_.size()); }

 private:
  std::string_view left_;
};

// ---- seeds

// A text that short_text() can read.
inline std::string short_text(std::string_view text) {
  return static_cast<char>(text.size()) + std::string(text);
}

template <class Packet, class... Form>
std::string encoded(const Packet& packet, Form... form) {
  std::string bytes;
  ByteWriter out(bytes);
  static_cast<void>(packet.encode(out, form...));
  return bytes;
}

}  // namespace sheaf::fuzz
