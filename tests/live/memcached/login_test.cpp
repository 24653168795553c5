// Greetings of a real memcached: logins by SASL and by text, wrong passwords, the wrong protocol,
// too many connections.

#include <gtest/gtest.h>

#include "tests/live/memcached/connection.h"
#include "tests/support/lent.h"
#include "tests/support/logins.h"
#include "tests/support/memcached_process.h"

namespace sheaf::protocol::memcached {
namespace {

using test::MemcachedOptions;
using test::MemcachedProcess;

MemcachedOptions with_users(MemcachedOptions::LogIn log_in) {
  MemcachedOptions options;
  options.log_in = log_in;
  options.users = {{"cache", "s3cret"}, {"other", "word"}};
  return options;
}

SessionOptions as(std::string_view user, std::string_view password) {
  SessionOptions options;
  options.login = test::login_slot(user, password);
  return options;
}

template <class SessionType>
CloseReason reason(std::uint16_t port, SessionOptions options) {
  const Connection<SessionType> connection(port, std::move(options));
  EXPECT_FALSE(connection.session.ready());
  return connection.session.close_reason();
}

template <class SessionType>
void expect_works(std::uint16_t port, SessionOptions options) {
  Connection<SessionType> connection(port, std::move(options));
  ASSERT_TRUE(connection.session.ready()) << connection.session.close_reason().text;
  EXPECT_EQ(connection.run(set("k", "v")).status, Status::done);
  EXPECT_EQ(connection.run(get("k")).value, "v");
}

TEST(LogIn, SaslPlain) {
  const test::Lent<MemcachedProcess> server(with_users(MemcachedOptions::LogIn::sasl));
  expect_works<BinarySession>(server->port(), as("cache", "s3cret"));
  expect_works<BinarySession>(server->port(), as("other", "word"));
  for (const auto& [user, password] :
       {std::pair("cache", "wrong"), std::pair("nobody", "s3cret"), std::pair("cache", "")}) {
    const CloseReason refused = reason<BinarySession>(server->port(), as(user, password));
    EXPECT_EQ(refused.reason, Reason::authentication);
    EXPECT_TRUE(refused.text.starts_with("the server refused the log-in (")) << refused.text;
    EXPECT_TRUE(refused.permanent);
  }
  const CloseReason nobody = reason<BinarySession>(server->port(), {});
  EXPECT_EQ(nobody.text, "the server requires a user name and a password");
  EXPECT_TRUE(nobody.permanent);
}

TEST(LogIn, Text) {
  const test::Lent<MemcachedProcess> server(with_users(MemcachedOptions::LogIn::text));
  expect_works<MetaSession>(server->port(), as("cache", "s3cret"));
  expect_works<MetaSession>(server->port(), as("other", "word"));
  for (const auto& [user, password] :
       {std::pair("cache", "wrong"), std::pair("nobody", "s3cret"), std::pair("cache", "")}) {
    const CloseReason refused = reason<MetaSession>(server->port(), as(user, password));
    EXPECT_EQ(refused.reason, Reason::authentication) << user << ' ' << password;
    EXPECT_TRUE(refused.text.starts_with("the server refused the log-in (CLIENT_ERROR "))
        << refused.text;
    EXPECT_TRUE(refused.permanent);
  }
  EXPECT_EQ(reason<MetaSession>(server->port(), {}).text,
            "the server requires a user name and a password");
}

TEST(LogIn, APasswordForAServerThatWantsNone) {
  const test::Lent<MemcachedProcess> server;
  EXPECT_EQ(reason<BinarySession>(server->port(), as("cache", "s3cret")).text,
            "the server has no log-in (SASL is off), but a user name is configured");
  EXPECT_EQ(reason<MetaSession>(server->port(), as("cache", "s3cret")).text,
            "the server takes no log-in in text (-Y is off), but a user name is configured");
  Connection<MetaSession> connection(server->port());
  EXPECT_EQ(connection.run(get("login")).status, Status::absent) << "the password was not stored";
}

// How `auto` detects the login of a server with a password: an answer to a binary VERSION means
// SASL.
TEST(LogIn, ABinaryVersionDistinguishesSaslFromText) {
  SessionOptions probe = as("cache", "s3cret");
  probe.only_version = true;
  const test::Lent<MemcachedProcess> sasl(with_users(MemcachedOptions::LogIn::sasl));
  const Connection<BinarySession> answered(sasl->port(), probe);
  EXPECT_TRUE(answered.session.ready());
  EXPECT_EQ(answered.session.server().dialect, Dialect::this_one);
  EXPECT_TRUE(answered.session.server().version.has_value());
  const test::Lent<MemcachedProcess> text(with_users(MemcachedOptions::LogIn::text));
  const Connection<BinarySession> asked(text->port(), probe);
  EXPECT_TRUE(asked.session.closed());
  EXPECT_EQ(asked.session.server().dialect, Dialect::text_and_log_in);
  MemcachedOptions ascii;
  ascii.arguments = {"-B", "ascii"};
  const MemcachedProcess only_text(ascii);
  const Connection<BinarySession> shouted(only_text.port(), probe);
  EXPECT_EQ(shouted.session.server().dialect, Dialect::text);
  const test::Lent<MemcachedProcess> open;
  const Connection<MetaSession> version(open->port(), probe);
  EXPECT_TRUE(version.session.ready());
  EXPECT_TRUE(version.session.server().version.has_value());
}

// Such a server says nothing at all, so only the deadline ends it.
TEST(LogIn, TheWrongProtocolForTheServer) {
  const test::Lent<MemcachedProcess> sasl(with_users(MemcachedOptions::LogIn::sasl));
  SessionOptions credentials = as("cache", "s3cret");
  credentials.handshake_limit = 100ms;
  EXPECT_EQ(reason<MetaSession>(sasl->port(), credentials).reason, Reason::connect_failed);
  const test::Lent<MemcachedProcess> text(with_users(MemcachedOptions::LogIn::text));
  EXPECT_EQ(reason<BinarySession>(text->port(), credentials).reason, Reason::connect_failed);
}

TEST(Limits, TooManyConnectionsAreReportedInBothProtocols) {
  MemcachedOptions options;
  options.arguments = {"-c", "32", "-t", "1", "-o", "maxconns_fast"};
  const MemcachedProcess server(options);
  const std::string expected = "the server has too many open connections";
  std::vector<std::unique_ptr<Connection<MetaSession>>> held;
  for (int i = 0; i < 64; ++i) {
    auto next = std::make_unique<Connection<MetaSession>>(server.port());
    if (!next->session.ready()) {
      EXPECT_EQ(next->session.close_reason().text, expected);
      EXPECT_FALSE(next->session.close_reason().permanent);
      break;
    }
    held.push_back(std::move(next));
  }
  ASSERT_LT(held.size(), 64u);
  EXPECT_EQ(reason<BinarySession>(server.port(), {}).text, expected);
  EXPECT_EQ(held.front()->run(operation(Verb::probe)).status, Status::done);
}

TEST(Limits, AServerWithoutVersionsReturnsNone) {
  MemcachedOptions options;
  options.arguments = {"-C"};
  const MemcachedProcess server(options);
  Connection<BinarySession> binary(server.port());
  binary.run(set("k", "v"));
  EXPECT_EQ(binary.run(get("k")).value, "v");
  EXPECT_EQ(binary.run(get("k")).version, "");
  Connection<MetaSession> meta(server.port());
  EXPECT_EQ(meta.run(get("k")).value, "v");
  EXPECT_EQ(meta.run(get("k")).version, "");
}

TEST(Limits, TheEndOfTheServerFailsWhatIsInFlight) {
  test::Lent<MemcachedProcess> server;
  Connection<MetaSession> connection(server->port());
  server.to_break().kill();
  const Seen failed = connection.run(get("k"));
  EXPECT_EQ(failed.kind, Event::Kind::failed);
  const std::uint16_t port = server->port();
  server.to_break().restart();
  EXPECT_EQ(server->port(), port);
  expect_works<MetaSession>(port, {});
}

// The reply to a request that was given up while the server was stopped must reach no other
// request.
TEST(Limits, AfterAPauseTheLateReplyIsDropped) {
  test::Lent<MemcachedProcess> server;
  Connection<BinarySession> binary(server->port());
  binary.run(set("a", "A"));
  binary.run(set("b", "B"));
  server.to_break().stop();
  const auto ticket = binary.session.submit(get("a"), binary.now());
  binary.turn();
  binary.session.cancel(*ticket, binary.now());
  server.to_break().resume();
  EXPECT_EQ(binary.run(get("b")).value, "B");
  EXPECT_EQ(binary.session.counters().late_replies, 1u);
  EXPECT_TRUE(binary.session.clean());
}

}  // namespace
}  // namespace sheaf::protocol::memcached
