// The whole server, as bytes: sessions, engine, and messages between clients.

#include "store/server/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "protocol/statestore/topics.h"
#include "tests/store/server/host_client.h"

namespace sheaf::store::server::test {
namespace {

constexpr const char* written_payload =
    "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$1\r\nv\r\n";
constexpr const char* deleted_payload = "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n";

TEST(Host, AnswersARequestWithTheDocumentedBytes) {
  Host host{HostOptions{}};
  HostClient client(host, "client-id1");
  EXPECT_TRUE(client.read().empty());
  const std::string topic =
      statestore::response_topic(statestore::ResponseTopicForm::dotnet, "client-id1");
  client.send(publish(1, 2, statestore::request_topic, command({"SET", "key", "value"}),
                      client.request_properties(topic, std::string(16, '\xAC'))));
  const auto answers = client.read();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].topic, topic);
  EXPECT_EQ(answers[0].payload, "+OK\r\n");
  EXPECT_EQ(answers[0].qos, 1);
  EXPECT_EQ(answers[0].properties.correlation_data, std::string(16, '\xAC'));
  EXPECT_EQ(answers[0].properties.content_type, "application/octet-stream");
  const auto user = answers[0].properties.user();
  EXPECT_EQ(user.find("__stat"), "200");
  EXPECT_EQ(user.find("__protVer"), "1.0");
  EXPECT_EQ(user.find("__srcId"), "StateStore");
  EXPECT_EQ(user.find("__ts"), "001696374425000:00001:StateStore");
  // CONNACK, then PUBACK 0x00, sent before the answer.
  ASSERT_EQ(client.control.size(), 2u);
  EXPECT_EQ(client.control[1].bytes, std::string("\x40\x02\0\x02", 4));
}

TEST(Host, ServesSeveralClientsFromOneStore) {
  Host host{HostOptions{}};
  HostClient one(host, "one");
  HostClient two(host, "two");
  EXPECT_EQ(one.ask({"SET", "key", "value"}), "+OK\r\n");
  EXPECT_EQ(two.ask({"GET", "key"}), "$5\r\nvalue\r\n");
  EXPECT_EQ(two.ask({"SET", "key", "value", "NX"}), ":-1\r\n");
  EXPECT_EQ(two.ask({"DEL", "key"}), ":1\r\n");
  EXPECT_EQ(one.ask({"GET", "key"}), "$-1\r\n");
  EXPECT_EQ(host.engine().counters().requests, 5u);
}

TEST(Host, AnswersQuestionsAboutItself) {
  Host host{HostOptions{}};
  HostClient one(host, "one");
  HostClient two(host, "two");
  EXPECT_EQ(one.ask({"SET", "key", "value"}), "+OK\r\n");
  const std::string stats = two.ask({"STATS"}, statestore::inspection_topic);
  EXPECT_TRUE(stats.contains("\nkeys 1\n")) << stats;
  EXPECT_TRUE(stats.contains("\nclients 2\n")) << stats;
  EXPECT_EQ(two.ask({"GET", "key"}, statestore::inspection_topic), "-ERR unknown command\r\n");
  EXPECT_EQ(two.control.back().bytes, std::string("\x40\x02\0\x02", 4)) << "PUBACK 0x00";
}

TEST(Host, PushesNotificationsToWatchersAndNamesThemReady) {
  Host host{HostOptions{}};
  HostClient watcher(host, "watcher");
  HostClient writer(host, "writer");
  EXPECT_EQ(watcher.ask({"KEYNOTIFY", "key"}), "+OK\r\n");
  while (host.poll_ready() != nullptr) {
  }
  writer.request({"SET", "key", "v"}, "1");
  std::vector<Host::Connection*> ready;
  while (Host::Connection* next = host.poll_ready()) ready.push_back(next);
  EXPECT_THAT(ready, testing::UnorderedElementsAre(&watcher.connection(), &writer.connection()));
  const auto seen = watcher.read();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].payload, written_payload);
  EXPECT_EQ(seen[0].topic, statestore::notification_topic("watcher", "key"));
  EXPECT_TRUE(seen[0].properties.user().find("__ts"));
  EXPECT_EQ(writer.read().size(), 1u);
}

TEST(Host, PushesOnlyToSubscribersInThatMode) {
  HostOptions options;
  options.engine.notify = NotifyMode::subscribed;
  Host host(options);
  HostClient watcher(host, "watcher");
  HostClient writer(host, "writer");
  EXPECT_EQ(watcher.ask({"KEYNOTIFY", "key"}), "+OK\r\n");
  EXPECT_EQ(writer.ask({"SET", "key", "v"}), "+OK\r\n");
  EXPECT_TRUE(watcher.payloads().empty());
  watcher.send(subscribe(9, {statestore::notification_filter("watcher")}, 0));
  EXPECT_EQ(writer.ask({"SET", "key", "v"}), "+OK\r\n");
  const auto seen = watcher.read();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].qos, 0);  // as granted
}

TEST(Host, ExpiresAtItsDeadlineWithoutAnyAccess) {
  Host host{HostOptions{}};
  HostClient client(host, "client");
  EXPECT_EQ(client.ask({"KEYNOTIFY", "key"}), "+OK\r\n");
  EXPECT_EQ(client.ask({"SET", "key", "v", "PX", "1500"}), "+OK\r\n");
  EXPECT_THAT(client.payloads(), testing::ElementsAre(written_payload));
  EXPECT_EQ(host.next_deadline(), at(1500).mono);
  host.tick(at(1499));
  EXPECT_TRUE(client.payloads().empty());
  host.tick(at(1500));
  EXPECT_NE(host.poll_ready(), nullptr);
  EXPECT_THAT(client.payloads(), testing::ElementsAre(deleted_payload));
  EXPECT_EQ(host.next_deadline(), std::nullopt);
}

TEST(Host, ForgetsWatchesWithTheConnection) {
  Host host{HostOptions{}};
  HostClient writer(host, "writer");
  {
    HostClient watcher(host, "watcher");
    EXPECT_EQ(watcher.ask({"KEYNOTIFY", "key"}), "+OK\r\n");
    watcher.close();
    host.release(watcher.connection());
  }
  EXPECT_EQ(writer.ask({"SET", "key", "v"}), "+OK\r\n");
  HostClient again(host, "watcher");
  EXPECT_EQ(writer.ask({"SET", "key", "v"}), "+OK\r\n");
  EXPECT_TRUE(again.payloads().empty());
  EXPECT_EQ(again.ask({"KEYNOTIFY", "key", "STOP"}), ":0\r\n");
  EXPECT_EQ(host.connections(), 2u);
}

TEST(Host, ReleaseWithoutAnEndForgetsWatchesToo) {
  Host host{HostOptions{}};
  HostClient watcher(host, "watcher");
  EXPECT_EQ(watcher.ask({"KEYNOTIFY", "key"}), "+OK\r\n");
  host.release(watcher.connection());
  HostClient again(host, "watcher");
  EXPECT_EQ(again.ask({"KEYNOTIFY", "key", "STOP"}), ":0\r\n");
}

TEST(Host, GivesAClientIdToTheLatestConnection) {
  Host host{HostOptions{}};
  HostClient old(host, "same");
  EXPECT_EQ(old.ask({"KEYNOTIFY", "key"}), "+OK\r\n");
  HostClient taker(host, "same");
  EXPECT_EQ(old.disconnect_code(), ReasonCode::session_taken_over);
  EXPECT_TRUE(old.connection().closed());
  EXPECT_EQ(taker.ask({"SET", "key", "v"}), "+OK\r\n");
  EXPECT_TRUE(taker.payloads().empty());
  host.release(old.connection());  // the end of the old one must not end the new one
  EXPECT_EQ(taker.ask({"KEYNOTIFY", "key"}), "+OK\r\n");
  EXPECT_EQ(taker.ask({"SET", "key", "v"}), "+OK\r\n");
  EXPECT_THAT(taker.payloads(), testing::ElementsAre(written_payload));
}

TEST(Host, NamesClientsThatBringNoName) {
  Host host{HostOptions{}};
  HostClient first(host, "");
  HostClient second(host, "");
  first.read();
  second.read();
  EXPECT_NE(first.connection().session().client_id(), second.connection().session().client_id());
  EXPECT_TRUE(first.connection().session().open());
}

TEST(Host, EndsTheConnectionForAForbiddenResponseTopic) {
  Host host{HostOptions{}};
  for (const std::string& topic :
       {std::string(statestore::request_topic), std::string(statestore::notification_root),
        std::string(statestore::notification_root) + "/x", std::string("a/+"), std::string("#")}) {
    HostClient client(host, "client");
    client.send(publish(1, 1, statestore::request_topic, command({"SET", "key", "v"}),
                        client.request_properties(topic, "c")));
    EXPECT_EQ(client.disconnect_code(), ReasonCode::protocol_error) << topic;
    EXPECT_TRUE(client.connection().closed());
    host.release(client.connection());
  }
  HostClient client(host, "client");
  EXPECT_EQ(client.ask({"GET", "key"}), "$-1\r\n");
}

TEST(Host, RefusesForgedNotificationsAndRoutesNothing) {
  Host host{HostOptions{}};
  HostClient other(host, "other");
  other.send(subscribe(1, {"#"}));
  other.read();
  HostClient client(host, "client");
  client.read();
  client.control.clear();
  client.send(publish(1, 1, statestore::notification_topic("other", "key"), deleted_payload) +
              publish(0, 0, statestore::notification_topic("other", "key"), deleted_payload) +
              publish(1, 2, "some/topic", "hello") + publish(0, 0, "some/topic", "hello"));
  client.read();
  ASSERT_EQ(client.control.size(), 2u);
  EXPECT_EQ(client.control[0].bytes, std::string("\x40\x03\0\x01\x87", 5));
  EXPECT_EQ(client.control[1].bytes, std::string("\x40\x03\0\x02\x10", 5));
  EXPECT_TRUE(other.payloads().empty());
}

TEST(Host, AnswersASyntaxErrorToOtherShapesOfRequests) {
  Host host{HostOptions{}};
  HostClient client(host, "client");
  client.send(publish(0, 0, statestore::request_topic, command({"SET", "key", "v"}),
                      client.request_properties("r", "c")));
  EXPECT_THAT(client.payloads(), testing::ElementsAre("-ERR syntax error\r\n"));
  client.send(publish(1, 1, statestore::request_topic, command({"SET", "key", "v"}),
                      client.request_properties("r", "")));
  EXPECT_THAT(client.payloads(), testing::ElementsAre("-ERR syntax error\r\n"));
  client.send(publish(1, 2, statestore::request_topic, command({"SET", "key", "v"})));
  EXPECT_TRUE(client.payloads().empty());
  EXPECT_EQ(client.ask({"GET", "key"}), "$-1\r\n");
  EXPECT_EQ(host.engine().counters().dropped, 1u);
}

TEST(Host, ExecutesARepeatedRequestOnce) {
  Host host{HostOptions{}};
  HostClient client(host, "client");
  client.request({"SET", "key", "v", "NX"}, "same");
  client.request({"SET", "key", "v", "NX"}, "same");
  EXPECT_THAT(client.payloads(), testing::ElementsAre("+OK\r\n", "+OK\r\n"));
  EXPECT_EQ(host.engine().counters().executed_writes, 1u);
}

TEST(Host, ChecksUserAndPassword) {
  HostOptions options;
  options.logins.user = "alice";
  options.logins.password = "secret";
  Host host(options);
  const auto try_connect = [&](std::optional<std::string_view> user,
                               std::optional<std::string_view> password) {
    mqtt5::Connect packet;
    packet.client_id = "client";
    packet.user = user;
    packet.password = password;
    Host::Connection* const connection = host.connect(at(0));
    const std::string input = bytes(packet);
    feed(*connection, input, at(0), SIZE_MAX, [] {});
    const auto replies = packets(take(*connection, at(0)));
    const ReasonCode code = mqtt5::Connack::parse(replies.at(0).frame, replies.at(0).bytes)->code;
    EXPECT_EQ(connection->closed(), code != ReasonCode::success);
    host.release(*connection);
    return code;
  };
  EXPECT_EQ(try_connect("alice", "secret"), ReasonCode::success);
  EXPECT_EQ(try_connect("alice", "secrets"), ReasonCode::bad_user_name_or_password);
  EXPECT_EQ(try_connect("alice", "secre"), ReasonCode::bad_user_name_or_password);
  EXPECT_EQ(try_connect("alice", ""), ReasonCode::bad_user_name_or_password);
  EXPECT_EQ(try_connect("alice", std::nullopt), ReasonCode::bad_user_name_or_password);
  EXPECT_EQ(try_connect("Alice", "secret"), ReasonCode::bad_user_name_or_password);
  EXPECT_EQ(try_connect("", "secret"), ReasonCode::bad_user_name_or_password);
  EXPECT_EQ(try_connect(std::nullopt, std::nullopt), ReasonCode::bad_user_name_or_password);
}

// A connection of client "c" with these authentication properties, and the server's answers.
struct Authenticated {
  Authenticated(Host& host, std::string_view method, std::string_view token)
      : connection(host.connect(at(0))) {
    const std::string sent = bytes_of(method, token);
    mqtt5::Connect packet;
    packet.client_id = "c";
    packet.properties.raw = sent;
    send(bytes(packet));
    code = mqtt5::Connack::parse(replies.at(0).frame, replies.at(0).bytes)->code;
  }
  void renew(std::string_view method, std::string_view token) {
    const std::string sent = bytes_of(method, token);
    mqtt5::Auth packet;
    packet.code = ReasonCode::reauthenticate;
    packet.properties.raw = sent;
    send(bytes(packet));
  }
  void send(const std::string& input) {
    feed(*connection, input, at(0), SIZE_MAX, [] {});
    read();
  }
  void read() { replies = packets(take(*connection, at(0))); }
  static std::string bytes_of(std::string_view method, std::string_view token) {
    return properties([&](auto& p) {
      if (!method.empty()) p.text(PropertyId::authentication_method, method);
      if (!token.empty()) p.text(PropertyId::authentication_data, token);
    });
  }

  Host::Connection* connection;
  std::vector<Packet> replies;
  ReasonCode code;
};

HostOptions with_tokens() {
  HostOptions options;
  options.logins.method = "K8S-SAT";
  return options;
}

TEST(Host, ATokenOfItsMethodIsWhatLetsAClientIn) {
  Host host(with_tokens());
  host.allow("t1");
  EXPECT_EQ(Authenticated(host, "K8S-SAT", "t1").code, ReasonCode::success);
  EXPECT_EQ(Authenticated(host, "K8S-SAT", "t2").code, ReasonCode::not_authorized);
  EXPECT_EQ(Authenticated(host, "K8S-SAT", "").code, ReasonCode::not_authorized);
  EXPECT_EQ(Authenticated(host, "SCRAM", "t1").code, ReasonCode::bad_authentication_method);
  EXPECT_EQ(Authenticated(host, "", "").code, ReasonCode::not_authorized);
  Host without{HostOptions{}};
  EXPECT_EQ(Authenticated(without, "SCRAM", "").code, ReasonCode::bad_authentication_method);
}

TEST(Host, ATokenThatEndsTakesWithItWhoHasNotRenewedIt) {
  Host host(with_tokens());
  host.allow("t1");
  host.allow("t2");
  Authenticated client(host, "K8S-SAT", "t1");
  client.renew("K8S-SAT", "t2");
  EXPECT_EQ(client.replies.at(0).type(), PacketType::auth);
  EXPECT_EQ(host.forbid("t1"), 0u);
  EXPECT_TRUE(client.connection->session().open());
  EXPECT_EQ(host.forbid("t2"), 1u);
  EXPECT_EQ(host.poll_ready(), client.connection);
  client.read();
  EXPECT_EQ(mqtt5::Disconnect::parse(client.replies.at(0).frame, client.replies.at(0).bytes)->code,
            ReasonCode::not_authorized);
}

TEST(Host, ATokenThatIsNotAcceptedEndsTheConnection) {
  Host host(with_tokens());
  host.allow("t1");
  Authenticated client(host, "K8S-SAT", "t1");
  client.renew("K8S-SAT", "t2");
  EXPECT_EQ(client.replies.at(0).type(), PacketType::disconnect);
  EXPECT_TRUE(client.connection->closed());
}

TEST(Host, AWrongPasswordDoesNotTakeASessionOver) {
  HostOptions options;
  options.logins.user = "alice";
  options.logins.password = "secret";
  Host host(options);
  mqtt5::Connect packet;
  packet.client_id = "client";
  packet.user = "alice";
  packet.password = "secret";
  Host::Connection* const good = host.connect(at(0));
  std::string input = bytes(packet);
  feed(*good, input, at(0), SIZE_MAX, [] {});
  packet.password = "guess";
  Host::Connection* const bad = host.connect(at(0));
  input = bytes(packet);
  feed(*bad, input, at(0), SIZE_MAX, [] {});
  EXPECT_TRUE(good->session().open());
  EXPECT_FALSE(bad->session().open());
}

TEST(Host, TakesNoMoreConnectionsThanItsBound) {
  HostOptions options;
  options.max_connections = 2;
  Host host(options);
  Host::Connection* const first = host.connect(at(0));
  EXPECT_NE(host.connect(at(0)), nullptr);
  EXPECT_EQ(host.connect(at(0)), nullptr);
  host.release(*first);
  EXPECT_NE(host.connect(at(0)), nullptr);
}

TEST(Host, EndsSilentClientsInTime) {
  Host host{HostOptions{}};
  Host::Connection* const silent = host.connect(at(0));
  EXPECT_EQ(host.next_deadline(), at(10'000).mono);
  host.tick(at(10'000));
  EXPECT_TRUE(silent->closed());
  EXPECT_EQ(host.poll_ready(), silent);
  EXPECT_EQ(host.poll_ready(), nullptr);
}

TEST(Host, ATickLooksOnlyAtTheClientsThatAreDue) {
  Host host{HostOptions{}};
  for (int i = 0; i < 1'000; ++i) {
    host.connect(at(i));
    host.tick(at(i));
  }
  EXPECT_EQ(host.examined(), 0u);
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_EQ(host.next_deadline(), at(10'000 + i).mono);
    host.tick(at(10'000 + i));
  }
  EXPECT_EQ(host.examined(), 1'000u);
  EXPECT_EQ(host.next_deadline(), std::nullopt);
}

TEST(Host, CarriesTenMebibytesAndBinaryKeysInSmallPieces) {
  Host host{HostOptions{}};
  HostClient client(host, "client");
  std::string key;
  for (int c = 0; c < 256; ++c) key += static_cast<char>(c);
  std::string value(10u << 20, '\0');
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * 31 >> 3);
  const std::string set = publish(1, 1, statestore::request_topic, command({"SET", key, value}),
                                  client.request_properties("r", "c"));
  feed(client.connection(), set, at(0), 1460, [] {});
  EXPECT_THAT(client.payloads(), testing::ElementsAre("+OK\r\n"));
  client.request({"GET", key}, "d");
  const auto answers = packets(take(client.connection(), at(0), 1460));
  ASSERT_EQ(answers.size(), 2u);
  const auto read = mqtt5::Publish::parse(answers[1].frame, answers[1].bytes);
  EXPECT_TRUE(read->payload == "$10485760\r\n" + value + "\r\n");
}

TEST(Host, AFloodOfRequestsByAClientThatDoesNotReadStopsAtABound) {
  HostOptions options;
  options.session.pause_above = 10'000;
  Host host(options);
  HostClient client(host, "client");
  EXPECT_EQ(client.ask({"SET", "key", std::string(1000, 'v')}), "+OK\r\n");
  std::string flood;
  for (std::uint16_t id = 1; id <= 1000; ++id) {
    flood += publish(1, id, statestore::request_topic, command({"GET", "key"}),
                     client.request_properties("r", "c" + std::to_string(id)));
  }
  feed(client.connection(), flood, at(0), SIZE_MAX, [] {});
  EXPECT_LE(as_text(client.connection().poll_output()[0]).size(), 15'000u);
  EXPECT_LT(host.engine().counters().requests, 20u);
}

TEST(Host, RefusesAWatchThatNoTopicCanName) {
  Host host{HostOptions{}};
  HostClient client(host, std::string(32'000, 'i'));
  const std::string key(1'000, 'k');
  EXPECT_EQ(client.ask({"KEYNOTIFY", key}), "-ERR syntax error\r\n");
  EXPECT_EQ(client.ask({"SET", key, "v"}), "+OK\r\n");
  EXPECT_TRUE(client.payloads().empty());
}

// Two clients, one of which sends damaged bytes. The other must not notice.
TEST(Host, DamagedConversationsHurtOnlyTheirSender) {
  Host host{HostOptions{}};
  HostClient good(host, "good");
  EXPECT_EQ(good.ask({"SET", "key", "value"}), "+OK\r\n");
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    Host::Connection* const bad = host.connect(at(round));
    std::string input = connect("bad") + subscribe(1, {"clients/#"}) +
                        publish(1, 2, statestore::request_topic, command({"GET", "key"}),
                                good.request_properties("clients/bad/r", "correlation")) +
                        publish(1, 3, statestore::request_topic, command({"KEYNOTIFY", "other"}),
                                good.request_properties("clients/bad/r", "correlation"));
    for (std::uint64_t i = random.below(3); i > 0; --i) {
      input[random.below(input.size())] = static_cast<char>(random.below(256));
    }
    feed(*bad, input, at(round), 1 + random.below(200), [] {});
    if (random.below(2) == 0) take(*bad, at(round));
    if (random.below(2) == 0) bad->on_eof(at(round));
    host.release(*bad);
  }
  good.set_time(3000);
  EXPECT_EQ(good.ask({"GET", "key"}), "$5\r\nvalue\r\n");
  EXPECT_EQ(host.connections(), 1u);
}

}  // namespace
}  // namespace sheaf::store::server::test
