#include "extras/discovery/dns/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/text.h"
#include "tests/extras/discovery/dns/dns_bytes.h"

namespace sheaf::discovery::dns {
namespace {

using test::AnswerBytes;
using test::cname;
using test::pointer_to;
using test::record;
using test::srv;
using test::srv_data;
using test::the_question;
using test::wire_name;
using testing::ElementsAre;
using Fault = SrvAnswer::Fault;

const SrvQuery question{.id = 0x1234, .name = "_m._tcp.cache.example"};

std::vector<SrvRecord> records(const AnswerBytes& answer) {
  const auto parsed = SrvAnswer::parse(answer.to(question), question);
  EXPECT_TRUE(parsed.has_value()) << "stray or malformed";
  return parsed ? parsed->records : std::vector<SrvRecord>{};
}
Fault fault(const std::string& message) {
  const auto parsed = SrvAnswer::parse(message, question);
  EXPECT_FALSE(parsed.has_value());
  return parsed ? Fault{255} : parsed.error();
}
std::string refusal(std::string_view name) {
  const auto query = SrvQuery::of(name, 0);
  return query ? "taken: " + query->name : query.error();
}

TEST(DnsMessage, TheQuestionIsOneOfRfc1035) {
  std::string bytes;
  ByteWriter out(bytes);
  SrvQuery::of("_M._tcp.Cache.example.", 0xabcd).value().encode(out);
  EXPECT_EQ(hex_encode(bytes),
            "ABCD01000001000000000000"
            "025F6D"
            "045F746370"
            "056361636865"
            "076578616D706C65"
            "0000210001");
}

TEST(DnsMessage, NamesThatNoQuestionCanHaveAreRefused) {
  EXPECT_EQ(refusal(""), "is empty");
  EXPECT_EQ(refusal("."), "is empty");
  EXPECT_EQ(refusal("a..b"), "has an empty part");
  EXPECT_EQ(refusal(".a"), "has an empty part");
  EXPECT_EQ(refusal("a.."), "has an empty part");
  const std::string odd = "has a character other than letters, digits, \"-\", \"_\" and \".\"";
  EXPECT_EQ(refusal("a b"), odd);
  EXPECT_EQ(refusal("m\xc3\xbc.example"), odd);
  EXPECT_EQ(refusal("a:53"), odd);
  EXPECT_EQ(refusal(std::string(64, 'a')), "has a part of more than 63 bytes");
  EXPECT_EQ(refusal(std::string(63, 'a')), "taken: " + std::string(63, 'a'));
  const std::string part = std::string(62, 'a') + '.';
  const std::string longest = part + part + part + part + "b";
  ASSERT_EQ(longest.size(), max_name);
  EXPECT_EQ(refusal(longest), "taken: " + longest);
  EXPECT_EQ(refusal(longest + "b"), "has more than 253 bytes");
}

TEST(DnsMessage, RecordsOfTheNameAreRead) {
  AnswerBytes answer;
  answer.add(srv(1, 2, 11'211, "C1.example")).add(srv(0, 65'535, 65'535, ""));
  answer.add(srv(3, 4, 5, "other", wire_name("_other._tcp.example")));
  EXPECT_THAT(records(answer),
              ElementsAre(SrvRecord{1, 2, 11'211, "c1.example"}, SrvRecord{0, 65'535, 65'535, ""}));
  EXPECT_TRUE(records({}).empty());
}

TEST(DnsMessage, OtherTypesAndClassesArePassedOver) {
  AnswerBytes answer;
  answer.add(record(the_question, 16, "\x03txt")).add(record(the_question, 33, "x", 3));
  answer.add(srv(0, 0, 1, "a"));
  EXPECT_THAT(records(answer), ElementsAre(SrvRecord{0, 0, 1, "a"}));
}

TEST(DnsMessage, CompressedNamesAreFollowedBackwards) {
  // "cache.example" begins after _m._tcp of the question.
  const unsigned domain = 12 + 3 + 5;
  AnswerBytes answer;
  answer.add(record(the_question, 33,
                    srv_data(0, 1, 2,
                             "\x02"
                             "c1" +
                                 pointer_to(domain))));
  EXPECT_THAT(records(answer), ElementsAre(SrvRecord{0, 1, 2, "c1.cache.example"}));
}

TEST(DnsMessage, AnAliasLeadsToItsRecordsInWhateverOrder) {
  AnswerBytes answer;
  answer.add(srv(0, 0, 7, "wrong", wire_name("third"))).add(cname(wire_name("second"), "last"));
  answer.add(srv(0, 0, 1, "right", wire_name("Last"))).add(cname(the_question, "second"));
  EXPECT_THAT(records(answer), ElementsAre(SrvRecord{0, 0, 1, "right"}));
  AnswerBytes cut;
  cut.add(cname(the_question, "elsewhere"));
  EXPECT_TRUE(records(cut).empty());
}

TEST(DnsMessage, CirclesOfAliasesAreMalformed) {
  AnswerBytes self;
  self.add(cname(the_question, question.name)).add(srv(0, 0, 1, "a"));
  EXPECT_EQ(fault(self.to(question)), Fault::malformed);
  AnswerBytes two;
  two.add(cname(the_question, "b")).add(cname(wire_name("b"), question.name));
  EXPECT_EQ(fault(two.to(question)), Fault::malformed);
}

TEST(DnsMessage, SixteenAliasesAreFollowedAndNoMore) {
  const auto chain = [](int length) {
    AnswerBytes answer;
    std::string owner = the_question;
    for (int i = 0; i < length; ++i) {
      answer.add(cname(owner, "n" + std::to_string(i)));
      owner = wire_name("n" + std::to_string(i));
    }
    return answer.add(srv(0, 0, 1, "a", owner));
  };
  EXPECT_EQ(records(chain(16)).size(), 1u);
  EXPECT_EQ(fault(chain(17).to(question)), Fault::malformed);
}

TEST(DnsMessage, CirclesOfPointersAreMalformed) {
  AnswerBytes answer;
  const unsigned here = static_cast<unsigned>(answer.to(question).size());
  for (const std::string& owner : {pointer_to(here), pointer_to(here + 2),
                                   "\x01"
                                   "a" +
                                       pointer_to(here)}) {
    AnswerBytes bad;
    bad.add(srv(0, 0, 1, "a", owner));
    EXPECT_EQ(fault(bad.to(question)), Fault::malformed) << hex_encode(owner);
  }
}

TEST(DnsMessage, NamesHaveAtMost255BytesAndKnownParts) {
  std::string part = "\x3f" + std::string(63, 'a');
  AnswerBytes answer;
  answer.add(srv(0, 0, 1, "a", part + part + part + '\x3d' + std::string(61, 'b') + '\0'));
  EXPECT_TRUE(records(answer).empty()) << "of another name";
  for (const std::string& owner :
       {part + part + part + '\x3e' + std::string(62, 'b') + '\0',
        std::string("\x40") + std::string(64, 'a') + '\0', std::string("\x80") + '\0'}) {
    AnswerBytes bad;
    bad.add(srv(0, 0, 1, "a", owner));
    EXPECT_EQ(fault(bad.to(question)), Fault::malformed) << hex_encode(owner);
  }
}

TEST(DnsMessage, ABytesThatNoHostHasMakesNoOtherName) {
  const std::string label = "a.b\\\xff";
  AnswerBytes answer;
  answer.add(record(the_question, 33, srv_data(0, 0, 1, std::string("\x06") + label + '\0')));
  AnswerBytes good;
  const std::string target = std::string("\x05") + label + '\0';
  good.add(record(the_question, 33, srv_data(0, 0, 1, target)));
  EXPECT_EQ(fault(answer.to(question)), Fault::malformed) << "a part longer than what is there";
  EXPECT_THAT(records(good), ElementsAre(SrvRecord{0, 0, 1, "a\\046b\\092\\255"}));
}

TEST(DnsMessage, ARecordThatIsLongerOrShorterThanItSaysIsMalformed) {
  const std::string target = wire_name("a");
  for (const std::string& data : {srv_data(0, 0, 1, target + "x"), srv_data(0, 0, 1, ""),
                                  srv_data(0, 0, 1,
                                           "\x01"
                                           "a"),
                                  std::string("12345")}) {
    AnswerBytes bad;
    bad.add(record(the_question, 33, data)).add(srv(0, 0, 1, "a"));
    EXPECT_EQ(fault(bad.to(question)), Fault::malformed) << hex_encode(data);
  }
  AnswerBytes bad;
  bad.add(record(the_question, 5, target + "x"));
  EXPECT_EQ(fault(bad.to(question)), Fault::malformed);
}

TEST(DnsMessage, EveryCutIsStrayOrMalformed) {
  AnswerBytes answer;
  answer.add(cname(the_question, "b")).add(srv(1, 2, 3, "c1.example", wire_name("b")));
  const std::string whole = answer.to(question);
  ASSERT_EQ(records(answer).size(), 1u);
  const std::size_t head = AnswerBytes().to(question).size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(fault(whole.substr(0, size)), size < head ? Fault::stray : Fault::malformed) << size;
  }
}

TEST(DnsMessage, AnswersToSomethingElseAreStray) {
  AnswerBytes answer;
  answer.add(srv(0, 0, 1, "a"));
  const std::string good = answer.to(question);
  for (const std::size_t bit : {0u, 9u, 16u, 17u}) {  // id, response, operation
    std::string other = good;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << (7 - bit % 8));
    EXPECT_EQ(fault(other), Fault::stray) << bit;
  }
  EXPECT_EQ(fault(answer.to({question.id, "_n._tcp.cache.example"})), Fault::stray);
  std::string other = good;
  other[AnswerBytes().to(question).size() - 3] = 1;  // asks for addresses
  EXPECT_EQ(fault(other), Fault::stray);
  other = good;
  other[5] = 2;  // two questions
  EXPECT_EQ(fault(other), Fault::stray);
}

TEST(DnsMessage, TheNameComesBackInWhateverCase) {
  AnswerBytes answer;
  answer.add(srv(0, 0, 1, "a"));
  const auto parsed = SrvAnswer::parse(answer.to({question.id, "_M._TCP.cAcHe.example"}), question);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->records.size(), 1u);
}

TEST(DnsMessage, OfATruncatedAnswerNothingIsRead) {
  AnswerBytes answer{.flags = 0x8380};
  answer.add(srv(0, 0, 1, "a"));
  std::string bytes = answer.to(question);
  bytes.resize(bytes.size() - 3);
  const auto parsed = SrvAnswer::parse(bytes, question);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_TRUE(parsed->truncated);
  EXPECT_TRUE(parsed->records.empty());
}

TEST(DnsMessage, AnErrorIsToldByItsCode) {
  for (const auto code : {ResponseCode::server_failure, ResponseCode::no_such_name,
                          ResponseCode::refused, ResponseCode{15}}) {
    AnswerBytes answer{.flags = static_cast<std::uint16_t>(0x8180 | static_cast<unsigned>(code))};
    const auto parsed = SrvAnswer::parse(answer.to(question), question);
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->code, code);
  }
  using namespace std::string_literals;
  const auto parsed = SrvAnswer::parse("\x12\x34\x81\x81\0\0\0\0\0\0\0\0"s, question);
  ASSERT_TRUE(parsed.has_value()) << "who cannot read a question cannot repeat it";
  EXPECT_EQ(parsed->code, ResponseCode::format_error);
  EXPECT_EQ(fault("\x12\x34\x81\x82\0\0\0\0\0\0\0\0"s), Fault::stray);
}

// Any records that are written are read back.
TEST(DnsMessageProperty, WhatWasWrittenIsRead) {
  Random random(38);
  for (int round = 0; round < 500; ++round) {
    AnswerBytes answer;
    std::vector<SrvRecord> expected;
    for (std::uint64_t i = random.below(40); i > 0; --i) {
      SrvRecord one{static_cast<std::uint16_t>(random.u32()),
                    static_cast<std::uint16_t>(random.u32()),
                    static_cast<std::uint16_t>(random.u32()), random.hex(1 + random.below(60))};
      if (random.below(2) == 0) one.target += '.' + random.hex(1 + random.below(60));
      answer.add(srv(one.priority, one.weight, one.port, one.target));
      expected.push_back(std::move(one));
    }
    ASSERT_EQ(records(answer), expected) << round;
  }
}

// Any byte may be wrong: the parser never reads past the end, and names stay names.
TEST(DnsMessageProperty, DamageIsSurvived) {
  Random random(39);
  AnswerBytes answer;
  answer.add(cname(the_question, "b.example"))
      .add(srv(1, 2, 3, "c1.example", wire_name("b.example")));
  answer.add(record(pointer_to(20), 33,
                    srv_data(0, 1, 2,
                             "\x02"
                             "c1" +
                                 pointer_to(20))));
  const std::string whole = answer.to(question);
  unsigned read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole.substr(0, 12 + random.below(whole.size() - 11));
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.u32());
    }
    const auto parsed = SrvAnswer::parse(damaged, question);
    read += parsed.has_value();
    if (!parsed) continue;
    for (const SrvRecord& one : parsed->records) EXPECT_LE(one.target.size(), 4 * max_name);
  }
  EXPECT_GT(read, 100u);
  EXPECT_LT(read, 19'900u);
}

}  // namespace
}  // namespace sheaf::discovery::dns
