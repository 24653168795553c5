// Replies: what a store sends in both spellings, and what a client accepts and refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/statestore/packets.h"
#include "tests/protocol/statestore/bytes_of.h"

namespace sheaf::protocol::statestore {
namespace {

using namespace std::string_view_literals;

template <class Reply>
void expect_taken(std::string_view payload, const Reply& wanted) {
  const auto parsed = Reply::parse(payload);
  ASSERT_TRUE(parsed) << testing::PrintToString(payload);
  EXPECT_TRUE(*parsed == wanted) << testing::PrintToString(payload);
}

template <class Reply>
void expect_malformed(std::string_view payload) {
  const auto parsed = Reply::parse(payload);
  ASSERT_FALSE(parsed) << testing::PrintToString(payload);
  EXPECT_TRUE(parsed.error().malformed()) << testing::PrintToString(payload);
}

template <class Reply>
void expect_refused(std::string_view payload, Reason reason, std::string_view text) {
  const auto parsed = Reply::parse(payload);
  ASSERT_FALSE(parsed) << testing::PrintToString(payload);
  EXPECT_EQ(parsed.error().reason, reason) << testing::PrintToString(payload);
  EXPECT_EQ(parsed.error().text, text);
  EXPECT_FALSE(parsed.error().malformed());
}

TEST(StateStoreReplies, AreSentAsTheSdksExpectThem) {
  constexpr auto sdk = Spelling::sdk;
  EXPECT_EQ(bytes_of(SetReply{true}, sdk), "+OK\r\n");
  EXPECT_EQ(bytes_of(SetReply{false}, sdk), ":-1\r\n");
  EXPECT_EQ(bytes_of(GetReply{"1234"}), "$4\r\n1234\r\n");
  EXPECT_EQ(bytes_of(GetReply{""}), "$0\r\n\r\n");
  EXPECT_EQ(bytes_of(GetReply{}), "$-1\r\n");
  EXPECT_EQ(bytes_of(DelReply{1}), ":1\r\n");
  EXPECT_EQ(bytes_of(DelReply{0}), ":0\r\n");
  EXPECT_EQ(bytes_of(VdelReply{VdelReply::Result::removed}, sdk), ":1\r\n");
  EXPECT_EQ(bytes_of(VdelReply{VdelReply::Result::absent}, sdk), ":0\r\n");
  EXPECT_EQ(bytes_of(VdelReply{VdelReply::Result::differs}, sdk), ":-1\r\n");
  EXPECT_EQ(bytes_of(KeyNotifyReply{true}), "+OK\r\n");
  EXPECT_EQ(bytes_of(KeyNotifyReply{false}), ":0\r\n");
  EXPECT_EQ(bytes_of(ErrorReply{StoreError::syntax, false}, sdk), "-ERR syntax error\r\n");
  EXPECT_EQ(bytes_of(ErrorReply{StoreError::syntax, true}, sdk), "-ERR syntax error\r\n");
}

TEST(StateStoreReplies, AreSentAsThePagePrintsThem) {
  constexpr auto page = Spelling::page;
  EXPECT_EQ(bytes_of(SetReply{true}, page), "+OK\r\n");
  EXPECT_EQ(bytes_of(SetReply{false}, page), "-1\r\n");
  EXPECT_EQ(bytes_of(VdelReply{VdelReply::Result::removed}, page), ":1\r\n");
  EXPECT_EQ(bytes_of(VdelReply{VdelReply::Result::absent}, page), ":0\r\n");
  EXPECT_EQ(bytes_of(VdelReply{VdelReply::Result::differs}, page), "-1\r\n");
  EXPECT_EQ(bytes_of(ErrorReply{StoreError::syntax, false}, page), "-ERR syntax error\r\n");
  EXPECT_EQ(bytes_of(ErrorReply{StoreError::syntax, true}, page), "-ERR: syntax error\r\n");
}

TEST(StateStoreReplies, AClientReadsBothSpellingsOfASetReply) {
  expect_taken("+OK\r\n", SetReply{true});
  for (const std::string_view payload : {":-1\r\n"sv, "-1\r\n"sv, "$-1\r\n"sv, "_\r\n"sv}) {
    expect_taken(payload, SetReply{false});
  }
}

TEST(StateStoreReplies, AClientRefusesWhatIsNoSetReply) {
  for (const std::string_view payload : {""sv,
                                         "+OK"sv,
                                         "+ok\r\n"sv,
                                         "+\r\n"sv,
                                         "+"sv,
                                         "+something-else\r\n"sv,
                                         "+OK\r\n\r\n"sv,
                                         "-1"sv,
                                         ":-1"sv,
                                         ":0\r\n"sv,
                                         ":1\r\n"sv,
                                         ":\r\n"sv,
                                         "$2\r\nOK\r\n"sv,
                                         "$-5\r\n"sv,
                                         "*-1\r\n"sv,
                                         "+OK\r"sv,
                                         "+OK\r\nx"sv,
                                         "_"sv,
                                         "\r\n"sv,
                                         "\0"sv}) {
    expect_malformed<SetReply>(payload);
  }
}

TEST(StateStoreReplies, AClientReadsAValueWithAndWithoutTheLastLineEnd) {
  expect_taken("$4\r\n1234\r\n", GetReply{"1234"});
  expect_taken("$4\r\n1234", GetReply{"1234"});
  expect_taken("$0\r\n\r\n", GetReply{""});
  expect_taken("$0\r\n", GetReply{""});
  expect_taken(raw("$6\r\n\r\n\000\r\n\377\r\n"), GetReply{"\r\n\0\r\n\377"sv});
  // Exactly these five bytes, without a line end after them.
  expect_taken("$5\r\nabc\r\n", GetReply{"abc\r\n"});
}

TEST(StateStoreReplies, AClientReadsAllSpellingsOfAnAbsentKey) {
  for (const std::string_view payload : {"$-1\r\n"sv, "_\r\n"sv, ":-1\r\n"sv}) {
    expect_taken(payload, GetReply{});
  }
}

TEST(StateStoreReplies, AClientRefusesWhatIsNoGetReply) {
  for (const std::string_view payload : {""sv,
                                         "$"sv,
                                         "$4"sv,
                                         "$4\r\n"sv,
                                         "$4\r\n123\r\n"sv,
                                         "$4\r\n12345\r\n"sv,
                                         "$4\r\n1234\r"sv,
                                         "$4\r\n1234\r\nx"sv,
                                         "$4\r\n1234xx"sv,
                                         "$-5\r\n"sv,
                                         "-1\r\n"sv,
                                         "+1234\r\n"sv,
                                         "$\r\n\r\n"sv,
                                         "$04\r\n1234\r\n"sv,
                                         "$ 4\r\n1234\r\n"sv,
                                         "$+4\r\n1234\r\n"sv,
                                         "$18446744073709551615\r\nx"sv,
                                         "$18446744073709551614\r\n\r\n"sv,
                                         "$99999999999999999999\r\n"sv,
                                         "*-1\r\n"sv,
                                         "$4\n1234\n"sv,
                                         "+OK\r\n"sv}) {
    expect_malformed<GetReply>(payload);
  }
}

TEST(StateStoreReplies, AClientReadsAnyCountOfADelReply) {
  expect_taken(":1\r\n", DelReply{1});
  expect_taken(":0\r\n", DelReply{0});
  expect_taken(":99999999999\r\n", DelReply{99999999999u});
}

TEST(StateStoreReplies, AClientRefusesWhatIsNoDelReply) {
  for (const std::string_view payload :
       {""sv, ":1"sv, ":\r\n"sv, "-1\r\n"sv, ":-1\r\n"sv, "$-1\r\n"sv, "+OK\r\n"sv, "$1\r\n1\r\n"sv,
        ":1\r\nx"sv, ":+1\r\n"sv, ": 1\r\n"sv, ":1\r"sv, ":99999999999999999999\r\n"sv}) {
    expect_malformed<DelReply>(payload);
  }
}

TEST(StateStoreReplies, AClientReadsBothSpellingsOfAVdelReply) {
  using Result = VdelReply::Result;
  expect_taken(":1\r\n", VdelReply{Result::removed});
  expect_taken(":2\r\n", VdelReply{Result::removed});
  expect_taken(":0\r\n", VdelReply{Result::absent});
  expect_taken(":-1\r\n", VdelReply{Result::differs});
  expect_taken("-1\r\n", VdelReply{Result::differs});
}

TEST(StateStoreReplies, AClientRefusesWhatIsNoVdelReply) {
  for (const std::string_view payload :
       {""sv, ":1"sv, ":-2\r\n"sv, "$-1\r\n"sv, "_\r\n"sv, "+OK\r\n"sv, ":\r\n"sv, "-1"sv}) {
    expect_malformed<VdelReply>(payload);
  }
}

TEST(StateStoreReplies, AClientTakesOkAndZeroForKeyNotify) {
  expect_taken("+OK\r\n", KeyNotifyReply{true});
  expect_taken(":0\r\n", KeyNotifyReply{false});
  for (const std::string_view payload : {""sv, ":1\r\n"sv, "+ok\r\n"sv, "$2\r\nOK\r\n"sv, "+OK"sv,
                                         ":-1\r\n"sv, "-1\r\n"sv, ":0"sv}) {
    expect_malformed<KeyNotifyReply>(payload);
  }
}

TEST(StateStoreReplies, AnErrorLineIsReadInAllItsSpellings) {
  for (const std::string_view payload :
       {"-ERR syntax error\r\n"sv, "-ERR syntax error"sv, "-ERR: syntax error\r\n"sv,
        "-ERR: syntax error"sv, "-ERR:syntax error\r\n"sv, "-ERR  syntax error\r\n"sv,
        "-err syntax error\r\n"sv}) {
    expect_refused<SetReply>(payload, Reason::syntax, "syntax error");
    expect_refused<GetReply>(payload, Reason::syntax, "syntax error");
    expect_refused<DelReply>(payload, Reason::syntax, "syntax error");
    expect_refused<VdelReply>(payload, Reason::syntax, "syntax error");
    expect_refused<KeyNotifyReply>(payload, Reason::syntax, "syntax error");
  }
}

TEST(StateStoreReplies, AnErrorLineOfAnotherKindKeepsItsWords) {
  expect_refused<GetReply>("-ERR \r\n", Reason::other, "");
  expect_refused<GetReply>("-ERR", Reason::other, "");
  expect_refused<GetReply>("-\r\n", Reason::other, "");
  expect_refused<GetReply>("-OTHER quota has been exceeded\r\n", Reason::quota,
                           "OTHER quota has been exceeded");
  expect_refused<GetReply>("-ERROR x\r\n", Reason::other, "ERROR x");
  expect_refused<GetReply>("-ERR something new\r\n", Reason::other, "something new");
}

TEST(StateStoreReplies, AnErrorOfSeveralLinesIsMalformed) {
  expect_malformed<GetReply>("-ERR syntax error\r\n+OK\r\n");
  expect_malformed<GetReply>("-ERR syntax\rerror\r\n");
}

TEST(StateStoreReplies, WhatIsEncodedIsReadAgainInBothSpellings) {
  for (const Spelling spelling : {Spelling::sdk, Spelling::page}) {
    for (const bool applied : {true, false}) {
      expect_taken(bytes_of(SetReply{applied}, spelling), SetReply{applied});
    }
    for (const auto result :
         {VdelReply::Result::absent, VdelReply::Result::removed, VdelReply::Result::differs}) {
      expect_taken(bytes_of(VdelReply{result}, spelling), VdelReply{result});
    }
    for (int i = 0; i <= static_cast<int>(StoreError::read_only); ++i) {
      for (const bool to_keynotify : {true, false}) {
        const auto error = static_cast<StoreError>(i);
        expect_refused<KeyNotifyReply>(bytes_of(ErrorReply{error, to_keynotify}, spelling),
                                       reason_of(error), text_of(error));
      }
    }
  }
}

TEST(StateStoreReplies, ATruncatedValueIsNeverTaken) {
  const std::string payload = bytes_of(GetReply{"abcdef"});
  for (std::size_t size = 0; size < payload.size(); ++size) {
    const auto parsed = GetReply::parse(std::string_view(payload).substr(0, size));
    // Without the line end all six bytes are there. With half a line end the payload is incomplete.
    EXPECT_EQ(parsed.has_value(), size == payload.size() - 2) << size;
  }
}

// ---- notifications

using Notified = Notification::Operation;

TEST(StateStoreNotifications, AreSentInBothSpellings) {
  const Notification set{Notified::set, "abc"};
  const Notification removed{Notified::removed, {}};
  const auto set_bytes = "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$3\r\nabc\r\n"sv;
  EXPECT_EQ(bytes_of(set, Spelling::sdk), set_bytes);
  EXPECT_EQ(bytes_of(set, Spelling::page), set_bytes);
  EXPECT_EQ(bytes_of(removed, Spelling::sdk), "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n");
  EXPECT_EQ(bytes_of(removed, Spelling::page), "*2\r\n$6\r\nNOTIFY\r\n$3\r\nDEL\r\n");
}

TEST(StateStoreNotifications, ASetCarriesItsValueOrAsksForAGet) {
  expect_taken("*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$3\r\nabc\r\n",
               Notification{Notified::set, "abc"});
  expect_taken("*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nvalue\r\n$0\r\n\r\n",
               Notification{Notified::set, ""});
  expect_taken("*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$1\r\nX\r\n$4\r\n\r\n\r\n\r\n",
               Notification{Notified::set, "\r\n\r\n"});
  expect_taken("*2\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n", Notification{Notified::set, {}});
}

TEST(StateStoreNotifications, AllThreeWordsForRemovalAreOne) {
  const Notification removed{Notified::removed, {}};
  expect_taken("*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n", removed);
  expect_taken("*2\r\n$6\r\nNOTIFY\r\n$3\r\nDEL\r\n", removed);
  expect_taken("*2\r\n$6\r\nNOTIFY\r\n$7\r\nEXPIRED\r\n", removed);
  expect_taken("*2\r\n$6\r\nnotify\r\n$6\r\ndelete\r\n", removed);
}

TEST(StateStoreNotifications, AnythingElseHasChangedTheKeyInAnUnknownWay) {
  const Notification unknown{};
  expect_taken("*2\r\n$6\r\nNOTIFY\r\n$6\r\nRENAME\r\n", unknown);
  expect_taken("*3\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n", unknown);
  expect_taken("*3\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n$1\r\nx\r\n", unknown);
  expect_taken("*2\r\n$6\r\nNOTIFY\r\n$0\r\n\r\n", unknown);
}

TEST(StateStoreNotifications, WhatIsNoArrayOfBulkStringsIsMalformed) {
  for (const std::string_view payload :
       {""sv, "*1\r\n$6\r\nNOTIFY\r\n"sv, "*2\r\n+NOTIFY\r\n+DELETE\r\n"sv,
        "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\nx"sv, "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE"sv,
        "*2\r\n$5\r\nOTHER\r\n$6\r\nDELETE\r\n"sv, "*0\r\n"sv, "*-1\r\n"sv,
        "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$9\r\nabc\r\n"sv}) {
    expect_malformed<Notification>(payload);
  }
}

TEST(StateStoreNotifications, EveryTruncationIsMalformed) {
  const std::string payload = bytes_of(Notification{Notified::set, "abc"}, Spelling::sdk);
  for (std::size_t size = 0; size < payload.size(); ++size) {
    expect_malformed<Notification>(std::string_view(payload).substr(0, size));
  }
}

}  // namespace
}  // namespace sheaf::protocol::statestore
