#include "extras/discovery/fleet_inquiry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace sheaf::discovery {
namespace {

using testing::HasSubstr;

const std::string two_servers = "12\nc1.example|10.0.0.1|11211 c2.example||11212\n";
const Fleet fleet_of_two{12, {{"c1.example", 11'211}, {"c2.example", 11'212}}};

std::string answer(const std::string& value, const std::string& head = "CONFIG cluster 0 ") {
  return head + std::to_string(value.size()) + "\r\n" + value + "\r\nEND\r\n";
}
std::string older(const std::string& value) {
  return answer(value, "VALUE AmazonElastiCache:cluster 0 ");
}

// The bytes that are sent after each answer of a server, and how the inquiry ends.
std::string transcript(const std::vector<std::string>& answers) {
  FleetInquiry inquiry;
  std::string text;
  for (const std::string& bytes : answers) {
    text += inquiry.take_output();
    inquiry.on_input(bytes);
  }
  text += inquiry.take_output();
  if (!inquiry.over()) return text + "...";
  const auto& fleet = inquiry.result();
  if (!fleet) return text + (fleet.error().by_server ? "refused: " : "bad: ") + fleet.error().text;
  text += "version " + std::to_string(fleet->version);
  for (const auto& [host, port] : fleet->servers) text += ' ' + host + ':' + std::to_string(port);
  return text;
}

// The fault in one answer to the first question.
std::string fault(const std::string& bytes) {
  const std::string text = transcript({bytes});
  constexpr std::string_view asked = "config get cluster\r\nbad: ";
  EXPECT_THAT(text, testing::StartsWith(std::string(asked)));
  return text.substr(std::min(asked.size(), text.size()));
}

TEST(FleetInquiry, AsksForTheListAndReadsIt) {
  EXPECT_EQ(transcript({answer(two_servers)}),
            "config get cluster\r\nversion 12 c1.example:11211 c2.example:11212");
}

TEST(FleetInquiry, WhoDoesNotKnowTheCommandIsAskedByAKey) {
  for (const std::string unknown :
       {"ERROR\r\n", "CLIENT_ERROR bad command\r\n", "SERVER_ERROR busy\r\n", "END\r\n"}) {
    EXPECT_EQ(transcript({unknown, older(two_servers)}),
              "config get cluster\r\nget AmazonElastiCache:cluster\r\n"
              "version 12 c1.example:11211 c2.example:11212");
  }
}

TEST(FleetInquiry, AServerWithoutAListIsNoConfigurationEndpoint) {
  EXPECT_EQ(transcript({"ERROR\r\n", "END\r\n"}),
            "config get cluster\r\nget AmazonElastiCache:cluster\r\n"
            "refused: the server is not a configuration endpoint; it answers: END");
}

TEST(FleetInquiry, PiecesOfAnyLengthAreReadAsTheWhole) {
  for (const std::string& bytes :
       {answer(two_servers), older(two_servers), std::string("CONFIG cluster 0 3\r\n12\nEND"),
        std::string("ERROR\r\nEND\r\n"), std::string("nonsense\r\n")}) {
    std::vector<std::string> bit_by_bit;
    for (const char c : bytes) bit_by_bit.emplace_back(1, c);
    FleetInquiry inquiry;
    std::string text(inquiry.take_output());
    for (const std::string& one : bit_by_bit) inquiry.on_input(one);
    FleetInquiry whole;
    std::string other(whole.take_output());
    whole.on_input(bytes);
    EXPECT_EQ(inquiry.take_output(), whole.take_output());
    ASSERT_EQ(inquiry.over(), whole.over()) << bytes;
    if (!whole.over()) continue;
    ASSERT_EQ(inquiry.result().has_value(), whole.result().has_value());
    if (whole.result()) {
      EXPECT_EQ(*inquiry.result(), *whole.result());
    } else {
      EXPECT_EQ(inquiry.result().error().text, whole.result().error().text);
    }
  }
}

TEST(FleetInquiry, WhatComesUnaskedOrAfterTheEndCountsForNothing) {
  FleetInquiry inquiry;
  inquiry.on_input("ERROR\r\n");
  EXPECT_EQ(inquiry.take_output(), "config get cluster\r\n");
  EXPECT_EQ(inquiry.take_output(), "") << "each is given once";
  inquiry.on_input(answer(two_servers) + "ERROR\r\n");
  ASSERT_TRUE(inquiry.over());
  inquiry.on_input("ERROR\r\n");
  EXPECT_EQ(inquiry.result(), fleet_of_two);
}

TEST(FleetInquiry, AnswersThatCannotBeReadSayWhy) {
  EXPECT_EQ(fault("nonsense\r\n"), "the answer does not fit the question: nonsense");
  EXPECT_EQ(fault("VALUE AmazonElastiCache:cluster 0 2\r\n"),
            "the answer does not fit the question: VALUE AmazonElastiCache:cluster 0 2");
  EXPECT_EQ(fault("CONFIG cluster 0\r\n"), "the answer has no size: CONFIG cluster 0");
  EXPECT_EQ(fault("CONFIG cluster 0 -1\r\n"), "the answer has no size: CONFIG cluster 0 -1");
  EXPECT_EQ(fault("CONFIG cluster 0 3\r\n12\nENDE\r\n."), "the list is not followed by END");
  EXPECT_EQ(fault(answer("")), "the list of servers does not begin with its version");
  EXPECT_EQ(fault(answer("x\na|b|1\n")), "the list of servers does not begin with its version");
  EXPECT_EQ(fault(answer("12\n\n")), "the list has no server");
  EXPECT_EQ(fault(answer("12")), "the list has no server");
  for (const char* word :
       {"a", "a|b", "a|b|c|1", "|10.0.0.1|1", "a|b|0", "a|b|65536", "a|b|", "a|b|1x"}) {
    EXPECT_EQ(fault(answer("12\nc1|x|1 " + std::string(word) + "\n")),
              "server 2 of the list is not HOST|ADDRESS|PORT: " + std::string(word));
  }
}

TEST(FleetInquiry, OneThousandServersIn64KiBAreTakenAndNoMore) {
  const auto list = [](int servers, std::size_t size) {
    std::string value = "1\n";
    for (int i = 0; i < servers; ++i) value += "c" + std::to_string(i) + "||11211 ";
    value.back() = '\n';
    if (size > value.size()) value.append(size - value.size(), '\n');
    return answer(value);
  };
  EXPECT_THAT(transcript({list(1'000, 64u << 10)}), HasSubstr("version 1 c0:11211"));
  EXPECT_EQ(fault(list(1'001, 0)), "the list has more than 1,000 servers");
  EXPECT_EQ(fault(list(1, (64u << 10) + 1)), "the list has more than 64 KiB");
  EXPECT_EQ(fault("CONFIG cluster 0 18446744073709551615\r\n"), "the list has more than 64 KiB");
}

TEST(FleetInquiry, ALineWithoutEndIsBounded) {
  EXPECT_EQ(transcript({std::string(1'024, 'x')}), "config get cluster\r\n...");
  EXPECT_EQ(fault(std::string(1'025, 'x')), "a line of the answer has more than 1,024 bytes");
  EXPECT_EQ(fault(std::string(1u << 20, 'x') + "\r\n"),
            "a line of the answer has more than 1,024 bytes");
}

// Any possible list that is written is read back.
TEST(FleetInquiryProperty, WhatWasWrittenIsRead) {
  Random random(40);
  for (int round = 0; round < 300; ++round) {
    Fleet fleet{random.u64(), {}};
    std::string value = std::to_string(fleet.version) + (random.below(2) == 0 ? "\n" : "\r\n");
    for (std::uint64_t i = 1 + random.below(50); i > 0; --i) {
      FleetServer server{random.hex(1 + random.below(200)),
                         static_cast<std::uint16_t>(1 + random.below(65'535))};
      value += server.host + '|' + random.hex(random.below(9)) + '|' + std::to_string(server.port);
      value += i > 1 ? ' ' : '\n';
      fleet.servers.push_back(std::move(server));
    }
    FleetInquiry inquiry;
    ASSERT_FALSE(inquiry.take_output().empty());
    const std::string bytes = answer(value);
    const std::size_t cut = random.below(bytes.size());
    inquiry.on_input(std::string_view(bytes).substr(0, cut));
    inquiry.on_input(std::string_view(bytes).substr(cut));
    ASSERT_TRUE(inquiry.over());
    ASSERT_EQ(inquiry.result(), fleet);
  }
}

}  // namespace
}  // namespace sheaf::discovery
