// The client's session against model nodes, in memory. However the bytes are split, the session
// gets ready and understands every reply in the same way.

#include <gtest/gtest.h>

#include "tests/protocol/resp/session_harness.h"
#include "tests/resp_model/talk.h"
#include "tests/support/logins.h"

namespace sheaf::test::resp_model {
namespace {

using protocol::Condition;
using protocol::Operation;
using protocol::Status;
using protocol::Verb;
using protocol::resp::asking;
using protocol::resp::get;
using protocol::resp::living;
using protocol::resp::operation;
using protocol::resp::Seen;
using protocol::resp::SessionOptions;
using protocol::resp::set;
using protocol::resp::Whereto;
using protocol::resp::Wire;
using protocol::resp::with;

constexpr auto whole = static_cast<std::size_t>(-1);

// A session, a connection to a model node, and their time.
class Pair {
 public:
  Pair(Talk& talk, NodeNumber node, std::size_t step = whole,
       SessionOptions options = protocol::resp::test_options())
      : talk_(talk), wire(std::move(options)), connection_(talk.cluster, node), step_(step) {
    wire.elapsed = talk.now;
    wire.session.start(wire.now());
    exchange();
  }
  // Exchanges bytes until there are no more.
  void exchange() {
    for (;;) {
      const std::string bytes = wire.take(step_);
      const std::string replies = connection_.receive(bytes, talk_.now);
      wire.feed(replies, step_);
      if (bytes.empty() && replies.empty()) return;
    }
  }
  Seen ask(const Operation& operation) {
    wire.submit(operation);
    exchange();
    return wire.next();
  }
  bool ready() { return wire.next().kind == protocol::Event::Kind::ready; }

 private:
  Talk& talk_;

 public:
  Wire wire;

 private:
  ModelConnection connection_;
  std::size_t step_;
};

// Everything that a session of this cluster sees, with reads and writes of `step` bytes.
std::vector<Seen> seen_in_steps(const ClusterOptions& options, std::size_t step) {
  Talk talk(2, options);
  talk.cluster.set_importing(949, 1, 0);
  talk.cluster.set_migrating(949, 0, 1);
  SessionOptions login = protocol::resp::test_options();
  if (!options.password.empty()) {
    login.handshake.login = test::login_slot("client-1", options.password);
  }
  Pair source(talk, 0, step, login);
  Pair target(talk, 1, step, login);
  EXPECT_TRUE(source.ready());
  EXPECT_TRUE(target.ready());
  const std::string own = talk.key_of(0);
  const std::string large(3'000, 'x');
  const Operation at_source[] = {living(set(own, large), 1s),
                                 with(set(own, "w"), Condition::if_absent),
                                 living(operation(Verb::touch, own), 2s),
                                 living(operation(Verb::get_and_touch, own), 3s),
                                 get(own),
                                 get("foo"),
                                 get("wxz"),
                                 operation(Verb::remove, own),
                                 operation(Verb::remove, own)};
  const Operation at_target[] = {asking(set("wxz", "moved")), asking(get("wxz")), get("wxz")};
  std::vector<Seen> all;
  for (const Operation& operation : at_source) all.push_back(source.ask(operation));
  for (const Operation& operation : at_target) all.push_back(target.ask(operation));
  return all;
}

void expect_conversation(const std::vector<Seen>& all) {
  ASSERT_EQ(all.size(), 12u);
  using enum Status;
  const Status statuses[] = {done,    not_stored, done,   done, done, refused,
                             refused, done,       absent, done, done, refused};
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].status, statuses[i]) << i;
  EXPECT_EQ(all[3].value.size(), 3'000u);
  EXPECT_EQ(all[4].value.size(), 3'000u);
  const Whereto moved{protocol::Redirect::Kind::moved, "127.0.0.1", 17'412, 12'182};
  EXPECT_EQ(all[5].redirect, moved);
  const Whereto ask{protocol::Redirect::Kind::ask, "127.0.0.1", 17'412, 949};
  EXPECT_EQ(all[6].redirect, ask);
  EXPECT_EQ(all[10].value, "moved");
  const Whereto back{protocol::Redirect::Kind::moved, "127.0.0.1", 17'411, 949};
  EXPECT_EQ(all[11].redirect, back);
}

struct Case {
  std::string name;
  ClusterOptions options;
};

std::vector<Case> cases() {
  ClusterOptions old;
  old.dialect.version = "6.2.0";
  old.dialect.has_hello = false;
  return {{"Redis", {}},
          {"RedisWithLogin", {.password = "secret"}},
          {"Garnet", {.dialect = garnet()}},
          {"WithoutHello", old}};
}

class SessionOnModel : public testing::TestWithParam<Case> {};

TEST_P(SessionOnModel, MakesTheSameOfRepliesInWhateverPieces) {
  const std::vector<Seen> all = seen_in_steps(GetParam().options, whole);
  expect_conversation(all);
  for (const std::size_t step :
       std::initializer_list<std::size_t>{1, 2, 3, 5, 7, 11, 16, 31, 64, 100, 257, 1'000, 2'999}) {
    std::vector<Seen> other = seen_in_steps(GetParam().options, step);
    EXPECT_EQ(other, all) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, SessionOnModel, testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(SessionOnModelFaults, GarbageEndsTheConnectionAndWhatWasSentIsUnknown) {
  Talk talk(1);
  Pair pair(talk, 0);
  ASSERT_TRUE(pair.ready());
  talk.cluster.node(0).faults.garbage_replies = 1;
  const Seen end = pair.ask(set("k", "v"));
  EXPECT_EQ(end.kind, protocol::Event::Kind::failed);
  EXPECT_EQ(end.sent, protocol::Sent::maybe);
  EXPECT_TRUE(pair.wire.session.closed());
  EXPECT_EQ(talk.cluster.log().times({"SET", "k", "v"}), 1u);
}

TEST(SessionOnModelFaults, AServerThatLoadsRefusesTheHandshakeForNow) {
  Talk talk(1);
  talk.cluster.node(0).faults.loading_until = talk.now + 1s;
  Pair early(talk, 0);
  EXPECT_TRUE(early.wire.session.closed());
  EXPECT_FALSE(early.wire.session.close_reason().permanent);
  talk.pass(1s);
  Pair later(talk, 0);
  EXPECT_TRUE(later.ready());
}

TEST(SessionOnModelFaults, AWrongPasswordIsPermanent) {
  Talk talk(1, {.password = "secret"});
  SessionOptions options = protocol::resp::test_options();
  options.handshake.login = test::login_slot("", "wrong");
  Pair pair(talk, 0, whole, options);
  EXPECT_TRUE(pair.wire.session.closed());
  EXPECT_EQ(pair.wire.session.close_reason().reason, Reason::authentication);
}

TEST(SessionOnModelFaults, ATouchOfADeadKeyGetsNoGarbageOfGarnet) {
  Talk talk(1, {.dialect = garnet()});
  Pair pair(talk, 0);
  ASSERT_TRUE(pair.ready());
  pair.ask(living(set("k", "v"), 1ms));
  talk.pass(1ms);
  // The session sends no PEXPIRE to Garnet, so nothing happens.
  EXPECT_EQ(pair.ask(living(operation(Verb::touch, "k"), 1s)).status, Status::absent);
  EXPECT_FALSE(pair.wire.session.closed());
}

}  // namespace
}  // namespace sheaf::test::resp_model
