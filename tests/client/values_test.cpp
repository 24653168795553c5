// Values are bytes: nothing is unpacked, decoded or guessed.

#include <gtest/gtest.h>

#include <string>

#include <sheaf/client.h>

namespace sheaf {
namespace {

using namespace std::string_literals;

TEST(Values, ThatLookLikeSomethingComeBackAsTheyWere) {
  auto client = Client::open("embedded://1").value();
  const std::string looks[] = {
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"s,  // gzip
      "\x78\x9c\x03\x00\x00\x00\x00\x01"s,                                                  // zlib
      "\x28\xb5\x2f\xfd\x00\x00\x00"s,                                                      // zstd
      R"({"__proto__":{"admin":true}})",                                                    // JSON
      "\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00."s,  // a pickle
      "\xac\xed\x00\x05sr\x00"s,                         // a Java object
      "dmFsdWU=",                                        // base64
      "$5\r\nvalue\r\n",                                 // a reply
      "\xef\xbb\xbf text \r\n",                          // a byte order mark, blanks, a line end
  };
  for (const std::string& value : looks) {
    for (const std::uint32_t flags : {0u, 1u, 8u, 0xffff'ffffu}) {
      SetOptions options;
      options.flags = flags;
      const auto stored = client.set("key", value, options);
      if (!stored) {
        EXPECT_NE(flags, 0u) << "flags may be unsupported, plain values are not";
        continue;
      }
      EXPECT_EQ(client.get("key").value()->data, value);
    }
  }
}

}  // namespace
}  // namespace sheaf
