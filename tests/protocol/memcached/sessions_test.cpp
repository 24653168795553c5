// The sessions of a cluster, and how they detect the protocol of its servers.

#include "protocol/memcached/sessions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/protocol/freed_memory.h"
#include "tests/protocol/memcached/session_harness.h"

namespace sheaf::protocol::memcached {
namespace {

class Negotiating : public testing::Test {
 protected:
  static ClusterConfig cluster(std::string user) {
    ClusterConfig config;
    config.kind = EndpointKind::memcached;
    config.nodes = {{.host = "one"}, {.host = "two"}};
    config.user = std::move(user);
    config.password = config.user.empty() ? "" : "secret";
    return config;
  }

  static std::unique_ptr<SessionFactory> sessions_of(const ClusterConfig& config) {
    auto sessions = std::make_unique<MemcachedSessions>(config);
    sessions->set_login(login_of(config));
    return sessions;
  }

  // Opens a new connection. Returns what it writes first.
  std::string begin(unsigned node = 0) {
    session = sessions->make(node, SessionUse::requests, now);
    session->start(now);
    return written();
  }
  std::string written() {
    std::string bytes;
    for (const Bytes part : session->poll_output()) bytes += as_text(part);
    session->on_output(bytes.size(), now);
    return bytes;
  }
  // Returns the last event that the bytes cause.
  Event feed(std::string_view bytes) {
    const std::span<std::byte> space = session->input_space();
    std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), space.begin());
    session->on_input(bytes.size(), now);
    return last_event();
  }
  Event last_event() {
    Event event;
    event.kind = Event::Kind::item;  // no event
    while (session->poll_event(event)) {
    }
    return event;
  }
  void expect_end(bool renegotiates) {
    EXPECT_TRUE(session->closed());
    EXPECT_EQ(session->close_reason().renegotiates, renegotiates) << session->close_reason().text;
  }
  static bool is_binary(std::string_view bytes) { return bytes.starts_with('\x80'); }

  Now now{1h, 1'700'000'000'000ms};
  ClusterConfig config = cluster("");
  std::unique_ptr<SessionFactory> sessions = sessions_of(config);
  std::unique_ptr<Session> session;
};

TEST_F(Negotiating, AServerThatKnowsNoMetaIsSpokenToInBinaryFromThenOn) {
  EXPECT_EQ(begin(), "version\r\n");
  EXPECT_EQ(session->poll_deadline(), now.mono + config.connect_timeout * 3 / 4);
  session->on_eof(now);
  EXPECT_EQ(last_event().kind, Event::Kind::closed);
  expect_end(true);
  EXPECT_TRUE(is_binary(begin()));
  feed(binary_version(1));
  written();
  EXPECT_EQ(feed(binary_no_op(2)).kind, Event::Kind::ready);
  EXPECT_TRUE(session->ready());
  session->on_eof(now);
  last_event();
  expect_end(false);
  EXPECT_TRUE(is_binary(begin()));
  EXPECT_GT(*session->poll_deadline(), now.mono + config.connect_timeout * 3 / 4) << "proven";
  EXPECT_EQ(begin(1), "version\r\n") << "another server";
}

TEST_F(Negotiating, ANodeThatHasLeftIsForgottenForItsIndexMayBeThatOfAnotherServer) {
  begin(7);
  session->on_eof(now);
  last_event();
  expect_end(true);
  EXPECT_TRUE(is_binary(begin(7)));
  session.reset();
  sessions->forget(7);
  EXPECT_EQ(begin(7), "version\r\n");
}

TEST_F(Negotiating, ASilentServerIsToBlameAfterBothWays) {
  for (const bool renegotiates : {true, false}) {
    begin();
    now.mono = *session->poll_deadline();
    session->on_deadline(now);
    EXPECT_EQ(last_event().kind, Event::Kind::closed);
    expect_end(renegotiates);
  }
}

TEST_F(Negotiating, APasswordIsShownOnlyAfterTheServerHasAnsweredAQuestion) {
  config = cluster("user");
  sessions = sessions_of(config);
  const std::string question = begin();
  EXPECT_TRUE(is_binary(question));
  EXPECT_TRUE(question.ends_with('\n'));
  EXPECT_EQ(feed("CLIENT_ERROR unauthenticated\r\n").kind, Event::Kind::closed);
  expect_end(true);
  EXPECT_EQ(session->close_reason().text,
            "the connection only had to find out which log-in the server takes");
  EXPECT_EQ(begin(), "version\r\n");
  feed("CLIENT_ERROR unauthenticated\r\n");
  EXPECT_EQ(written(), "set login 0 0 11\r\nuser secret\r\n");
}

TEST_F(Negotiating, AServerThatAnswersAQuestionInBinaryTakesSasl) {
  config = cluster("user");
  sessions = sessions_of(config);
  begin();
  EXPECT_EQ(feed(binary_version(1)).kind, Event::Kind::closed);
  EXPECT_FALSE(session->ready());
  EXPECT_EQ(session->room(), 0u);
  expect_end(true);
  EXPECT_TRUE(is_binary(begin()));
  feed(binary_version(1));
  EXPECT_NE(written().find("PLAIN"), std::string::npos);
}

TEST_F(Negotiating, AQuestionWithoutAnAnswerIsTheServersFault) {
  config = cluster("user");
  sessions = sessions_of(config);
  begin();
  session->on_eof(now);
  EXPECT_EQ(last_event().kind, Event::Kind::closed);
  expect_end(false);
  EXPECT_TRUE(begin().ends_with('\n')) << "it is asked again";
}

TEST_F(Negotiating, AConfiguredProtocolIsNotNegotiated) {
  config.protocol = MemcachedProtocol::binary;
  sessions = sessions_of(config);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(is_binary(begin()));
    session->on_eof(now);
    last_event();
    expect_end(false);
  }
}

TEST_F(Negotiating, SessionsForAnotherLaneNegotiateForThemselves) {
  begin();
  session->on_eof(now);
  last_event();
  const auto lane = sessions_of(config);
  ASSERT_NE(lane, nullptr);
  sessions->make(0, SessionUse::requests, now);
  const auto other = lane->make(0, SessionUse::requests, now);
  other->start(now);
  EXPECT_EQ(as_text(other->poll_output()[0]), "version\r\n");
  EXPECT_TRUE(sessions->takes_batches("key"));
  EXPECT_FALSE(sessions->takes_batches("a key"));
}

// ---- another login

TEST_F(Negotiating, AConnectionThatLivesCannotChangeItsLogin) {
  for (const auto protocol : {MemcachedProtocol::meta, MemcachedProtocol::binary}) {
    config = cluster("user");
    config.protocol = protocol;
    sessions = sessions_of(config);
    session = sessions->make(0, SessionUse::requests, now);
    sessions->set_login(make_login("user", "other"));
    EXPECT_TRUE(session->renew_login(now)) << "it has not begun";
    session->start(now);
    EXPECT_TRUE(session->renew_login(now)) << "it has begun with that one";
    sessions->set_login(make_login("user", "other"));
    EXPECT_TRUE(session->renew_login(now)) << "nothing differs";
    sessions->set_login(make_login("user", "third"));
    EXPECT_FALSE(session->renew_login(now));
    session->on_eof(now);
    last_event();
    EXPECT_TRUE(session->renew_login(now)) << "it has ended";
  }
}

TEST_F(Negotiating, AQuestionShowsNoLoginAndGoesOn) {
  config = cluster("user");
  sessions = sessions_of(config);
  EXPECT_TRUE(is_binary(begin()));
  sessions->set_login(make_login("user", "other"));
  EXPECT_TRUE(session->renew_login(now));
}

TEST_F(Negotiating, AUserThatComesLaterIsNotShownBeforeTheQuestionIsAnswered) {
  EXPECT_EQ(begin(), "version\r\n");
  sessions->set_login(make_login("user", "secret"));
  EXPECT_TRUE(is_binary(begin())) << "the question";
  sessions->set_login(nullptr);
  EXPECT_EQ(begin(), "version\r\n");
}

TEST_F(Negotiating, ARefusedLoginIsNotForGoodWhenThereIsAnother) {
  for (const bool renewed : {false, true}) {
    config = cluster("user");
    config.protocol = MemcachedProtocol::meta;
    sessions = sessions_of(config);
    begin();
    feed("CLIENT_ERROR unauthenticated\r\n");
    EXPECT_EQ(written(), "set login 0 0 11\r\nuser secret\r\n");
    if (renewed) {
      sessions->set_login(make_login("user", "other"));
    }
    feed("CLIENT_ERROR authentication failure\r\n");
    EXPECT_EQ(session->close_reason().reason, Reason::authentication);
    EXPECT_EQ(session->close_reason().permanent, !renewed);
    expect_end(renewed);
  }
}

TEST_F(Negotiating, TheSameWithSaslWhileTheProtocolIsBeingFoundOut) {
  config = cluster("user");
  sessions = sessions_of(config);
  begin();
  feed(binary_version(1));
  expect_end(true);
  begin();
  feed(binary_version(1));
  written();
  sessions->set_login(make_login("user", "other"));
  feed(binary_failure(Opcode::sasl_auth, 2, StatusCode::auth_error, "Auth failure."));
  EXPECT_FALSE(session->close_reason().permanent);
  expect_end(true);
}

TEST_F(Negotiating, NoPasswordStaysInMemoryThatIsGivenBack) {
  constexpr std::string_view secret = "a-secret-that-is-long-enough-for-no-short-string";
  const auto let_all_leave = [&] {
    std::size_t size = 0;
    for (const Bytes part : session->poll_output()) size += part.size();
    session->on_output(size, now);
  };
  for (const auto protocol : {MemcachedProtocol::meta, MemcachedProtocol::binary}) {
    const bool binary = protocol == MemcachedProtocol::binary;
    config = cluster("");
    config.protocol = protocol;
    sessions = sessions_of(config);
    sessions->set_login(make_login("user", secret));
    const LookForSecret look(secret.substr(1));
    for (const bool leaves : {true, false}) {
      begin();
      feed(binary ? binary_version(1) : "CLIENT_ERROR unauthenticated\r\n");
      if (leaves) let_all_leave();
      session.reset();
    }
    EXPECT_EQ(look.found(), 0u);
  }
}

}  // namespace
}  // namespace sheaf::protocol::memcached
