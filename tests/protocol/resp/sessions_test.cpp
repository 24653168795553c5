// The sessions of a cluster follow its configuration.

#include "protocol/resp/sessions.h"

#include <gtest/gtest.h>

#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

ClusterConfig configured() {
  ClusterConfig config;
  config.kind = EndpointKind::redis;
  config.nodes = {{.host = "one"}};
  config.user = "ann";
  config.password = "secret";
  config.value_limit = 1'000;
  config.max_in_flight = 7;
  config.keep_alive = 3s;
  config.timeout = 4s;
  return config;
}

std::string exchange(Session& session, std::string_view bytes, Now now) {
  const std::span<std::byte> space = session.input_space();
  std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), space.begin());
  session.on_input(bytes.size(), now);
  Event event;
  while (session.poll_event(event)) {
  }
  return commands_of(take_output(session, now, static_cast<std::size_t>(-1)));
}

TEST(RespSessions, TakeWhatTheConfigurationSays) {
  const Now now{1h, 0ms};
  RespSessions sessions(configured());
  sessions.set_login(login_of(configured()));
  const std::unique_ptr<Session> session = sessions.make(0, SessionUse::requests, now);
  session->start(now);
  EXPECT_EQ(session->poll_deadline(), now.mono + 4s);
  EXPECT_EQ(commands_of(take_output(*session, now, 1'000)), "AUTH ann secret");
  EXPECT_EQ(exchange(*session, "+OK\r\n", now), "HELLO 3");
  exchange(*session, live::garnet_hello_resp3, now);
  exchange(*session, last_of(Server::garnet), now);
  EXPECT_EQ(session->room(), 7u);
  EXPECT_EQ(session->poll_deadline(), now.mono + 3s);
  const std::string large(1'001, 'v');
  EXPECT_EQ(session->submit(set("k", large), now).error().reason, Reason::too_large);
}

TEST(RespSessions, TakeBatchesOfAllKeysThatTheyTakeAlone) {
  const RespSessions sessions(configured());
  EXPECT_TRUE(sessions.takes_batches("k"));
  EXPECT_TRUE(sessions.takes_batches("a key\r\n"));
  EXPECT_FALSE(sessions.takes_batches(""));
  EXPECT_TRUE(sessions.takes_batches(std::string(8'192, 'k')));
  EXPECT_FALSE(sessions.takes_batches(std::string(8'193, 'k')));
}

}  // namespace
}  // namespace sheaf::protocol::resp
