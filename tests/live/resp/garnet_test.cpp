// The same with real garnet-servers, where they are installed. A server takes a second to start.

#include <gtest/gtest.h>

#include <string>

#include "protocol/resp/server_error.h"
#include "tests/support/garnet_process.h"
#include "tests/support/resp_connection.h"

namespace sheaf::test {
namespace {

using protocol::resp::ErrorKind;
using protocol::resp::Handshake;
using protocol::resp::HandshakeOptions;
using protocol::resp::ServerError;
using protocol::resp::Software;

TEST(GarnetServer, TheHandshakeAndItsErrors) {
  if (!garnet_server()) GTEST_SKIP() << no_garnet;
  RespProcessOptions options;
  options.password = "s3cret";
  const GarnetProcess server(options);
  const auto greeted = [&](const HandshakeOptions& as) {
    RespConnection connection(server.port());
    const Handshake handshake = connection.greet(as);
    if (handshake.state() != Handshake::State::ready) return handshake.failure().text;
    EXPECT_EQ(handshake.server().software, Software::garnet);
    EXPECT_EQ(handshake.server().protocol, 3);
    EXPECT_TRUE(handshake.server().version);
    return connection.text({"SET", "k", "v"});
  };
  EXPECT_EQ(greeted({.password = "s3cret"}), "+OK");
  EXPECT_EQ(greeted({.password = "wrong"}), "the server refused AUTH: WRONGPASS Invalid password");
  // Garnet answers HELLO before a login. What comes then tells.
  EXPECT_EQ(greeted({}), "the server refused CLIENT SETINFO: NOAUTH Authentication required.");

  RespConnection connection(server.port());
  ASSERT_EQ(connection.text({"AUTH", "s3cret"}), "+OK");
  const auto kind = [&](const RespConnection::Words& command) {
    return ServerError::parse(connection.ask(command).root().text()).kind;
  };
  EXPECT_EQ(connection.text({"RPUSH", "list", "v"}), "1");
  EXPECT_EQ(kind({"GET", "list"}), ErrorKind::wrong_type);
  EXPECT_EQ(kind({"FOO"}), ErrorKind::unknown_command);
  EXPECT_EQ(kind({"SET", "k"}), ErrorKind::wrong_arguments);
  EXPECT_EQ(kind({"INCR", "k"}), ErrorKind::bad_number);
  EXPECT_EQ(kind({"SETIFMATCH", "k", "v", "-1"}), ErrorKind::bad_etag);
  EXPECT_EQ(kind({"EVAL", "return 1", "0"}), ErrorKind::scripts_disabled);
  EXPECT_EQ(kind({"CLUSTER", "NODES"}), ErrorKind::cluster_disabled);
  EXPECT_EQ(kind({"HELLO", "9"}), ErrorKind::no_proto);
}

}  // namespace
}  // namespace sheaf::test
