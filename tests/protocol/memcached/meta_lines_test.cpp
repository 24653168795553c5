#include "protocol/memcached/meta_lines.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "base/text.h"
#include "protocol/memcached/rules.h"

namespace sheaf::protocol::memcached {
namespace {

using Code = ReplyLine::Code;
using namespace std::string_view_literals;

template <class Line>
std::string line(const Line& request) {
  std::string text;
  ByteWriter out(text);
  request.encode(out);
  return text;
}

TEST(MetaLines, Requests) {
  EXPECT_EQ(line(MetaGet{.key = "k", .opaque = 10}), "mg k v f c Oa\r\n");
  EXPECT_EQ(line(MetaGet{.key = "k", .opaque = 0xffffffff, .touch = 30}),
            "mg k v f c T30 Offffffff\r\n");
  EXPECT_EQ(line(MetaGet{.key = "k", .opaque = 1, .value = false, .touch = 0}),
            "mg k f c T0 O1\r\n");
  EXPECT_EQ(line(MetaGet{.key = "k", .opaque = 1, .lease = 30}), "mg k v f c N30 O1\r\n");
  EXPECT_EQ(line(MetaGet{.key = "k", .opaque = 1, .ttl = true}), "mg k v f c t O1\r\n");
  EXPECT_EQ(line(MetaSet{.key = "k", .size = 5, .opaque = 1}), "ms k 5 c O1\r\n");
  EXPECT_EQ(line(MetaSet{.key = "k",
                         .size = 0,
                         .opaque = 1,
                         .mode = MetaSet::Mode::add,
                         .flags = 0xffffffff,
                         .expiry = 60,
                         .cas = 0xffffffffffffffff}),
            "ms k 0 c ME F4294967295 T60 C18446744073709551615 O1\r\n");
  EXPECT_EQ(line(MetaSet{.key = "k", .mode = MetaSet::Mode::replace}), "ms k 0 c MR O0\r\n");
  EXPECT_EQ(line(MetaSet{.key = "k", .mode = MetaSet::Mode::append}), "ms k 0 c MA O0\r\n");
  EXPECT_EQ(line(MetaSet{.key = "k", .mode = MetaSet::Mode::prepend}), "ms k 0 c MP O0\r\n");
  EXPECT_EQ(line(MetaRemove{"k", 2, 0}), "md k O2\r\n");
  EXPECT_EQ(line(MetaRemove{"k", 2, 9}), "md k C9 O2\r\n");
  EXPECT_EQ(line(MetaArithmetic{.key = "n", .opaque = 3}), "ma n v c D1 O3\r\n");
  EXPECT_EQ(line(MetaArithmetic{
                .key = "n", .opaque = 3, .decrement = true, .delta = 7, .initial = 8, .expiry = 0}),
            "ma n v c MD D7 N0 J8 O3\r\n");
  EXPECT_EQ(line(MetaDebug{"k"}), "me k\r\n");
  EXPECT_EQ(meta_no_op, "mn\r\n");
}

TEST(MetaLines, KeysThatNoLineCanHoldGoAsBase64) {
  EXPECT_EQ(line(MetaGet{.key = "a b", .opaque = 1}), "mg YSBi b v f c O1\r\n");
  EXPECT_EQ(line(MetaSet{.key = "a\r\nb", .size = 1, .opaque = 1}), "ms YQ0KYg== 1 b c O1\r\n");
  EXPECT_EQ(line(MetaRemove{"\x7f", 1, 0}), "md fw== b O1\r\n");
  EXPECT_EQ(line(MetaArithmetic{.key = "\0\x01"sv, .opaque = 1}), "ma AAE= b v c D1 O1\r\n");
  EXPECT_EQ(line(MetaDebug{" "}), "me IA== b\r\n");
  EXPECT_EQ(line(MetaGet{.key = "k\xc3\xa9y", .opaque = 1}), "mg k\xc3\xa9y v f c O1\r\n");
  Random random(1);
  for (int i = 0; i < 2'000; ++i) {
    std::string key(1 + random.below(max_encoded_key), '\0');
    random.fill(std::as_writable_bytes(std::span(key)));
    key[random.below(key.size())] = ' ';
    const std::string sent = line(MetaDebug{key});
    const std::string text = sent.substr(3, sent.find(" b\r\n") - 3);
    ASSERT_EQ(base64_decode(text), key);
    ASSERT_LE(text.size(), 250u);
    ASSERT_TRUE(is_plain_key(text));
  }
}

TEST(MetaLines, TheLongestRequestFitsItsReserve) {
  const std::string key(250, 'k');
  const std::string encoded_key(max_encoded_key, ' ');
  for (const std::string& longest : {key, encoded_key}) {
    const std::uint64_t all = ~std::uint64_t{0};
    const auto some = static_cast<std::uint32_t>(all);
    EXPECT_LE(line(MetaSet{longest, 1 << 30, some, MetaSet::Mode::add, some, some, all}).size() + 2,
              max_request_line);
    EXPECT_LE(line(MetaArithmetic{longest, some, true, all, all, some}).size(), max_request_line);
    EXPECT_LE(line(MetaGet{longest, some, true, some, some}).size(), max_request_line);
  }
}

TEST(MetaLines, Replies) {
  const auto hit = ReplyLine::parse("VA 5 f7 c18446744073709551615 Offffffff W X");
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->code, Code::value);
  EXPECT_EQ(hit->size, 5u);
  EXPECT_EQ(hit->flags, 7u);
  EXPECT_EQ(hit->cas, 18'446'744'073'709'551'615u);
  EXPECT_EQ(hit->opaque, 0xffffffffu);
  EXPECT_TRUE(hit->won && hit->stale && !hit->taken);
  EXPECT_TRUE(ReplyLine::parse("VA 0 Z")->taken);
  EXPECT_EQ(ReplyLine::parse("HD")->code, Code::ok);
  EXPECT_EQ(ReplyLine::parse("HD c5 O1")->cas, 5u);
  EXPECT_EQ(ReplyLine::parse("EN")->code, Code::miss);
  EXPECT_EQ(ReplyLine::parse("NF Oa")->code, Code::not_found);
  EXPECT_EQ(ReplyLine::parse("NS c0 O1")->code, Code::not_stored);
  EXPECT_EQ(ReplyLine::parse("EX O1")->code, Code::exists);
  EXPECT_EQ(ReplyLine::parse("MN")->code, Code::no_op);
  EXPECT_EQ(ReplyLine::parse("ME k exp=-1 la=0 cas=3 fetch=no cls=1 size=62")->text,
            "k exp=-1 la=0 cas=3 fetch=no cls=1 size=62");
  EXPECT_EQ(ReplyLine::parse("VERSION 1.6.18")->text, "1.6.18");
  EXPECT_EQ(ReplyLine::parse("STAT pid 5")->text, "pid 5");
  EXPECT_EQ(ReplyLine::parse("END")->code, Code::end);
  EXPECT_EQ(ReplyLine::parse("STORED")->code, Code::stored);
  EXPECT_EQ(ReplyLine::parse("ERROR")->code, Code::error);
  EXPECT_EQ(ReplyLine::parse("ERROR Too many open connections")->text, "Too many open connections");
  EXPECT_EQ(ReplyLine::parse("CLIENT_ERROR bad command line format")->code, Code::client_error);
  EXPECT_EQ(ReplyLine::parse("SERVER_ERROR out of memory")->text, "out of memory");
}

TEST(MetaLines, StrayBlanksAndUnknownFlagsArePassedOver) {
  const auto lenient = ReplyLine::parse("VA 2  f1 c2  s2 t-1 kYWJj b h0 l3 O1 ");
  ASSERT_TRUE(lenient.has_value());
  EXPECT_EQ(lenient->opaque, 1u);
}

TEST(MetaLines, WhatIsNoReplyIsRefused) {
  for (const char* text : {"VA", "VA x", "VA -1", "VA 1x f0", "VA 99999999999999999999", "HD c",
                           "HD c-1", "HD c1 c2", "HD Og", "HD O1 O1", "HD O100000000",
                           "VA 1 f4294967296", "VA 1 f-1", "VA 1 Wx", "VA 1 Xx"}) {
    EXPECT_FALSE(ReplyLine::parse(text).has_value()) << text;
  }
  for (const char* text : {"", "HDx", "hd", " HD", "VALUES k 0 1", "OK", "STORE D"}) {
    EXPECT_EQ(ReplyLine::parse(text).value_or(ReplyLine{}).code, Code::other) << text;
  }
}

TEST(MetaLines, TheHeadOfAListedValue) {
  const auto head = ListedHead::parse("some/key 4294967295 12 18446744073709551615");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->key, "some/key");
  EXPECT_EQ(head->flags, 4'294'967'295u);
  EXPECT_EQ(head->size, 12u);
  EXPECT_EQ(head->cas, 18'446'744'073'709'551'615u);
  for (const char* text : {"", "k", "k 0", "k 0 1", "k 0 1 ", "k 0 1 2 3", " k 0 1 2",
                           "k 4294967296 1 2", "k -1 1 2", "k 0 x 2", "k 0 1 2x"}) {
    EXPECT_FALSE(ListedHead::parse(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace sheaf::protocol::memcached
