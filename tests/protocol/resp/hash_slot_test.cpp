#include "protocol/resp/wire/hash_slot.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace sheaf::protocol::resp {
namespace {

using namespace std::string_view_literals;

// The answers of live servers to CLUSTER KEYSLOT.
TEST(HashSlot, IsTheOneOfTheServers) {
  EXPECT_EQ(crc16("123456789"), 0x31c3);
  EXPECT_EQ(hash_slot("123456789"), 12739);
  EXPECT_EQ(hash_slot("x"), 16287);
  EXPECT_EQ(hash_slot("wxz"), 949);
  EXPECT_EQ(hash_slot("foo"), 12182);
  EXPECT_EQ(hash_slot("\x00\xff\x7b\x01\x7d\x7a"sv), 4129);
  EXPECT_EQ(hash_slot(""), 0);
}

TEST(HashSlot, HashesTheTagWhereThereIsOne) {
  EXPECT_EQ(hash_slot("{}x"), 10595) << "nothing between the braces: the whole key";
  EXPECT_EQ(hash_slot("a{b}{c}"), 3300) << "the first tag";
  EXPECT_EQ(hash_slot("a{b}{c}"), hash_slot("b"));
  EXPECT_EQ(hash_slot("a{{b}}"), 6215) << "from the first brace";
  EXPECT_EQ(hash_slot("a}{b"), 11640) << "a brace that is not closed";
  EXPECT_EQ(hash_slot("a}{b}"), hash_slot("b"));
}

TEST(HashSlot, StepsOfEightBytesAgreeWithTheDefinition) {
  Random random(1);
  for (std::size_t size = 0; size < 100; ++size) {
    std::string bytes(size, '\0');
    random.fill(std::as_writable_bytes(std::span(bytes)));
    unsigned expected = 0;
    for (const char c : bytes) {
      expected ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8;
      for (int bit = 0; bit < 8; ++bit) {
        expected = (expected << 1 ^ ((expected & 0x8000) != 0 ? 0x1021u : 0u)) & 0xffff;
      }
    }
    ASSERT_EQ(crc16(bytes), expected) << size;
  }
}

}  // namespace
}  // namespace sheaf::protocol::resp
