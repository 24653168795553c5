// Topics: every form that the protocol page prints or that was recorded from the SDKs.

#include "protocol/statestore/topics.h"

#include <gtest/gtest.h>

#include <string>

namespace sheaf::protocol::statestore {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view client_id = "client-id1";
const std::string topic_root = "clients/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8";

TEST(StateStoreTopics, TheRequestTopicIsFixed) {
  EXPECT_EQ(request_topic, "statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke");
  EXPECT_EQ(request_topic.size(), 65u);
}

TEST(StateStoreTopics, ResponseTopicsOfThePageAndOfTheSdks) {
  using enum ResponseTopicForm;
  EXPECT_EQ(response_topic(page, client_id),
            "clients/client-id1/services/statestore/_any_/command/invoke/response");
  EXPECT_EQ(response_topic(rust, client_id),
            "clients/client-id1/services/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/"
            "command/invoke/response");
  EXPECT_EQ(response_topic(dotnet, client_id),
            "clients/client-id1/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke");
  EXPECT_EQ(response_topic(go, client_id),
            "clients/636C69656E742D696431/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/"
            "command/invoke/response");
}

TEST(StateStoreTopics, EveryFormOfAResponseTopicIsAllowedAndOwn) {
  using enum ResponseTopicForm;
  for (const auto form : {page, rust, dotnet, go}) {
    const std::string topic = response_topic(form, client_id);
    EXPECT_TRUE(response_topic_allowed(topic)) << topic;
    EXPECT_TRUE(is_own_response_topic(topic, client_id)) << topic;
    EXPECT_FALSE(is_own_response_topic(topic, "client-id2")) << topic;
    EXPECT_FALSE(is_own_response_topic(topic, "client-id")) << topic;
    EXPECT_FALSE(is_own_response_topic(topic, "")) << topic;
  }
}

TEST(StateStoreTopics, AnOwnTopicIsBelowItsClient) {
  EXPECT_TRUE(is_own_response_topic("clients/636c69656e742d696431/x", client_id));
  EXPECT_FALSE(is_own_response_topic("clients/client-id1", client_id));
  EXPECT_FALSE(is_own_response_topic("clients/", client_id));
  EXPECT_FALSE(is_own_response_topic("client-id1/x", client_id));
  EXPECT_FALSE(is_own_response_topic("clients/636C69656E742D69643/x", client_id));
  EXPECT_FALSE(is_own_response_topic("clients/636C69656E742D6964ZZ/x", client_id));
}

TEST(StateStoreTopics, TheNotificationTopicOfThePage) {
  const std::string golden = topic_root + "/636C69656E742D696431/command/notify/534F4D454B4559";
  EXPECT_EQ(notification_topic(client_id, "SOMEKEY"), golden);
  EXPECT_EQ(golden.size(), 0x6du);  // as recorded
  std::string appended = "x";
  append_notification_topic(appended, client_id, "SOMEKEY");
  EXPECT_EQ(appended, "x" + golden);
  EXPECT_EQ(notification_filter(client_id), topic_root + "/636C69656E742D696431/command/notify/+");
}

TEST(StateStoreTopics, NotificationTopicsKeepLeadingZerosOfTheHex) {
  EXPECT_EQ(notification_topic("a", "\0\x01\xff"sv), topic_root + "/61/command/notify/0001FF");
}

TEST(StateStoreTopics, ANotificationTopicIsReadInEitherCase) {
  for (const char* levels : {"/636C69656E742D696431/command/notify/0001FF",
                             "/636c69656e742d696431/command/notify/0001ff"}) {
    const auto parsed = parse_notification_topic(topic_root + levels);
    ASSERT_TRUE(parsed) << levels;
    EXPECT_EQ(parsed->client_id, client_id);
    EXPECT_EQ(parsed->key, "\0\x01\xff"sv);
  }
}

TEST(StateStoreTopics, WhatDoesNotDecodeIsNoNotificationTopic) {
  for (const char* rest :
       {"", "/", "/61", "/61/command/notify", "/61/command/notify/", "//command/notify/61",
        "/6/command/notify/61", "/61/command/notify/6", "/zz/command/notify/61",
        "/61/command/notify/zz", "/61/command/notify/61/", "/61/command/notify/61/62",
        "/61/62/command/notify/61", "/61/Command/notify/61", "X/61/command/notify/61",
        "/61/command/notify/+"}) {
    EXPECT_FALSE(parse_notification_topic(topic_root + rest)) << rest;
  }
  EXPECT_FALSE(parse_notification_topic(""));
  EXPECT_FALSE(parse_notification_topic(request_topic));
  EXPECT_FALSE(parse_notification_topic(
      "clients/statestore/v1/fa9ae35f-2f64-47cd-9bff-08e2b32a0fe8/61/command/notify/61"));
}

TEST(StateStoreTopics, TheLongestWatchedKeyJustFitsIntoATopic) {
  const std::string id(100, 'c');
  const std::size_t longest = max_watched_key_size(id.size());
  EXPECT_EQ(longest, 32'730u - 100u);
  EXPECT_LE(notification_topic(id, std::string(longest, 'k')).size(), max_topic_size);
  EXPECT_GT(notification_topic(id, std::string(longest + 1, 'k')).size(), max_topic_size);
  EXPECT_EQ(max_watched_key_size(32'730), 0u);
  EXPECT_EQ(max_watched_key_size(65'535), 0u);
}

TEST(StateStoreTopics, ForbiddenResponseTopics) {
  const std::string longest(max_topic_size, 't');
  EXPECT_TRUE(response_topic_allowed(longest));
  EXPECT_FALSE(response_topic_allowed(longest + "t"));
  EXPECT_FALSE(response_topic_allowed(""));
  EXPECT_FALSE(response_topic_allowed("a/+/b"));
  EXPECT_FALSE(response_topic_allowed("a/#"));
  EXPECT_FALSE(response_topic_allowed("a+b"));
  EXPECT_FALSE(response_topic_allowed("a\0b"sv));
  EXPECT_FALSE(response_topic_allowed("a\xff"));
  EXPECT_FALSE(response_topic_allowed("\xed\xa0\x80"));  // a surrogate
  EXPECT_FALSE(response_topic_allowed(request_topic));
  EXPECT_FALSE(response_topic_allowed(inspection_topic));
  EXPECT_FALSE(response_topic_allowed(topic_root));
  EXPECT_FALSE(response_topic_allowed(topic_root + "/61/command/notify/61"));
  EXPECT_FALSE(response_topic_allowed(topic_root + "more"));
}

TEST(StateStoreTopics, EveryOtherResponseTopicIsAllowed) {
  EXPECT_TRUE(response_topic_allowed("x"));
  EXPECT_TRUE(response_topic_allowed("$SYS/x"));
  EXPECT_TRUE(response_topic_allowed(std::string(request_topic) + "/response"));
  EXPECT_TRUE(response_topic_allowed("clients/statestore/v1/fa9ae35f-2f64-47cd-9bff-08e2b32a0fe8"));
  EXPECT_TRUE(response_topic_allowed(topic_root.substr(0, topic_root.size() - 1)));
  EXPECT_TRUE(response_topic_allowed("r\xc3\xa9ponse"));
}

TEST(StateStoreTopics, TheNotificationTreeIsRecognised) {
  EXPECT_TRUE(in_notification_tree(topic_root + "/61/command/notify/61"));
  EXPECT_TRUE(in_notification_tree(topic_root));
  EXPECT_FALSE(in_notification_tree(request_topic));
}

}  // namespace
}  // namespace sheaf::protocol::statestore
