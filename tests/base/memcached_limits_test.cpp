#include "base/memcached_limits.h"

#include <gtest/gtest.h>

#include <string>

namespace sheaf::memcached_limits {
namespace {

using namespace std::chrono_literals;

constexpr Now wall_at{1h, 1'700'000'000'500ms};

std::uint32_t expiry(std::chrono::milliseconds ttl) {
  return expiry_of(ttl, wall_at, last_second_meta).value_or(0xffff'ffff);
}

TEST(MemcachedExpiry, ZeroIsTheOnlyNever) {
  EXPECT_EQ(expiry(0ms), 0u);
  EXPECT_EQ(expiry(1ms), 1u);
  EXPECT_EQ(expiry(400ms), 1u);
  EXPECT_EQ(expiry(1000ms), 1u);
  EXPECT_EQ(expiry(1001ms), 2u);
}

TEST(MemcachedExpiry, AboveThirtyDaysItIsAPointInTime) {
  const auto days = std::chrono::milliseconds(30 * 24h);
  EXPECT_EQ(expiry(days), 2'592'000u);
  EXPECT_EQ(expiry(days + 1ms), 1'700'000'000u + 2'592'001u);
  EXPECT_EQ(expiry(days + 1s), 1'700'000'000u + 2'592'002u);  // half a second is rounded up
  EXPECT_EQ(expiry(365 * 24h), 1'700'000'001u + 31'536'000u);
}

TEST(MemcachedExpiry, NegativeAndUnspeakableOnesAreRefused) {
  EXPECT_EQ(expiry_of(-1ms, wall_at, last_second_meta).error().text,
            "the time to live is negative");
  EXPECT_EQ(expiry_of(std::chrono::milliseconds::min(), wall_at, last_second_meta).error().outcome,
            Outcome::invalid);
  const auto longest = std::chrono::milliseconds(last_second_meta * 1000) - wall_at.wall;
  EXPECT_EQ(expiry(longest), 0x7fff'ffffu);
  const auto error = expiry_of(longest + 1ms, wall_at, last_second_meta);
  ASSERT_FALSE(error.has_value());
  EXPECT_EQ(error.error().text,
            "the time to live ends after second 2147483647 of the Unix epoch, the last that the "
            "protocol can express");
  EXPECT_FALSE(
      expiry_of(std::chrono::milliseconds::max(), wall_at, last_second_binary).has_value());
  const auto binary = std::chrono::milliseconds(last_second_binary * 1000) - wall_at.wall;
  EXPECT_EQ(expiry_of(binary, wall_at, last_second_binary), 0xffff'fffeu);
  EXPECT_FALSE(expiry_of(binary + 1ms, wall_at, last_second_binary).has_value());
}

TEST(MemcachedKeys, EveryByteAndEveryLengthIsPlainEncodedOrRefused) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool plain = byte > 0x20 && byte != 0x7f;
    for (const std::size_t size : {1u, 186u, 187u, 249u, 250u, 251u}) {
      for (const std::size_t place : {std::size_t{0}, size / 2, size - 1}) {
        std::string key(size, 'k');
        key[place] = static_cast<char>(byte);
        EXPECT_EQ(is_plain_key(key), plain) << byte;
        EXPECT_EQ(!check_binary_key(key), size <= 250);
        EXPECT_EQ(!check_meta_key(key), size <= (plain ? 250u : 186u)) << byte << ' ' << size;
      }
    }
  }
  EXPECT_EQ(check_binary_key("")->text, "the key is empty");
  EXPECT_EQ(check_binary_key(std::string(251, 'k'))->text,
            "the key of 251 bytes is above memcached's longest key of 250 bytes");
  EXPECT_EQ(check_meta_key(std::string(187, ' '))->text,
            "the key with blanks or control characters of 187 bytes is above the longest such key "
            "of the meta protocol of 186 bytes");
}

TEST(MemcachedKeys, APlainKeyHasNoBlankAndNoControlCharacterAnywhere) {
  EXPECT_TRUE(is_plain_key(""));
  for (std::size_t size = 1; size <= 50; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        for (const char around : {'!', '~', '\xff', '\x80', 'k'}) {
          std::string key(size, around);
          key[place] = static_cast<char>(byte);
          ASSERT_EQ(is_plain_key(key), byte > 0x20 && byte != 0x7f)
              << byte << " at " << place << " of " << size << " around " << int{around};
        }
      }
    }
  }
}

TEST(MemcachedValues, TheLargestThatAnItemTakes) {
  constexpr std::size_t mebibyte = 1 << 20;
  EXPECT_EQ(max_value(mebibyte, 1, 0), 1'048'516u);
  EXPECT_EQ(max_value(mebibyte, 1, 9), 1'048'512u);
  EXPECT_EQ(max_value(mebibyte, 250, 0), 1'048'267u);
  EXPECT_EQ(max_value(10, 250, 0), 0u);
}

}  // namespace
}  // namespace sheaf::memcached_limits
