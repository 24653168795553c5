#include "protocol/mqtt5/frame.h"

#include <gtest/gtest.h>

#include <string>

#include "protocol/mqtt5/packets.h"
#include "protocol/mqtt5/wire.h"

namespace sheaf::protocol::mqtt5 {
namespace {

using namespace std::string_view_literals;
using State = FrameResult::State;

TEST(Mqtt5Frame, ReportsHowManyBytesAreMissing) {
  EXPECT_EQ(read_frame("").missing, 2U);
  EXPECT_EQ(read_frame("\x30"sv).missing, 1U);
  const FrameResult header = read_frame("\x30\x80"sv);
  EXPECT_EQ(header.state, State::need_more);
  EXPECT_EQ(header.missing, 1U);
  EXPECT_EQ(header.frame.header_size, 0U);

  const FrameResult body = read_frame("\x30\x80\x01rest"sv);
  EXPECT_EQ(body.state, State::need_more);
  EXPECT_EQ(body.frame.header_size, 3U);
  EXPECT_EQ(body.frame.total_size, 131U);
  EXPECT_EQ(body.missing, 124U);
}

TEST(Mqtt5Frame, LargestLengthIsReadAndALongerOneIsMalformed) {
  const FrameResult largest = read_frame("\x30\xFF\xFF\xFF\x7F"sv);
  EXPECT_EQ(largest.state, State::need_more);
  EXPECT_EQ(largest.frame.total_size, 5U + max_varint);
  EXPECT_EQ(read_frame("\x30\xFF\xFF\xFF\xFF"sv).state, State::malformed);
}

TEST(Mqtt5Frame, LengthMustNotTakeMoreBytesThanItNeeds) {
  EXPECT_EQ(read_frame("\xC0\x80\x00"sv).state, State::malformed);
  EXPECT_EQ(read_frame("\xC0\x00"sv).state, State::frame);
}

TEST(Mqtt5Frame, FlagsMustFitTheType) {
  for (unsigned type = 0; type < 16; ++type) {
    for (unsigned flags = 0; flags < 16; ++flags) {
      const std::string bytes{static_cast<char>(type << 4 | flags), '\0'};
      const bool two = type == 6 || type == 8 || type == 10;
      bool good = flags == (two ? 2U : 0U);
      if (type == 3) good = (flags & 6) != 6 && ((flags & 8) == 0 || (flags & 6) != 0);
      if (type == 0) good = false;
      EXPECT_EQ(read_frame(bytes).state, good ? State::frame : State::malformed)
          << "type " << type << " flags " << flags;
    }
  }
}

TEST(Mqtt5Frame, TypesHaveNames) {
  EXPECT_EQ(to_string(PacketType::connect), "CONNECT");
  EXPECT_EQ(to_string(PacketType::pingresp), "PINGRESP");
  EXPECT_EQ(to_string(PacketType::auth), "AUTH");
}

TEST(Mqtt5Frame, ReasonCodesHaveNames) {
  EXPECT_EQ(to_string(ReasonCode::success), "success");
  EXPECT_EQ(to_string(ReasonCode::topic_filter_invalid), "topic filter invalid");
  EXPECT_EQ(to_string(ReasonCode::topic_name_invalid), "topic name invalid");
  EXPECT_EQ(to_string(static_cast<ReasonCode>(0xA2)), "wildcard subscriptions not supported");
  EXPECT_EQ(to_string(static_cast<ReasonCode>(0xA3)), "unknown reason");
  EXPECT_FALSE(is_error(ReasonCode::no_matching_subscribers));
  EXPECT_TRUE(is_error(ReasonCode::unspecified_error));
}

// Only the head of a PUBLISH of 100 MiB.
std::string huge_publish_head() {
  std::string properties;
  ByteWriter to_properties(properties);
  PropertyWriter(to_properties).text(PropertyId::correlation_data, "token");
  std::string bytes;
  ByteWriter out(bytes);
  Publish publish;
  publish.qos = 1;
  publish.topic = "a/b";
  publish.packet_id = 7;
  publish.encode_head(out, properties.size(), 100U << 20);
  return bytes + properties;
}

TEST(Mqtt5Frame, HeadOfAPublishIsReadBeforeItsPayload) {
  const std::string head = huge_publish_head();
  for (std::size_t size = 0; size <= head.size() + 3; ++size) {
    const std::string part = (head + "abc").substr(0, size);
    const FrameResult result = read_frame(part);
    ASSERT_EQ(result.state, State::need_more);
    if (result.frame.header_size == 0) continue;
    const auto publish = Publish::parse_head(result.frame, part);
    ASSERT_TRUE(publish.has_value()) << publish.error().text;
    ASSERT_EQ(publish->has_value(), size >= head.size()) << size;
    if (!*publish) continue;
    EXPECT_EQ((*publish)->topic, "a/b");
    EXPECT_EQ((*publish)->packet_id, 7);
    EXPECT_EQ((*publish)->properties.correlation_data, "token");
    EXPECT_EQ((*publish)->payload, "abc"sv.substr(0, size - head.size()));
  }
}

TEST(Mqtt5Frame, HeadThatCannotFitItsPacketIsRefusedWithoutWaitingForTheRest) {
  const auto refused = [](std::string_view bytes) {
    const FrameResult result = read_frame(bytes);
    EXPECT_EQ(result.state, State::need_more);
    const auto publish = Publish::parse_head(result.frame, bytes);
    return !publish.has_value();
  };
  // A topic of 256 bytes in a packet of 200; properties of 16,383 bytes in it; a property length
  // that is too long.
  EXPECT_TRUE(refused("\x30\xC8\x01\x01\x00"sv));
  EXPECT_TRUE(refused("\x30\xC8\x01\x00\x01t\xFF\x7F"sv));
  EXPECT_TRUE(refused("\x30\xC8\x01\x00\x01t\xFF\xFF\xFF\xFF"sv));
  // With one byte less of the last one, it may still become valid.
  EXPECT_FALSE(refused("\x30\xC8\x01\x00\x01t\xFF\xFF\xFF"sv));
}

}  // namespace
}  // namespace sheaf::protocol::mqtt5
