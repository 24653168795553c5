// The effects and answers of each request, in the spelling of the SDKs and in that of the page.

#include <gtest/gtest.h>

#include <string>

#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

Store page_store() {
  EngineOptions options;
  options.spelling = Spelling::page;
  return Store(options);
}

TEST(EngineRequests, TheGoldenVersionComesBackFromSetAndFromGet) {
  Store store;
  const std::string version = "001696374425000:00001:StateStore";
  EXPECT_EQ(store.ask({"SET", "key", "1234"}), (Got{Verdict::answer, "+OK\r\n", version}));
  EXPECT_EQ(store.ask({"GET", "key"}), (Got{Verdict::answer, "$4\r\n1234\r\n", version}));
}

TEST(EngineRequests, TheGoldenVersionOfThePageIsNotPadded) {
  Store store = page_store();
  const std::string version = "1696374425000:1:StateStore";
  EXPECT_EQ(store.ask({"SET", "key", "1234"}), (Got{Verdict::answer, "+OK\r\n", version}));
  EXPECT_EQ(store.ask({"GET", "key"}), (Got{Verdict::answer, "$4\r\n1234\r\n", version}));
}

TEST(EngineRequests, AnAbsentKeyHasNoValueAndNoVersion) {
  Store store;
  EXPECT_EQ(store.ask({"GET", "key"}), (Got{Verdict::answer, "$-1\r\n", ""}));
}

TEST(EngineRequests, KeysAndValuesAreAnyBytes) {
  Store store;
  const std::string key("\0\r\n\377*$", 6);
  const std::string value("\r\n\0\r\n", 5);
  EXPECT_EQ(store.ask({"SET", key, value}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"GET", key}).payload, "$5\r\n" + value + "\r\n");
  EXPECT_EQ(store.ask({"SET", key, ""}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"GET", key}).payload, "$0\r\n\r\n");
}

TEST(EngineRequests, AValueOfTenMebibytesComesBack) {
  Store store;
  const std::string value(10 << 20, 'v');
  EXPECT_EQ(store.ask({"SET", "key", value}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$10485760\r\n" + value + "\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "small"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$5\r\nsmall\r\n");
}

TEST(EngineRequests, IfAbsentWritesOnceAndThenReturnsTheStoredVersion) {
  Store store;
  const Got first = store.ask({"SET", "key", "a", "NX"});
  EXPECT_EQ(first.payload, "+OK\r\n");
  store.pass(5ms);
  EXPECT_EQ(store.ask({"SET", "key", "b", "NX"}),
            (Got{Verdict::answer, ":-1\r\n", first.timestamp}));
  EXPECT_EQ(store.ask({"SET", "key", "a", "NX"}),
            (Got{Verdict::answer, ":-1\r\n", first.timestamp}));
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$1\r\na\r\n");
}

TEST(EngineRequests, IfAbsentOrEqualWritesItsOwnValueAgainWithANewVersion) {
  Store store;
  const Got first = store.ask({"SET", "lock", "me", "NEX", "PX", "10000"});
  EXPECT_EQ(first.payload, "+OK\r\n");
  store.pass(1ms);
  const Got renewed = store.ask({"SET", "lock", "me", "NEX", "PX", "10000"});
  EXPECT_EQ(renewed.payload, "+OK\r\n");
  EXPECT_GT(renewed.timestamp, first.timestamp);
  EXPECT_EQ(store.ask({"SET", "lock", "you", "NEX", "PX", "10000"}),
            (Got{Verdict::answer, ":-1\r\n", renewed.timestamp}));
}

TEST(EngineRequests, ThePageSpellsAFalseConditionWithoutAColon) {
  Store store = page_store();
  store.ask({"SET", "key", "a"});
  EXPECT_EQ(store.ask({"SET", "key", "b", "NX"}).payload, "-1\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "b", "NX"}).timestamp, "1696374425000:1:StateStore");
  EXPECT_EQ(store.ask({"VDEL", "key", "b"}).payload, "-1\r\n");
}

TEST(EngineRequests, DelAnswersWithTheVersionThatItRemoved) {
  Store store;
  const Got set = store.ask({"SET", "key", "a"});
  store.pass(3ms);
  EXPECT_EQ(store.ask({"DEL", "key"}), (Got{Verdict::answer, ":1\r\n", set.timestamp}));
  EXPECT_EQ(store.ask({"DEL", "key"}), (Got{Verdict::answer, ":0\r\n", ""}));
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$-1\r\n");
  EXPECT_EQ(store.engine.keys(), 0u);
}

TEST(EngineRequests, VdelRemovesOnlyTheValueThatItNames) {
  Store store;
  const Got set = store.ask({"SET", "key", "a"});
  EXPECT_EQ(store.ask({"VDEL", "key", "b"}), (Got{Verdict::answer, ":-1\r\n", ""}));
  EXPECT_EQ(store.ask({"VDEL", "key", ""}), (Got{Verdict::answer, ":-1\r\n", ""}));
  EXPECT_EQ(store.ask({"VDEL", "key", "a"}), (Got{Verdict::answer, ":1\r\n", set.timestamp}));
  EXPECT_EQ(store.ask({"VDEL", "key", "a"}), (Got{Verdict::answer, ":0\r\n", ""}));
}

TEST(EngineRequests, VerbsInAnyCaseDoTheSame) {
  Store store;
  EXPECT_EQ(store.ask({"set", "key", "a", "px", "1000", "nx"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"Get", "key"}).payload, "$1\r\na\r\n");
  EXPECT_EQ(store.ask({"vDel", "key", "a"}).payload, ":1\r\n");
}

TEST(EngineRequests, WhatDoesNotParseIsRefusedInItsWords) {
  Store store;
  EXPECT_EQ(store.send(Ask{.payload = ""}).payload, error_line("syntax error"));
  EXPECT_EQ(store.ask({"SET", "k", "v", "PX", "1.5"}).payload, error_line("syntax error"));
  EXPECT_EQ(store.ask({"FLY"}).payload, error_line("unknown command"));
  EXPECT_EQ(store.ask({"SCAN", "*"}).payload, error_line("unknown command"));
  EXPECT_EQ(store.ask({"GET"}).payload, error_line("wrong number of arguments"));
  EXPECT_EQ(store.ask({"SET", "", "v"}).payload, error_line("the key length is zero"));
  EXPECT_EQ(store.engine.counters().errors, 6u);
  EXPECT_EQ(store.engine.counters().executed_writes, 0u);
}

TEST(EngineRequests, ThePageSpellsErrorsOfKeyNotifyWithAColon) {
  Store store = page_store();
  EXPECT_EQ(store.ask({"KEYNOTIFY", ""}).payload, "-ERR: the key length is zero\r\n");
  EXPECT_EQ(store.ask({"KEYNOTIFY"}).payload, "-ERR: wrong number of arguments\r\n");
  EXPECT_EQ(store.ask({"GET", ""}).payload, "-ERR the key length is zero\r\n");
  Ask late{.payload = payload_of({"KEYNOTIFY", "k"}), .timestamp = "x"};
  EXPECT_EQ(store.send(late).payload, "-ERR: malformed timestamp\r\n");
  late.qos = 0;
  EXPECT_EQ(store.send(late).payload, "-ERR: syntax error\r\n");
}

// ---- the envelope

TEST(EngineEnvelope, WithoutAResponseTopicARequestIsDroppedAndCounted) {
  Store store;
  Ask ask{.payload = payload_of({"SET", "key", "v"}), .response_topic = std::nullopt};
  EXPECT_EQ(store.send(ask), (Got{Verdict::drop, "", ""}));
  EXPECT_EQ(store.engine.counters().dropped, 1u);
  EXPECT_EQ(store.engine.keys(), 0u);
}

TEST(EngineEnvelope, AForbiddenResponseTopicEndsTheConnectionAndExecutesNothing) {
  const std::string root = "clients/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8";
  Store store;
  std::uint64_t count = 0;
  for (const std::string& topic :
       {std::string("answers/+"), std::string("answers/#"), std::string("an+swers"), std::string(),
        std::string("a\0b", 3), std::string("a\xff"), root, root + "/x", root + "x",
        std::string("statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke")}) {
    Ask ask{.payload = payload_of({"SET", "key", "v"}), .response_topic = topic};
    EXPECT_EQ(store.send(ask), (Got{Verdict::disconnect, "", ""})) << topic;
    EXPECT_EQ(store.engine.counters().forbidden, ++count);
  }
  EXPECT_EQ(store.engine.keys(), 0u);
}

TEST(EngineEnvelope, EveryOtherResponseTopicIsAnswered) {
  Store store;
  for (const char* topic : {"x", "$SYS/x", "clients/somebody-else/x", "a//b", "/"}) {
    Ask ask{.payload = payload_of({"GET", "key"}), .response_topic = topic};
    EXPECT_EQ(store.send(ask).payload, "$-1\r\n") << topic;
  }
}

TEST(EngineEnvelope, OwnReplyTopicsRefuseForeignOnesWithoutDisconnecting) {
  EngineOptions options;
  options.reply_topics = ReplyTopics::own;
  Store store(options);
  Ask ask{.payload = payload_of({"SET", "key", "v"})};
  for (const char* topic : {"x", "clients/client-id2/x", "clients/client-id1"}) {
    ask.response_topic = topic;
    EXPECT_EQ(store.send(ask), (Got{Verdict::answer, error_line("not authorized"), ""})) << topic;
  }
  EXPECT_EQ(store.engine.keys(), 0u);
  ask.response_topic = "clients/client-id1/x";
  EXPECT_EQ(store.send(ask).payload, "+OK\r\n");
  ask.response_topic = "clients/636C69656E742D696431/x";
  EXPECT_EQ(store.send(ask).payload, "+OK\r\n");
  ask.response_topic = "clients/client-id1/#";
  EXPECT_EQ(store.send(ask).verdict, Verdict::disconnect);
}

TEST(EngineEnvelope, AnotherQualityOfServiceIsASyntaxErrorAndExecutesNothing) {
  Store store;
  for (const std::uint8_t qos : {std::uint8_t{0}, std::uint8_t{2}}) {
    Ask ask{.payload = payload_of({"SET", "key", "v"}), .qos = qos};
    EXPECT_EQ(store.send(ask).payload, error_line("syntax error"));
  }
  EXPECT_EQ(store.engine.keys(), 0u);
}

TEST(EngineEnvelope, MissingCorrelationIsASyntaxErrorAndExecutesNothing) {
  Store store;
  Ask ask{.payload = payload_of({"SET", "key", "v"}), .without_correlation = true};
  EXPECT_EQ(store.send(ask).payload, error_line("syntax error"));
  EXPECT_EQ(store.engine.keys(), 0u);
}

TEST(EngineEnvelope, CorrelationDataOfAnyLengthIsTaken) {
  Store store;
  for (const std::size_t size : {0u, 1u, 8u, 16u, 36u, 65'535u}) {
    Ask ask{.payload = payload_of({"SET", "key", "v"}), .correlation = std::string(size, 'c')};
    EXPECT_EQ(store.send(ask).payload, "+OK\r\n") << size;
  }
}

TEST(EngineEnvelope, CountersShowWhatHappened) {
  Store store;
  store.ask({"SET", "a", "v"});
  store.ask({"SET", "a", "v", "NX"});
  store.ask({"DEL", "b"});
  store.ask({"VDEL", "a", "x"});
  store.ask({"GET", "a"});
  store.ask({"NONSENSE"});
  const EngineCounters& counters = store.engine.counters();
  EXPECT_EQ(counters.requests, 6u);
  EXPECT_EQ(counters.executed_writes, 4u);
  EXPECT_EQ(counters.errors, 1u);
  EXPECT_EQ(counters.duplicates, 0u);
}

// ---- quota

TEST(EngineQuota, OneKeyTooManyIsRefusedAndChangesNothing) {
  EngineOptions options;
  options.max_keys = 2;
  Store store(options);
  EXPECT_EQ(store.ask({"SET", "a", "1"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "b", "1"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "c", "1"}).payload, error_line("the quota has been exceeded"));
  EXPECT_EQ(store.ask({"SET", "a", "2"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"DEL", "b"}).payload, ":1\r\n");
  EXPECT_EQ(store.ask({"SET", "c", "1"}).payload, "+OK\r\n");
  EXPECT_EQ(store.engine.keys(), 2u);
}

TEST(EngineQuota, BytesOfKeysAndValuesAreCountedExactly) {
  EngineOptions options;
  options.max_bytes = 10;
  Store store(options);
  EXPECT_EQ(store.ask({"SET", "abcd", "123456"}).payload, "+OK\r\n");
  EXPECT_EQ(store.engine.bytes(), 10u);
  EXPECT_EQ(store.ask({"SET", "abcd", "1234567"}).payload,
            error_line("the quota has been exceeded"));
  EXPECT_EQ(store.ask({"GET", "abcd"}).payload, "$6\r\n123456\r\n");
  EXPECT_EQ(store.ask({"SET", "abcd", "12345"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "x", ""}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "y", ""}).payload, error_line("the quota has been exceeded"));
  EXPECT_EQ(store.engine.bytes(), 10u);
  EXPECT_EQ(store.ask({"DEL", "abcd"}).payload, ":1\r\n");
  EXPECT_EQ(store.engine.bytes(), 1u);
}

TEST(EngineQuota, AFalseConditionIsReportedBeforeTheQuota) {
  EngineOptions options;
  options.max_bytes = 4;
  Store store(options);
  store.ask({"SET", "key", "v"});
  EXPECT_EQ(store.ask({"SET", "key", "longer", "NX"}).payload, ":-1\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "longer"}).payload, error_line("the quota has been exceeded"));
}

TEST(EngineQuota, ExpiredKeysMakeRoom) {
  EngineOptions options;
  options.max_keys = 300;
  Store store(options);
  for (int i = 0; i < 300; ++i) store.ask({"SET", "k" + std::to_string(i), "v", "PX", "1000"});
  EXPECT_EQ(store.ask({"SET", "new", "v"}).payload, error_line("the quota has been exceeded"));
  store.pass(1s);
  EXPECT_EQ(store.ask({"SET", "new", "v"}).payload, "+OK\r\n");
}

TEST(EngineQuota, ARefusalNotifiesNoWatcher) {
  EngineOptions options;
  options.max_keys = 1;
  Store store(options);
  store.ask({"KEYNOTIFY", "b"});
  store.ask({"SET", "a", "1"});
  store.ask({"SET", "b", "1"});
  EXPECT_TRUE(store.notifications().empty());
}

TEST(EngineQuota, SurvivesAMillionKeysWithAQuotaErrorAtTheEnd) {
  EngineOptions options;
  options.max_duplicates = 0;  // they have tests of their own
  Store store(options);
  std::string last;
  for (int i = 0; i < 1'000'000; ++i) last = store.ask({"SET", std::to_string(i), "v"}).payload;
  EXPECT_EQ(last, "+OK\r\n");
  EXPECT_EQ(store.engine.keys(), 1'000'000u);
  EXPECT_EQ(store.ask({"SET", "more", "v"}).payload, error_line("the quota has been exceeded"));
  EXPECT_EQ(store.ask({"GET", "999999"}).payload, "$1\r\nv\r\n");
}

}  // namespace
}  // namespace sheaf::store
