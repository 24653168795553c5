// A server that changes while its connection continues.

#include <gtest/gtest.h>

#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

SessionOptions asking_often() {
  SessionOptions options = test_options();
  options.identity_interval = 1s;
  return options;
}

std::string hello_as(std::string_view role, std::string_view mode = "standalone") {
  return "%4\r\n+server\r\n+redis\r\n+proto\r\n:3\r\n+role\r\n+" + std::string(role) +
         "\r\n+mode\r\n+" + std::string(mode) + "\r\n";
}

// A session that is ready, with the server in this role.
std::unique_ptr<Wire> greeted(std::string_view role, std::string_view mode = "standalone",
                              bool readonly = false) {
  SessionOptions options = asking_often();
  options.handshake.readonly = readonly;
  auto wire = std::make_unique<Wire>(options);
  wire->session.start(wire->now());
  wire->take();
  wire->feed(hello_as(role, mode));
  wire->take();
  const std::string id = mode == "cluster" ? bulk(server_id) : std::string();
  wire->feed("+OK\r\n+OK\r\n" + id + (readonly ? "+OK\r\n" : "") + "+PONG\r\n");
  EXPECT_EQ(wire->next().kind, Event::Kind::ready);
  return wire;
}

bool is_outdated(Wire& wire) {
  wire.poll();
  bool outdated = false;
  while (!wire.events.empty()) outdated |= wire.next().kind == Event::Kind::outdated;
  return outdated;
}

TEST(RespIdentity, APrimaryIsAskedForItsRoleOnceASecondWhileThereAreRequests) {
  const auto wire = greeted("master");
  EXPECT_EQ(wire->ask(get("k"), bulk("v")).value, "v");
  EXPECT_EQ(wire->written, "GET k");
  wire->elapsed += 900ms;
  wire->ask(get("k"), bulk("v"));
  EXPECT_EQ(wire->written, "GET k");
  wire->elapsed += 1s;
  EXPECT_EQ(wire->ask(get("k"), hello_as("master") + bulk("v")).value, "v");
  EXPECT_EQ(wire->written, "HELLO; GET k");
  EXPECT_FALSE(is_outdated(*wire));
  wire->ask(get("k"), bulk("v"));
  EXPECT_EQ(wire->written, "GET k");
  EXPECT_TRUE(wire->session.clean());
}

TEST(RespIdentity, APrimaryThatBecameAReplicaIsReportedAndServesOn) {
  const auto wire = greeted("master");
  wire->ask(get("k"), bulk("v"));
  wire->elapsed += 1s;
  EXPECT_EQ(wire->ask(get("k"), hello_as("slave") + bulk("v")).kind, Event::Kind::outdated);
  EXPECT_EQ(wire->next().value, "v");
  EXPECT_TRUE(wire->session.ready());
  EXPECT_FALSE(is_outdated(*wire)) << "once";
}

TEST(RespIdentity, ReadonlyInAnswerToAWriteIsReportedAfterIt) {
  const auto wire = greeted("replica");
  const Seen refused = wire->ask(set("k", "v"), "-READONLY You can't write against it\r\n");
  EXPECT_EQ(refused.redirect, Whereto{}) << "to be sent again";
  EXPECT_TRUE(is_outdated(*wire));
  EXPECT_TRUE(wire->session.ready());
}

TEST(RespIdentity, AReplicaFromTheBeginningIsNotAsked) {
  const auto wire = greeted("replica");
  wire->ask(get("k"), bulk("v"));
  wire->elapsed += 5s;
  wire->ask(get("k"), bulk("v"));
  EXPECT_EQ(wire->written, "GET k");
}

TEST(RespIdentity, AConnectionForReadsOnAReplicaIsNotAsked) {
  const auto wire = greeted("slave", "cluster", true);
  wire->ask(get("k"), bulk("v"));
  wire->elapsed += 5s;
  wire->ask(get("k"), bulk("v"));
  EXPECT_EQ(wire->written, "GET k");
}

TEST(RespIdentity, AServerThatWasPutIntoAnotherClusterIsReported) {
  const auto wire = greeted("master", "cluster");
  EXPECT_EQ(wire->session.peer().id, server_id);
  wire->ask(get("k"), bulk("v"));
  wire->elapsed += 1s;
  wire->ask(get("k"), bulk(server_id) + bulk("v"));
  EXPECT_EQ(wire->written, "CLUSTER MYID; GET k");
  EXPECT_FALSE(is_outdated(*wire));
  wire->elapsed += 1s;
  wire->submit(get("k"));
  wire->take();
  wire->feed(bulk("another") + bulk("foreign"));
  EXPECT_TRUE(is_outdated(*wire));
}

TEST(RespIdentity, WhoMayNotAskAsksOnce) {
  const auto wire = greeted("master");
  wire->ask(get("k"), bulk("v"));
  wire->elapsed += 1s;
  EXPECT_EQ(wire->ask(get("k"), "-NOPERM no\r\n" + bulk("v")).value, "v");
  wire->elapsed += 5s;
  wire->ask(get("k"), bulk("v"));
  EXPECT_EQ(wire->written, "GET k");
  EXPECT_FALSE(is_outdated(*wire));
}

TEST(RespIdentity, AnAnswerOfAnotherTypeEndsTheConnection) {
  for (const std::string_view reply : {"+OK\r\n", ":1\r\n", "$2\r\nab\r\n", "_\r\n"}) {
    const auto wire = greeted("master");
    wire->ask(get("k"), bulk("v"));
    wire->elapsed += 1s;
    wire->submit(get("k"));
    wire->take();
    wire->feed(reply);
    EXPECT_EQ(wire->end().reason, Reason::protocol_error) << reply;
  }
}

TEST(RespIdentity, ThePeerIsWhatItSaysItIs) {
  const Peer redis = ReadyWire(Server::redis).session.peer();
  EXPECT_EQ(redis.software, "Redis 7.0.15");
  EXPECT_EQ(redis.id, "");
  EXPECT_EQ(redis.role, ServerRole::primary);
  EXPECT_EQ(ReadyWire(Server::garnet).session.peer().software, "Garnet 2.2.8");
  EXPECT_EQ(ReadyWire(Server::unknown).session.peer().software, "");
  EXPECT_EQ(ReadyWire(Server::unknown).session.peer().role, ServerRole::unknown);
}

}  // namespace
}  // namespace sheaf::protocol::resp
