#pragma once

// The hashes with which other memcached clients place keys, apart from MD5 and SHA-1, which are in
// base/. docs/wire/locators.md says which client uses which.
//
// Thread rule: pure functions and plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string_view>

namespace sheaf::cluster {

// Bob Jenkins's one-at-a-time hash. It takes bytes as signed, as libmemcached does on the machines
// where its rings exist. A copy goes on from where it was made.
class OneAtATime {
 public:
  void add(std::string_view text) noexcept;
  std::uint32_t hash() const noexcept;

 private:
  std::uint32_t state_ = 0;
};
std::uint32_t one_at_a_time(std::string_view text) noexcept;

// The CRC-32 of zlib and Ethernet. `before` is that of the text before this one.
std::uint32_t crc32(std::string_view text, std::uint32_t before = 0) noexcept;

// MurmurHash3_x86_32 with seed 0, of bytes that are added one by one. A copy goes on from where it
// was made, so what many texts begin with is hashed once.
class Murmur3 {
 public:
  void add(std::uint8_t byte) noexcept {
    tail_ |= std::uint32_t{byte} << 8 * (size_ % 4);
    if (++size_ % 4 == 0) add_word();
  }
  void add(std::string_view text) noexcept {
    for (const char c : text) add(static_cast<std::uint8_t>(c));
  }
  std::uint32_t hash() const noexcept;

 private:
  static std::uint32_t scrambled(std::uint32_t word) noexcept;
  void add_word() noexcept;

  std::uint32_t state_ = 0;
  std::uint32_t tail_ = 0;  // the bytes since the last whole word
  std::uint32_t size_ = 0;
};

}  // namespace sheaf::cluster
