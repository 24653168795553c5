// Every operation as commands, and every reply to it as an event, for each server.

#include <gtest/gtest.h>

#include "protocol/resp/changes/rules.h"
#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

class RespVerbs : public testing::TestWithParam<Server> {
 protected:
  bool is_garnet() const { return GetParam() == Server::garnet; }
  bool is_known() const { return GetParam() != Server::unknown && !is_garnet(); }
  std::string null() const { return null_of(GetParam()); }

  ReadyWire wire{GetParam()};
};

TEST_P(RespVerbs, Get) {
  const Seen hit = wire.ask(get("k"), "$5\r\nhello\r\n");
  EXPECT_EQ(wire.written, "GET k");
  EXPECT_EQ(hit.kind, Event::Kind::reply);
  EXPECT_EQ(hit.status, Status::done);
  EXPECT_EQ(hit.value, "hello");
  EXPECT_EQ(wire.ask(get("k"), "$0\r\n\r\n").status, Status::done) << "empty is there";
  for (const std::string_view none : {"_\r\n", "$-1\r\n", "*-1\r\n"}) {
    EXPECT_EQ(wire.ask(get("k"), none).status, Status::absent) << "Garnet mixes them";
  }
  EXPECT_EQ(wire.ask(get("\0\r\n"sv), bulk("\r\n\0"sv)).value, "\r\n\0"s);
}

TEST_P(RespVerbs, Set) {
  EXPECT_EQ(wire.ask(set("k", "v"), "+OK\r\n").status, Status::done);
  EXPECT_EQ(wire.written, "SET k v");
  EXPECT_EQ(wire.ask(living(set("k", ""), 1ms), "+OK\r\n").status, Status::done);
  EXPECT_EQ(wire.written, "SET k  PX 1");
  wire.ask(with(set("k", "v"), Condition::if_absent), "+OK\r\n");
  EXPECT_EQ(wire.written, "SET k v NX");
  const Operation conditional = with(living(set("k", "v"), 1'500ms), Condition::if_present);
  EXPECT_EQ(wire.ask(conditional, null()).status, Status::not_stored);
  EXPECT_EQ(wire.written, "SET k v PX 1500 XX");
}

TEST_P(RespVerbs, LongLivesAreGivenInSeconds) {
  wire.ask(living(set("k", "v"), 2'147'483'647ms), "+OK\r\n");
  EXPECT_EQ(wire.written, "SET k v PX 2147483647");
  wire.ask(living(set("k", "v"), 2'147'483'648ms), "+OK\r\n");
  EXPECT_EQ(wire.written, "SET k v EX 2147484") << "rounded up";
}

TEST_P(RespVerbs, Remove) {
  EXPECT_EQ(wire.ask(operation(Verb::remove, "k"), ":1\r\n").status, Status::done);
  EXPECT_EQ(wire.written, "DEL k");
  EXPECT_EQ(wire.ask(operation(Verb::remove, "k"), ":0\r\n").status, Status::absent);
}

// Garnet answers PEXPIRE and PERSIST of an expired key with 128 KiB of garbage.
TEST_P(RespVerbs, Touch) {
  const Operation touch = living(operation(Verb::touch, "k"), 30s);
  if (is_known()) {
    EXPECT_EQ(wire.ask(touch, ":1\r\n").status, Status::done);
    EXPECT_EQ(wire.written, "PEXPIRE k 30000");
    EXPECT_EQ(wire.ask(touch, ":0\r\n").status, Status::absent);
    return;
  }
  const Seen done = wire.ask(touch, "$1\r\nv\r\n");
  EXPECT_EQ(wire.written, "GETEX k PX 30000");
  EXPECT_EQ(done.status, Status::done);
  EXPECT_EQ(done.value, "") << "nobody asked for it";
  EXPECT_EQ(wire.ask(touch, null()).status, Status::absent);
  EXPECT_EQ(wire.ask(touch, bulk(std::string(2'000'001, 'v'))).status, Status::done)
      << "however large it is";
}

// The reply to PERSIST does not say if the key exists.
TEST_P(RespVerbs, TouchForEver) {
  if (GetParam() == Server::old_redis) {
    EXPECT_EQ(wire.refusal(operation(Verb::touch, "k")).text, "GETEX needs Redis 6.2");
    return;
  }
  EXPECT_EQ(wire.ask(operation(Verb::touch, "k"), "$1\r\nv\r\n").status, Status::done);
  EXPECT_EQ(wire.written, "GETEX k PERSIST");
  EXPECT_EQ(wire.ask(operation(Verb::touch, "k"), null()).status, Status::absent);
}

TEST_P(RespVerbs, GetAndTouch) {
  const Operation touch = living(operation(Verb::get_and_touch, "k"), 30s);
  if (GetParam() == Server::old_redis) {
    EXPECT_EQ(wire.refusal(touch).outcome, Outcome::unsupported);
    return;
  }
  const Seen got = wire.ask(touch, "$1\r\nv\r\n");
  EXPECT_EQ(wire.written, "GETEX k PX 30000");
  EXPECT_EQ(got.value, "v");
  EXPECT_EQ(wire.ask(operation(Verb::get_and_touch, "k"), null()).status, Status::absent);
  EXPECT_EQ(wire.written, "GETEX k PERSIST");
}

TEST_P(RespVerbs, GetAndSet) {
  const Operation exchange = operation(Verb::get_and_set, "k", "v");
  const Operation once = with(exchange, Condition::if_absent);
  if (GetParam() == Server::old_redis) {
    EXPECT_EQ(wire.refusal(exchange).outcome, Outcome::unsupported);
    EXPECT_EQ(wire.refusal(exchange).text, "SET with GET needs Redis 6.2");
    return;
  }
  const Seen former = wire.ask(exchange, "$1\r\nu\r\n");
  EXPECT_EQ(wire.written, "SET k v GET");
  EXPECT_EQ(former.status, Status::done);
  EXPECT_EQ(former.value, "u");
  EXPECT_EQ(wire.ask(exchange, null()).status, Status::absent);
  EXPECT_EQ(wire.ask(living(once, 30s), null()).status, Status::absent);
  EXPECT_EQ(wire.written, "SET k v PX 30000 NX GET");
  EXPECT_EQ(wire.ask(with(exchange, Condition::if_present), null()).status, Status::absent);
  EXPECT_EQ(wire.written, "SET k v XX GET");
  for (const Condition other :
       {Condition::if_absent_or_equal, Condition::if_value, Condition::if_version}) {
    EXPECT_EQ(wire.refusal(with(exchange, other)).outcome, Outcome::unsupported);
  }
  EXPECT_EQ(wire.ask(exchange, "-WRONGTYPE no\r\n").reason, Reason::wrong_type);
  wire.ask(exchange, "+OK\r\n");
  EXPECT_TRUE(wire.session.closed()) << "a server that has not understood GET";
}

TEST_P(RespVerbs, GetAndSetSaysThatItHasStoredWhateverItCannotReturn) {
  if (GetParam() == Server::old_redis) return;
  const Operation exchange = operation(Verb::get_and_set, "k", "v");
  for (const std::size_t size : {2'000'001u, 5'000'000u}) {
    const Seen former = wire.ask(exchange, bulk(std::string(size, 'u')));
    EXPECT_EQ(former.status, Status::refused);
    EXPECT_EQ(former.reason, Reason::too_large);
    EXPECT_TRUE(former.executed);
    const Seen kept = wire.ask(with(exchange, Condition::if_absent), bulk(std::string(size, 'u')));
    EXPECT_EQ(kept.reason, Reason::too_large);
    EXPECT_FALSE(kept.executed);
  }
  EXPECT_FALSE(wire.ask(get("k"), bulk(std::string(2'000'001, 'u'))).executed);
}

TEST(RespOldServers, SetWithNxAndGetNeedsRedis7) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed("%2\r\n+server\r\n+redis\r\n+version\r\n+6.2.14\r\n");
  wire.take();
  wire.feed("+OK\r\n+OK\r\n+PONG\r\n");
  wire.next();
  const Operation exchange = operation(Verb::get_and_set, "k", "v");
  EXPECT_EQ(wire.refusal(with(exchange, Condition::if_absent)).text,
            "SET with NX and GET needs Redis 7.0");
  EXPECT_EQ(wire.ask(with(exchange, Condition::if_present), "_\r\n").status, Status::absent);
}

TEST_P(RespVerbs, Probe) {
  EXPECT_EQ(wire.ask(operation(Verb::probe), "+PONG\r\n").status, Status::done);
  EXPECT_EQ(wire.written, "PING");
  for (const char* error :
       {"-NOPERM no PING\r\n", "-MISCONF Redis is configured to save RDB snapshots\r\n",
        "-BUSY Redis is busy running a script\r\n"}) {
    EXPECT_EQ(wire.ask(operation(Verb::probe), error).status, Status::done)
        << "it answers, whatever it refuses: " << error;
  }
  for (const char* no_data :
       {"-LOADING Redis is loading\r\n", "-MASTERDOWN Link with MASTER is down\r\n"}) {
    EXPECT_EQ(wire.ask(operation(Verb::probe), no_data).status, Status::refused) << no_data;
  }
}

TEST_P(RespVerbs, TheVersionIsThatOfTheHandshake) {
  const Seen version = wire.ask(operation(Verb::server_version), "+PONG\r\n");
  EXPECT_EQ(wire.written, "PING");
  const auto expected = [&]() -> std::string {
    switch (GetParam()) {
      case Server::redis:
      case Server::redis_resp2:
        return "Redis 7.0.15";
      case Server::garnet:
        return "Garnet 2.2.8";
      case Server::valkey:
        return "Valkey 9.1.2";
      case Server::old_redis:
        return "Redis 5.0.7";
      case Server::unknown:
        break;
    }
    return "";
  };
  EXPECT_EQ(version.value, expected());
  if (GetParam() != Server::unknown) return;
  EXPECT_EQ(version.status, Status::refused);
  EXPECT_EQ(version.text, "the server has not reported its version");
}

TEST_P(RespVerbs, Stats) {
  const std::string info =
      "# Memory\r\nused_memory:100\r\n\r\n# Keyspace\r\ndb0:keys=1,expires=0\r\nodd line\r\n";
  const std::string reply = speaks_resp3(GetParam()) ? verbatim(info) : bulk(info);
  EXPECT_EQ(wire.ask(operation(Verb::stats), reply).value,
            "used_memory 100\ndb0 keys=1,expires=0\n");
  EXPECT_EQ(wire.written, "INFO");
  EXPECT_EQ(wire.ask(operation(Verb::stats, "memory"), bulk("a:1\nb:2")).value, "a 1\nb 2\n");
  EXPECT_EQ(wire.written, "INFO memory");
  EXPECT_EQ(wire.ask(operation(Verb::stats, "x"), bulk("")).value, "");
  const Seen refused = wire.ask(operation(Verb::stats, "x"), "-ERR Invalid section x.\r\n");
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_EQ(refused.text, "ERR Invalid section x.");
}

TEST_P(RespVerbs, StatisticsHaveALimit) {
  for (const std::size_t size : {std::size_t{(1 << 20) + 1}, std::size_t{3'000'000}}) {
    const Seen over = wire.ask(operation(Verb::stats), bulk(std::string(size, 'x')));
    EXPECT_EQ(over.reason, Reason::too_large);
    EXPECT_EQ(over.text, "the statistics are above 1 MiB");
  }
  EXPECT_EQ(wire.ask(operation(Verb::stats), bulk("a:1\r\n")).value, "a 1\n");
}

INSTANTIATE_TEST_SUITE_P(Servers, RespVerbs, testing::ValuesIn(every_server));

// ---- what is not accepted

TEST(RespRefusals, WhatTheProtocolHasNotIsRefusedInOneSentence) {
  ReadyWire wire;
  Operation fenced = set("k", "v");
  fenced.fence = "token";
  Operation flagged = set("k", "v");
  flagged.flags = 1;
  const std::pair<Operation, std::string_view> cases[] = {
      {operation(Verb::lease, "k"), "the Redis protocol has no operation \"lease\""},
      {operation(Verb::clock), "the Redis protocol has no operation \"clock\""},
      {with(get("k"), Condition::if_version), "only a set or a remove can have this condition"},
      {with(set("k", "v"), Condition::if_value), "only a remove can have this condition"},
      {with(operation(Verb::remove, "k"), Condition::if_present),
       "only a set can have this condition"},
      {with(operation(Verb::remove, "k"), Condition::if_absent_or_equal),
       "only a set can have this condition"},
      {living(operation(Verb::remove, "k"), 1s),
       "only an operation that creates or touches a key takes a time to live"},
      {fenced, "servers of the Redis protocol do not check fencing tokens"},
      {flagged, "servers of the Redis protocol keep no flags with a value"},
  };
  for (const auto& [refused, sentence] : cases) {
    const LocalError error = wire.refusal(refused);
    EXPECT_EQ(error.outcome, Outcome::unsupported) << sentence;
    EXPECT_EQ(error.text, sentence);
  }
  EXPECT_EQ(wire.sent(), "") << "not a byte is written";
  EXPECT_EQ(wire.session.in_flight(), 0u);
}

TEST(RespRefusals, BadArgumentsAreRefused) {
  ReadyWire wire;
  const std::vector<std::string_view> none;
  const std::vector<std::string_view> with_empty{"a", ""};
  const std::string long_key(longest_key + 1, 'k');
  const std::string large(2'000'001, 'v');
  EXPECT_EQ(wire.refusal(get("")).text, "the key is empty");
  EXPECT_EQ(wire.refusal(many(none)).text, "no keys are given");
  EXPECT_EQ(wire.refusal(many(with_empty)).text, "the key is empty");
  EXPECT_EQ(wire.refusal(get(long_key)).text,
            "the key of 8193 bytes is above the longest key of a request, of 8192 bytes");
  EXPECT_EQ(wire.refusal(set("k", large)).text,
            "the value of 2000001 bytes is above value_limit of 2000000 bytes");
  Operation count = operation(Verb::increment, "k");
  count.delta = std::uint64_t{1} << 63;
  EXPECT_EQ(wire.refusal(count).text,
            "the number to add, 9223372036854775808, is above the server's largest, "
            "9223372036854775807");
  EXPECT_EQ(wire.refusal(living(set("k", "v"), -1ms)).text, "the time to live is negative");
  EXPECT_EQ(wire.refusal(asking(many(with_empty))).text,
            "only a request for one key can be asking");
  EXPECT_EQ(wire.refusal(asking(operation(Verb::probe))).outcome, Outcome::invalid);
  EXPECT_EQ(wire.sent(), "");
}

// submit() copies the key and does not read it later.
TEST(RespRefusals, TheLongestKeyIsCopied) {
  ReadyWire wire;
  std::string key(longest_key, 'k');
  wire.submit(get(key));
  wire.submit(set(key, "v"));
  std::fill(key.begin(), key.end(), 'x');
  const std::string bytes = wire.take();
  EXPECT_EQ(bytes.find('x'), std::string::npos);
  EXPECT_GT(bytes.size(), 2 * longest_key);
}

}  // namespace
}  // namespace sheaf::protocol::resp
