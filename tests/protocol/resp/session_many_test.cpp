// Requests with many keys.

#include <gtest/gtest.h>

#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

class RespMany : public testing::Test {
 protected:
  const std::vector<std::string_view> keys{"a", "b", "c", "d"};
  ReadyWire wire;
};

TEST_F(RespMany, AreGetsInOneFrameAndAnItemForEachKeyThatIsThere) {
  const Ticket ticket = wire.submit(many(keys));
  EXPECT_EQ(wire.session.in_flight(), 1u);
  EXPECT_EQ(wire.sent(), "GET a; GET b; GET c; GET d");
  wire.feed("$1\r\n1\r\n_\r\n$1\r\n3\r\n$-1\r\n");
  const Seen first = wire.next();
  EXPECT_EQ(first.kind, Event::Kind::item);
  EXPECT_EQ(first.ticket, ticket);
  EXPECT_EQ(first.index, 0u);
  EXPECT_EQ(first.value, "1");
  const Seen third = wire.next();
  EXPECT_EQ(third.index, 2u);
  EXPECT_EQ(third.value, "3");
  const Seen end = wire.next();
  EXPECT_EQ(end.kind, Event::Kind::reply);
  EXPECT_EQ(end.ticket, ticket);
  EXPECT_EQ(end.status, Status::done);
  EXPECT_EQ(end.value, "");
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(RespMany, AnEmptyValueIsThere) {
  const Ticket ticket = wire.submit(many(keys));
  wire.take();
  wire.feed("$0\r\n\r\n_\r\n$-1\r\n$0\r\n\r\n");
  for (const std::uint32_t index : {0u, 3u}) {
    const Seen item = wire.next();
    EXPECT_EQ(item.kind, Event::Kind::item);
    EXPECT_EQ(item.ticket, ticket);
    EXPECT_EQ(item.index, index);
    EXPECT_EQ(item.status, Status::done);
    EXPECT_EQ(item.value, "");
  }
  EXPECT_EQ(wire.next().kind, Event::Kind::reply);
  EXPECT_TRUE(wire.events.empty());
}

TEST_F(RespMany, TheLastKeyMayBeThere) {
  const std::vector<std::string_view> one{"a"};
  wire.submit(many(one));
  const Ticket next = wire.submit(get("k"));
  wire.take();
  wire.feed("$1\r\n1\r\n$1\r\nk\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::item);
  EXPECT_EQ(wire.next().kind, Event::Kind::reply);
  const Seen other = wire.next();
  EXPECT_EQ(other.ticket, next);
  EXPECT_EQ(other.value, "k");
}

TEST_F(RespMany, AKeyThatWasAnsweredByAnErrorIsToBeAskedForAlone) {
  wire.submit(many(keys));
  wire.take();
  wire.feed(redirect("a") + "-WRONGTYPE no\r\n$1\r\n3\r\n-TRYAGAIN later\r\n");
  const Seen moved = wire.next();
  EXPECT_EQ(moved.kind, Event::Kind::item);
  EXPECT_TRUE(moved.unsure);
  EXPECT_EQ(moved.status, Status::refused);
  EXPECT_EQ(moved.redirect,
            (Whereto{protocol::Redirect::Kind::moved, "10.0.0.1", 7000, hash_slot("a")}));
  const Seen wrong = wire.next();
  EXPECT_TRUE(wrong.unsure);
  EXPECT_EQ(wrong.index, 1u);
  EXPECT_EQ(wrong.reason, Reason::wrong_type);
  EXPECT_FALSE(wire.next().unsure);
  EXPECT_EQ(wire.next().index, 3u);
  EXPECT_EQ(wire.next().kind, Event::Kind::reply);
}

TEST_F(RespMany, AValueAboveTheLimitIsRefusedAlone) {
  wire.submit(many(keys));
  wire.take();
  wire.feed("_\r\n" + bulk(std::string(2'000'001, 'v')) + "$1\r\n3\r\n_\r\n", 100'000);
  const Seen large = wire.next();
  EXPECT_EQ(large.index, 1u);
  EXPECT_EQ(large.reason, Reason::too_large);
  EXPECT_EQ(large.text, "the value is above value_limit");
  EXPECT_EQ(wire.next().value, "3");
  EXPECT_EQ(wire.next().kind, Event::Kind::reply);
  EXPECT_FALSE(wire.session.closed());
}

TEST_F(RespMany, AnswersMayComeWhileTheRestIsLeaving) {
  wire.submit(many(keys));
  wire.take(25);
  wire.feed("$1\r\n1\r\n_\r\n_\r\n");
  EXPECT_EQ(wire.next().value, "1");
  EXPECT_FALSE(wire.session.closed());
  wire.feed("_\r\n");
  EXPECT_EQ(wire.end().reason, Reason::protocol_error) << "but not the last";

  ReadyWire unsent;
  unsent.submit(many(keys));
  unsent.feed("_\r\n");
  EXPECT_EQ(unsent.end().reason, Reason::protocol_error) << "nor before a byte has left";
}

TEST_F(RespMany, ACancelledOneKeepsItsPlacesUntilAllRepliesHavePassed) {
  const Ticket given_up = wire.submit(many(keys));
  const Ticket next = wire.submit(get("k"));
  wire.take();
  wire.feed("$1\r\n1\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::item);
  EXPECT_EQ(wire.session.cancel(given_up, wire.now()), Sent::maybe);
  wire.feed("$1\r\n2\r\n" + redirect("x") + "$1\r\n4\r\n");
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 1u);
  wire.feed("$1\r\nk\r\n");
  const Seen own = wire.next();
  EXPECT_EQ(own.ticket, next);
  EXPECT_EQ(own.value, "k");
}

TEST_F(RespMany, MayBeCancelledBetweenItsLastItemAndItsEnd) {
  const std::vector<std::string_view> one{"a"};
  const Ticket given_up = wire.submit(many(one));
  wire.take();
  const auto space = wire.session.input_space();
  constexpr std::string_view hit = "$1\r\n1\r\n";
  std::copy_n(reinterpret_cast<const std::byte*>(hit.data()), hit.size(), space.begin());
  wire.session.on_input(hit.size(), wire.now());
  Event event;
  ASSERT_TRUE(wire.session.poll_event(event));
  EXPECT_EQ(event.kind, Event::Kind::item);
  wire.session.cancel(given_up, wire.now());
  EXPECT_FALSE(wire.session.poll_event(event));
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(RespMany, IsOfOneTypeThroughout) {
  for (const std::string_view odd : {"+OK\r\n", ":1\r\n", "*0\r\n", "#t\r\n", "=5\r\ntxt:v\r\n"}) {
    ReadyWire fresh;
    fresh.submit(many(keys));
    fresh.take();
    fresh.feed("$1\r\n1\r\n");
    EXPECT_EQ(fresh.next().kind, Event::Kind::item);
    fresh.feed(odd);
    EXPECT_EQ(fresh.end().reason, Reason::protocol_error) << odd;
  }
}

// A request that is cancelled is still answered, and the next request gets its own answer.
void expect_kept_place(const Operation& cancelled, const std::string& answer) {
  ReadyWire wire;
  const Ticket given_up = wire.submit(cancelled);
  const Ticket next = wire.submit(get("k"));
  wire.take();
  EXPECT_EQ(wire.session.cancel(given_up, wire.now()), Sent::maybe);
  wire.feed(answer + "$1\r\nk\r\n", 3);
  const Seen own = wire.next();
  EXPECT_EQ(own.ticket, next) << answer;
  EXPECT_EQ(own.value, "k");
  EXPECT_TRUE(wire.session.clean());
}

// ---- MGET, for callers that may ask again

Operation doubtful(const std::vector<std::string_view>& keys) {
  Operation made = many(keys);
  made.may_be_unsure = true;
  return made;
}

class RespMget : public RespMany {};

TEST_F(RespMget, ANullLeavesItsKeyUnsure) {
  const Ticket ticket = wire.submit(doubtful(keys));
  EXPECT_EQ(wire.sent(), "MGET a b c d");
  wire.feed("*4\r\n$1\r\n1\r\n_\r\n$0\r\n\r\n$-1\r\n", 1);
  for (const std::uint32_t index : {0u, 1u, 2u, 3u}) {
    const Seen item = wire.next();
    EXPECT_EQ(item.kind, Event::Kind::item);
    EXPECT_EQ(item.ticket, ticket);
    EXPECT_EQ(item.index, index);
    EXPECT_EQ(item.unsure, index % 2 == 1);
    EXPECT_EQ(item.status, index % 2 == 1 ? Status::absent : Status::done);
    EXPECT_EQ(item.value, index == 0 ? "1" : "");
  }
  EXPECT_EQ(wire.next().kind, Event::Kind::reply);
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(RespMget, NeedsThatTheLastFourRequestsMissedNoKey) {
  wire.submit(doubtful(keys));
  wire.take();
  wire.feed("*4\r\n_\r\n_\r\n_\r\n_\r\n");
  for (int i = 0; i < 4; ++i) {
    wire.submit(doubtful(keys));
    EXPECT_EQ(wire.sent(), "GET a; GET b; GET c; GET d") << i;
    wire.feed("$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n");
  }
  wire.submit(doubtful(keys));
  EXPECT_EQ(wire.sent(), "MGET a b c d");
  wire.feed("*4\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n");
  wire.submit(many(keys));
  EXPECT_EQ(wire.sent(), "GET a; GET b; GET c; GET d") << "the caller cannot ask again";
  wire.feed("$1\r\n1\r\n_\r\n$1\r\n3\r\n$1\r\n4\r\n");
  wire.submit(doubtful(keys));
  EXPECT_EQ(wire.sent(), "GET a; GET b; GET c; GET d");
}

TEST_F(RespMget, TakesKeysOfOneSlotInACluster) {
  ReadyWire member(Server::garnet);
  ASSERT_TRUE(member.session.server().cluster);
  member.submit(doubtful(keys));
  EXPECT_EQ(member.sent(), "GET a; GET b; GET c; GET d");
  const std::vector<std::string_view> tagged{"{t}a", "{t}b", "t"};
  member.feed("$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n");
  member.submit(doubtful(tagged));
  EXPECT_EQ(member.sent(), "MGET {t}a {t}b t");
}

TEST_F(RespMget, AnErrorLeavesEachKeyToBeAskedForAlone) {
  const Ticket ticket = wire.submit(doubtful(keys));
  const Ticket other = wire.submit(get("k"));
  wire.take();
  wire.feed(redirect("a") + "$1\r\nk\r\n");
  for (const std::uint32_t index : {0u, 1u, 2u, 3u}) {
    const Seen item = wire.next();
    EXPECT_EQ(item.kind, Event::Kind::item);
    EXPECT_EQ(item.ticket, ticket);
    EXPECT_EQ(item.index, index);
    EXPECT_EQ(item.status, Status::refused);
    EXPECT_TRUE(item.unsure);
    EXPECT_EQ(item.redirect.has_value(), index == 0);
  }
  EXPECT_EQ(wire.next().kind, Event::Kind::reply);
  EXPECT_EQ(wire.next().ticket, other);
  EXPECT_TRUE(wire.events.empty());
  wire.submit(doubtful(keys));
  EXPECT_EQ(wire.sent(), "MGET a b c d");
}

TEST_F(RespMget, IsNotUsedOnceTheServerHasRefusedIt) {
  wire.submit(doubtful(keys));
  wire.take();
  wire.feed("-NOPERM no MGET\r\n");
  wire.events.clear();
  wire.submit(doubtful(keys));
  EXPECT_EQ(wire.sent(), "GET a; GET b; GET c; GET d");
}

TEST_F(RespMget, AValueAboveTheLimitIsRefusedAlone) {
  wire.submit(doubtful(keys));
  wire.take();
  wire.feed("*4\r\n$1\r\n1\r\n" + bulk(std::string(2'000'001, 'v')) + "$1\r\n3\r\n$1\r\n4\r\n",
            100'000);
  EXPECT_EQ(wire.next().value, "1");
  const Seen large = wire.next();
  EXPECT_EQ(large.reason, Reason::too_large);
  EXPECT_FALSE(large.unsure);
  EXPECT_EQ(wire.next().value, "3");
  EXPECT_EQ(wire.next().value, "4");
  EXPECT_EQ(wire.next().kind, Event::Kind::reply);
}

TEST_F(RespMget, ACancelledOneKeepsItsPlace) {
  for (const std::string& answer :
       {"*4\r\n$1\r\n1\r\n_\r\n$1\r\n3\r\n_\r\n"s, redirect("a"), "-NOPERM no\r\n"s}) {
    expect_kept_place(doubtful(keys), answer);
  }
}

TEST_F(RespMget, IsAnsweredByOneArrayOfTextsAndNulls) {
  for (const std::string_view odd :
       {"$1\r\n1\r\n", "_\r\n", "*3\r\n", "*-1\r\n", "~4\r\n", "*4\r\n:1\r\n", "*4\r\n-ERR no\r\n",
        "*4\r\n>1\r\n$1\r\nx\r\n", "*4\r\n*1\r\n$1\r\nx\r\n"}) {
    ReadyWire fresh;
    fresh.submit(doubtful(keys));
    fresh.take();
    fresh.feed(std::string(odd) + std::string(odd[0] == '~' ? "_\r\n_\r\n_\r\n_\r\n" : ""));
    EXPECT_EQ(fresh.end().reason, Reason::protocol_error) << odd;
  }
  ReadyWire unsent;
  unsent.submit(doubtful(keys));
  unsent.take(10);
  unsent.feed("*4\r\n");
  EXPECT_EQ(unsent.end().reason, Reason::protocol_error) << "before all of it has left";
}

// ---- commands

class RespCommands : public RespMany {
 protected:
  Operation commands() const {
    Operation made = many(keys);
    made.verb = Verb::command;
    made.commands = spans;
    return made;
  }
  const std::vector<std::vector<std::string_view>> words{
      {"GET", "a"}, {"INCR", "b"}, {"SET", "c", "v"}, {"KEYS", "d"}};
  const std::vector<std::span<const std::string_view>> spans{words.begin(), words.end()};
};

TEST_F(RespCommands, AreOneFrameAndHaveAnItemEach) {
  const Ticket ticket = wire.submit(commands());
  EXPECT_EQ(wire.session.in_flight(), 1u);
  EXPECT_EQ(wire.sent(), "GET a; INCR b; SET c v; KEYS d");
  const std::string answers[] = {"$3\r\n1\r\n\r\n", ":7\r\n", "$-1\r\n", "*1\r\n$1\r\nx\r\n"};
  wire.feed(answers[0] + answers[1] + answers[2] + answers[3], 1);
  for (std::uint32_t index = 0; index < 4; ++index) {
    const Seen item = wire.next();
    EXPECT_EQ(item.kind, Event::Kind::item);
    EXPECT_EQ(item.ticket, ticket);
    EXPECT_EQ(item.index, index);
    EXPECT_EQ(item.status, Status::done);
    EXPECT_EQ(item.value, answers[index]) << "the whole reply";
  }
  const Seen end = wire.next();
  EXPECT_EQ(end.kind, Event::Kind::reply);
  EXPECT_EQ(end.status, Status::done);
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(RespCommands, AnErrorConcernsOneOfThem) {
  wire.submit(commands());
  wire.take();
  wire.feed("-ERR no\r\n" + redirect("b") + "+OK\r\n" + bulk(std::string(2'000'001, 'v')), 100'000);
  const Seen refused = wire.next();
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_FALSE(refused.unsure);
  EXPECT_FALSE(refused.redirect);
  EXPECT_TRUE(wire.next().redirect);
  EXPECT_EQ(wire.next().value, "+OK\r\n");
  const Seen large = wire.next();
  EXPECT_EQ(large.reason, Reason::too_large);
  EXPECT_TRUE(large.executed);
  EXPECT_EQ(wire.next().kind, Event::Kind::reply);
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(RespCommands, ARedirectNamesTheSlotOfItsKey) {
  wire.submit(commands());
  wire.take();
  wire.feed(redirect("b"));
  EXPECT_EQ(wire.end().reason, Reason::protocol_error);
}

TEST_F(RespCommands, ACancelledOneKeepsItsPlace) {
  expect_kept_place(commands(), "$1\r\n1\r\n-ERR no\r\n" + redirect("c") + "_\r\n");
}

TEST_F(RespCommands, OneThatMustNotBePassedOnRefusesAll) {
  auto changed = words;
  changed[2] = {"SUBSCRIBE", "c"};
  const std::vector<std::span<const std::string_view>> bad(changed.begin(), changed.end());
  Operation made = commands();
  made.commands = bad;
  EXPECT_FALSE(wire.session.submit(made, wire.now()));
  EXPECT_EQ(wire.sent(), "");
}

// ---- sets

class RespMset : public RespMany {
 protected:
  // One key after the other was stored.
  void expect_stored(ReadyWire& from, Ticket ticket) {
    for (std::uint32_t index = 0; index < keys.size(); ++index) {
      const Seen item = from.next();
      EXPECT_EQ(item.kind, Event::Kind::item);
      EXPECT_EQ(item.ticket, ticket);
      EXPECT_EQ(item.index, index);
      EXPECT_EQ(item.status, Status::done);
    }
    const Seen end = from.next();
    EXPECT_EQ(end.kind, Event::Kind::reply);
    EXPECT_EQ(end.status, Status::done);
    EXPECT_TRUE(from.events.empty());
    EXPECT_TRUE(from.session.clean());
  }
  const std::vector<std::string_view> values{"1", "", "3", "4"};
};

TEST_F(RespMset, OneOkStoresAllKeys) {
  const Ticket ticket = wire.submit(set_many(keys, values));
  EXPECT_EQ(wire.session.in_flight(), 1u);
  EXPECT_EQ(wire.take(), "*9\r\n$4\r\nMSET\r\n" + bulk("a") + bulk("1") + bulk("b") + bulk("") +
                             bulk("c") + bulk("3") + bulk("d") + bulk("4"));
  wire.feed("+OK\r\n", 1);
  expect_stored(wire, ticket);
}

TEST_F(RespMset, AnErrorLeavesEachKeyToBeSetAlone) {
  for (const std::string& error : {redirect("a"), "-OOM command not allowed\r\n"s,
                                   "-TRYAGAIN later\r\n"s, "-LOADING the dataset\r\n"s}) {
    ReadyWire fresh;
    const Ticket ticket = fresh.submit(set_many(keys, values));
    const Ticket other = fresh.submit(get("k"));
    fresh.take();
    fresh.feed(error + "$1\r\nk\r\n");
    for (const std::uint32_t index : {0u, 1u, 2u, 3u}) {
      const Seen item = fresh.next();
      EXPECT_EQ(item.kind, Event::Kind::item);
      EXPECT_EQ(item.ticket, ticket);
      EXPECT_EQ(item.index, index);
      EXPECT_EQ(item.status, Status::refused);
      EXPECT_TRUE(item.unsure);
    }
    EXPECT_EQ(fresh.next().kind, Event::Kind::reply);
    EXPECT_EQ(fresh.next().ticket, other);
    fresh.submit(set_many(keys, values));
    EXPECT_TRUE(fresh.take().starts_with("*9\r\n$4\r\nMSET")) << error;
  }
}

TEST_F(RespMset, OnceTheServerHasRefusedItEachKeyHasASet) {
  for (const std::string_view error :
       {"-NOPERM no MSET\r\n", "-ERR unknown command 'MSET'\r\n", "-CROSSSLOT keys\r\n"}) {
    ReadyWire fresh;
    fresh.submit(set_many(keys, values));
    fresh.take();
    fresh.feed(error);
    EXPECT_TRUE(fresh.next().unsure) << error;
    fresh.events.clear();
    const Ticket ticket = fresh.submit(set_many(keys, values));
    EXPECT_EQ(fresh.sent(), "SET a 1; SET b ; SET c 3; SET d 4");
    fresh.feed("+OK\r\n+OK\r\n+OK\r\n+OK\r\n", 2);
    expect_stored(fresh, ticket);
  }
}

TEST_F(RespMset, AnErrorOfOneSetConcernsItsKeyOnly) {
  ReadyWire member(Server::garnet);
  member.submit(set_many(keys, values));
  EXPECT_EQ(member.sent(), "SET a 1; SET b ; SET c 3; SET d 4") << "keys of several slots";
  member.feed("+OK\r\n" + redirect("b") + "-NOPERM no keys\r\n+OK\r\n");
  EXPECT_EQ(member.next().status, Status::done);
  const Seen moved = member.next();
  EXPECT_TRUE(moved.unsure && moved.redirect);
  EXPECT_TRUE(member.next().unsure);
  EXPECT_EQ(member.next().status, Status::done);
  EXPECT_EQ(member.next().kind, Event::Kind::reply);
  const std::vector<std::string_view> tagged{"{t}a", "{t}b", "t"};
  const std::vector<std::string_view> three{"1", "2", "3"};
  member.submit(set_many(tagged, three));
  EXPECT_EQ(member.sent(), "MSET {t}a 1 {t}b 2 t 3");
}

// It may have been carried out, so it is not repeated.
TEST_F(RespMset, AnErrorThatProvesNothingEndsAllKeys) {
  wire.submit(set_many(keys, values));
  wire.take();
  wire.feed("-WEIRD thing\r\n");
  const Seen end = wire.next();
  EXPECT_EQ(end.kind, Event::Kind::reply);
  EXPECT_EQ(end.status, Status::refused);
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(RespMset, ACancelledOneKeepsItsPlace) {
  for (const std::string& answer : {"+OK\r\n"s, redirect("a"), "-NOPERM no\r\n"s}) {
    expect_kept_place(set_many(keys, values), answer);
  }
}

TEST_F(RespMset, IsAnsweredByOkOnly) {
  for (const std::string_view odd :
       {"+QUEUED\r\n", "_\r\n", ":4\r\n", "$2\r\nOK\r\n", "*4\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n"}) {
    ReadyWire fresh;
    fresh.submit(set_many(keys, values));
    fresh.take();
    fresh.feed(odd);
    EXPECT_EQ(fresh.end().reason, Reason::protocol_error) << odd;
  }
  ReadyWire unsent;
  unsent.submit(set_many(keys, values));
  unsent.take(10);
  unsent.feed("+OK\r\n");
  EXPECT_EQ(unsent.end().reason, Reason::protocol_error) << "before all of it has left";
}

}  // namespace
}  // namespace sheaf::protocol::resp
