// Logins supplied by the program and by files, on real servers.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "client/client_impl.h"
#include "tests/live/client/shared_logins.h"
#include "tests/support/lent.h"
#include "tests/support/printed_log.h"
#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using std::chrono::system_clock;

Failure no_credentials(std::string text) {
  Error error;
  error.text = std::move(text);
  return Failure(std::move(error));
}

// A server that requires the password s3cret of the user app.
class LockedServer {
 public:
  LockedServer() { EXPECT_EQ(admin_.text({"AUTH", "app", "s3cret"}), "+OK"); }
  std::string uri(std::string_view user = "") const {
    return "redis://" + std::string(user) + node() + "?routing=ring";
  }
  std::string node() const { return "127.0.0.1:" + std::to_string(server_->port()); }
  // Drops every connection but this one.
  void drop_connections() {
    const std::string reply = admin_.text({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    EXPECT_EQ(reply, "1");
  }

 private:
  const Lent<RedisProcess> server_{redis_with_a_login()};
  RespConnection admin_{server_->port()};
};

// A credential source that the test controls.
class Source {
 public:
  using Answer = std::function<Result<Credentials>(const CredentialRequest&)>;
  explicit Source(Answer answer) : answer_(std::move(answer)) {}

  CredentialSource function() {
    return [this](const CredentialRequest& request) {
      const unsigned before = running_++;
      EXPECT_EQ(before, 0u) << "two calls at once";
      {
        const std::lock_guard lock(mutex_);
        needs_.push_back(request.need);
      }
      auto answer = answer_(request);
      --running_;
      return answer;
    };
  }
  std::vector<CredentialNeed> needs() const {
    const std::lock_guard lock(mutex_);
    return needs_;
  }
  std::size_t calls() const { return needs().size(); }

 private:
  const Answer answer_;
  std::atomic<unsigned> running_ = 0;
  mutable std::mutex mutex_;
  std::vector<CredentialNeed> needs_;
};

Client open_with(const std::string& uri, const CredentialSource& source) {
  ClientOptions options;
  options.credentials = source;
  options.log = printed_log();
  return Client::open(uri, std::move(options)).value();
}

TEST(Credentials, TheProgramIsAskedAtEveryConnection) {
  LockedServer server;
  Source source([](const CredentialRequest&) -> Result<Credentials> {
    return Credentials{.user = "app", .password = "s3cret"};
  });
  auto client = open_with(server.uri(), source.function());
  ASSERT_TRUE(client.set("k", "v", {.timeout = 30s}));
  EXPECT_EQ(source.needs(), std::vector{CredentialNeed::connect});
  server.drop_connections();
  wait_for_condition("another connection", [&] { return client.get("k").has_value(); });
  EXPECT_EQ(source.needs(), (std::vector{CredentialNeed::connect, CredentialNeed::connect}));
}

TEST(Credentials, ConnectionsThatAreMadeAtOnceShareACall) {
  LockedServer first, second, third;
  std::promise<void> go_on;
  Source source(
      [&, ready = go_on.get_future().share()](const CredentialRequest&) -> Result<Credentials> {
        ready.wait();
        return Credentials{.user = "app", .password = "s3cret"};
      });
  const std::string servers = "redis://" + first.node() + "," + second.node() + "," + third.node();
  auto client = open_with(servers + "?routing=ring&connect_timeout=30s", source.function());
  const auto connections = [&] {
    unsigned sum = 0;
    for (const NodeStats& node : client.stats()) sum += node.connections;
    return sum;
  };
  wait_for_condition("the call", [&] { return source.calls() > 0; });
  EXPECT_EQ(connections(), 0u);
  go_on.set_value();
  wait_for_condition("all connections", [&] { return connections() == 3; });
  EXPECT_EQ(source.calls(), 1u);
}

TEST(Credentials, TheProgramIsAskedBeforeTheEnd) {
  LockedServer server;
  Source source([](const CredentialRequest&) -> Result<Credentials> {
    return Credentials{.user = "app", .password = "s3cret", .ends = system_clock::now() + 2s};
  });
  auto client = open_with(server.uri(), source.function());
  ASSERT_TRUE(client.set("k", "v", {.timeout = 30s}));
  const auto begun = steady_clock::now();
  wait_for_condition("a renewal", [&] { return source.calls() >= 3; });
  EXPECT_LT(steady_clock::now() - begun, 20s);
  EXPECT_EQ(source.needs().at(1), CredentialNeed::renewal);
  EXPECT_EQ(client.stats().at(0).connects, 1u) << "the same again replaces no connection";
}

TEST(Credentials, WhatTheProgramSaysOrThrowsIsTheReasonOfTheCall) {
  LockedServer server;
  std::atomic<int> mode = 0;
  Source source([&](const CredentialRequest&) -> Result<Credentials> {
    if (mode == 0) return no_credentials("the vault is sealed");
    return Credentials{.user = "app", .password = "s3cret"};
  });
  const CredentialSource function = [&,
                                     calls = source.function()](const CredentialRequest& request) {
    if (mode == 1) throw std::out_of_range("s3cret is in here");
    return calls(request);
  };
  auto client = open_with(server.uri(), function);
  const auto expect_failure = [&](const std::string& says) {
    wait_for_condition(says, [&] {
      const auto got = client.get("k");
      EXPECT_FALSE(got);
      if (got) return true;
      EXPECT_EQ(got.error().message().find("s3cret"), std::string::npos);
      return got.error().reason == Reason::authentication && got.error().text.contains(says);
    });
  };
  expect_failure("the program gave no credentials: the vault is sealed");
  mode = 1;
  expect_failure("the program's credentials function threw std::out_of_range");
  mode = 2;
  wait_for_condition("a login", [&] { return client.get("k").has_value(); });
}

TEST(Credentials, ACallEndsByItsDeadlineWhileTheProgramThinks) {
  LockedServer server;
  std::promise<void> go_on;
  Source source(
      [&, ready = go_on.get_future().share()](const CredentialRequest&) -> Result<Credentials> {
        ready.wait();
        return Credentials{.user = "app", .password = "s3cret"};
      });
  auto client = open_with(server.uri() + "&connect_timeout=100ms&timeout=100ms", source.function());
  for (int i = 0; i < 3; ++i) {
    const auto begun = steady_clock::now();
    const auto got = client.get("k", {.timeout = 200ms});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().outcome, Outcome::not_sent);
    EXPECT_LT(steady_clock::now() - begun, 20s);
  }
  wait_for_condition("the reason", [&] {
    return client.get("k").error().text.contains("credentials did not come in time");
  });
  EXPECT_EQ(source.calls(), 1u) << "all wait for the one call";
  go_on.set_value();
  wait_for_condition("a login", [&] { return client.get("k").has_value(); });
}

TEST(Credentials, AClientIsClosedWhileTheProgramThinks) {
  LockedServer server;
  std::promise<void> go_on;
  Source source(
      [&, ready = go_on.get_future().share()](const CredentialRequest&) -> Result<Credentials> {
        ready.wait();
        return Credentials{.user = "app", .password = "s3cret"};
      });
  std::optional<Client> client = open_with(server.uri(), source.function());
  wait_for_condition("the call", [&] { return source.calls() == 1; });
  auto closing = std::async(std::launch::async, [&] { client.reset(); });
  EXPECT_EQ(closing.wait_for(50ms), std::future_status::timeout) << "closing waits for the program";
  go_on.set_value();
  EXPECT_EQ(closing.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(source.calls(), 1u);
}

TEST(Credentials, ARefusedLoginIsAskedForAnewAndHealsWithoutAWait) {
  LockedServer server;
  std::string password = "wrong";  // the program's outdated copy
  Source source([&](const CredentialRequest& request) -> Result<Credentials> {
    if (request.need == CredentialNeed::refused) password = "s3cret";
    return Credentials{.user = "app", .password = password};
  });
  auto client = open_with(server.uri(), source.function());
  wait_for_condition("a login", [&] { return client.get("k").has_value(); });
  EXPECT_EQ(source.needs().at(1), CredentialNeed::refused);
}

// The password is not in the configuration any more.
TEST(Credentials, APasswordCountsWhenTheServersOfAClientChange) {
  LockedServer server;
  Source source([](const CredentialRequest&) -> Result<Credentials> {
    return Credentials{.user = "app", .password = "s3cret"};
  });
  auto by_uri = Client::open(server.uri("app:s3cret@")).value();
  auto by_source = open_with(server.uri(), source.function());
  for (const Client* client : {&by_uri, &by_source}) {
    const auto updated = client::Internals::context(*client).update({{"r2.example", 6'379, 1}});
    ASSERT_FALSE(updated);
    EXPECT_EQ(updated.error().text,
              "the password would reach r2.example:6379 unencrypted, which needs "
              "allow_plain_password=1");
  }
}

TEST(Credentials, AForkedChildLeavesTheSourceAlone) {
  LockedServer server;
  Source source([](const CredentialRequest&) -> Result<Credentials> {
    return Credentials{.user = "app", .password = "s3cret"};
  });
  std::optional<Client> client = open_with(server.uri(), source.function());
  ASSERT_TRUE(client->set("k", "v", {.timeout = 30s}));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto got = client->get("k");
    const bool refused = !got && got.error().reason == Reason::forked;
    client.reset();
    ::_exit(refused && source.calls() == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(client->get("k", {.timeout = 30s}));
}

TEST(Credentials, WhatIsNoLoginHereIsRefused) {
  LockedServer server;
  Source source(
      [](const CredentialRequest&) -> Result<Credentials> { return Credentials{.token = "abc"}; });
  auto client = open_with(server.uri(), source.function());
  wait_for_condition("the reason", [&] {
    return client.get("k").error().text.contains("credentials with a token are for mqtt:// only");
  });
  for (const std::string& uri : {server.uri("app@"), std::string("embedded://1")}) {
    ClientOptions options;
    options.credentials = source.function();
    const auto refused = Client::open(uri, std::move(options));
    ASSERT_FALSE(refused) << uri;
    EXPECT_EQ(refused.error().reason, Reason::bad_configuration);
  }
}

}  // namespace
}  // namespace sheaf::test

#endif
