// The binary session, word by word.

#include <gtest/gtest.h>

#include "tests/protocol/memcached/session_harness.h"
#include "tests/support/logins.h"

namespace sheaf::protocol::memcached {
namespace {

std::string hex_of(std::string_view spaced) {
  std::string digits;
  for (const char c : spaced) {
    if (c != ' ') digits.push_back(c);
  }
  return digits;
}

constexpr std::uint32_t first_opaque = 3;  // opaque of the first request after the greeting

// ---- greeting

TEST(BinaryGreeting, WithoutCredentialsVersionThenANoOp) {
  Wire<BinarySession> wire;
  EXPECT_EQ(wire.take(), "");
  wire.session.start(wire.now());
  EXPECT_EQ(hex_encode(wire.take()),
            hex_of("80 0B 0000 00 00 0000 00000000 00000001 0000000000000000"));
  EXPECT_EQ(wire.session.room(), 0u);
  wire.feed(binary_version(1));
  EXPECT_EQ(hex_encode(wire.take()),
            hex_of("80 0A 0000 00 00 0000 00000000 00000002 0000000000000000"));
  EXPECT_FALSE(wire.session.ready());
  wire.feed(binary_no_op(2));
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_EQ(wire.session.server().version, (ServerVersion{1, 6, 18}));
  EXPECT_EQ(wire.session.room(), 512u);
  EXPECT_TRUE(wire.session.clean());
}

SessionOptions with_credentials() {
  SessionOptions options = test_options();
  options.login = test::login_slot("cache", "s3cret");
  return options;
}

TEST(BinaryGreeting, ThePasswordGoesOnlyToAServerThatAnswersInBinary) {
  Wire<BinarySession> wire(with_credentials());
  wire.session.start(wire.now());
  EXPECT_EQ(wire.take().find("s3cret"), std::string::npos);
  wire.feed(binary_version(1));
  EXPECT_EQ(hex_encode(wire.take()),
            hex_of("80 21 0005 00 00 0000 00000012 00000002 0000000000000000 504C41494E "
                   "00 6361636865 00 733363726574"));
  wire.feed(encoded(TextReply{.opcode = Opcode::sasl_auth, .opaque = 2, .text = "Authenticated"}));
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_EQ(wire.take(), "");
}

struct Refused {
  StatusCode status;
  const char* text;
  const char* reason;
};

TEST(BinaryGreeting, ARefusedLogInIsOneClearSentenceAndPermanent) {
  const Refused cases[] = {
      {StatusCode::auth_error, "Auth failure.", "the server refused the log-in (Auth failure.)"},
      {StatusCode::auth_continue, "", "the server refused the log-in (authentication continues)"},
      {StatusCode::auth_error, "s3cret is wrong", "the server refused the log-in (... is wrong)"},
      {StatusCode::unknown_command, "Unknown command",
       "the server has no log-in (SASL is off), but a user name is configured"},
  };
  for (const Refused& item : cases) {
    Wire<BinarySession> wire(with_credentials());
    wire.session.start(wire.now());
    wire.take();
    wire.feed(binary_version(1));
    wire.take();
    wire.feed(binary_failure(Opcode::sasl_auth, 2, item.status, item.text));
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_EQ(wire.session.close_reason().reason, Reason::authentication);
    EXPECT_EQ(wire.session.close_reason().text, item.reason);
    EXPECT_TRUE(wire.session.close_reason().permanent);
  }
}

// It would be wrong to believe for long that the password is.
TEST(BinaryGreeting, ALogInThatCannotBeLookedAtNowIsTriedAgainSoon) {
  for (const StatusCode status : {StatusCode::out_of_memory, StatusCode::busy,
                                  StatusCode::temporary_failure, StatusCode::internal_error}) {
    Wire<BinarySession> wire(with_credentials());
    wire.session.start(wire.now());
    wire.take();
    wire.feed(binary_version(1));
    wire.take();
    wire.feed(binary_failure(Opcode::sasl_auth, 2, status));
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_EQ(wire.session.close_reason().reason, Reason::connect_failed) << to_string(status);
    EXPECT_FALSE(wire.session.close_reason().permanent) << to_string(status);
  }
}

TEST(BinaryGreeting, ARefusedNoOpIsAnAnswer) {
  for (const StatusCode status : {StatusCode::out_of_memory, StatusCode::busy}) {
    Wire<BinarySession> wire;
    wire.session.start(wire.now());
    wire.take();
    wire.feed(binary_version(1));
    wire.take();
    wire.feed(binary_failure(Opcode::no_op, 2, status));
    EXPECT_EQ(wire.next().kind, Event::Kind::ready) << to_string(status);
  }
  Wire<BinarySession> wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed(binary_version(1));
  wire.take();
  wire.feed(binary_failure(Opcode::no_op, 2, StatusCode::unknown_command));
  EXPECT_EQ(wire.next().kind, Event::Kind::closed) << "the server is out of step after it";
  EXPECT_FALSE(wire.session.close_reason().permanent);
}

TEST(BinaryGreeting, AServerThatWantsALogInIsFoundOutBeforeTheFirstRequest) {
  Wire<BinarySession> wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed(binary_version(1));
  wire.take();
  wire.feed(binary_failure(Opcode::no_op, 2, StatusCode::auth_error, "Auth failure."));
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.session.close_reason().reason, Reason::authentication);
  EXPECT_EQ(wire.session.close_reason().text, "the server requires a user name and a password");
}

TEST(BinaryGreeting, OnlyTheVersionAsksNothingElseAndTakesNoRequests) {
  SessionOptions options = with_credentials();
  options.only_version = true;
  Wire<BinarySession> wire(options);
  wire.session.start(wire.now());
  EXPECT_EQ(wire.take(), encoded(BareRequest{Opcode::version, 1}) + "\n");
  wire.feed(binary_version(1, "1.4.5_4_gaa7839e"));
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_EQ(wire.session.server().version, (ServerVersion{1, 4, 5}));
  EXPECT_EQ(wire.take(), "");
  EXPECT_EQ(wire.refusal(get("k")).outcome, Outcome::overloaded);
  EXPECT_FALSE(wire.session.poll_deadline().has_value());
  EXPECT_EQ(wire.session.server().dialect, Dialect::this_one);
}

TEST(BinaryGreeting, AServerThatSpeaksTextIsFoundOutByTheLineEnd) {
  struct Case {
    const char* answer;
    Dialect dialect;
    const char* text;
  };
  const Case cases[] = {
      {"CLIENT_ERROR unauthenticated\r\n", Dialect::text_and_log_in,
       "the server speaks text and requires a log-in (-Y)"},
      {"ERROR\r\n", Dialect::text, "the server speaks text only"},
      {"ERROR Too many open connections\r\n", Dialect::unknown,
       "the server has too many open connections"},
      {"HTTP/1.1 400 Bad Request\r\n", Dialect::unknown,
       "the server does not answer as memcached: it looks like an HTTP server"},
  };
  for (const Case& item : cases) {
    SessionOptions options = with_credentials();
    options.only_version = true;
    Wire<BinarySession> wire(options);
    wire.session.start(wire.now());
    wire.take();
    wire.feed(item.answer, 1);
    EXPECT_EQ(wire.session.server().dialect, item.dialect);
    EXPECT_EQ(wire.session.close_reason().text, item.text);
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  }
}

TEST(BinaryGreeting, TooManyConnectionsIsReadAsThat) {
  Wire<BinarySession> wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed("ERROR Too many open connections\r\n", 1);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.session.close_reason().reason, Reason::connect_failed);
  EXPECT_EQ(wire.session.close_reason().text, "the server has too many open connections");
  EXPECT_FALSE(wire.session.close_reason().permanent);

  BinaryWire later;
  const Ticket ticket = later.submit(get("k"));
  later.take();
  later.feed("ERROR Too many open connections\r\n");
  const Seen failed = later.next();
  EXPECT_EQ(failed.ticket, ticket);
  EXPECT_EQ(failed.kind, Event::Kind::failed);
  EXPECT_EQ(failed.sent, Sent::maybe);
  EXPECT_EQ(later.session.close_reason().reason, Reason::connection_lost);
}

TEST(BinaryGreeting, CredentialsThatCannotBeSentAreBadConfiguration) {
  for (const auto& [user, password] : std::vector<std::pair<std::string, std::string>>{
           {"", "p"}, {"u\0x"s, "p"}, {"u", "p\0"s}, {std::string(1025, 'u'), "p"}}) {
    SessionOptions options = test_options();
    options.login = test::login_slot(user, password);
    Wire<BinarySession> wire(options);
    wire.session.start(wire.now());
    EXPECT_EQ(wire.take(), "");
    wire.poll();
    EXPECT_EQ(wire.session.close_reason().reason, Reason::bad_configuration);
  }
}

// ---- requests

TEST(BinaryRequests, OneOperationIsOnePacket) {
  Operation store = set("k", "v");
  store.flags = 0xdeadbeef;
  Operation counted = operation(Verb::increment, "n");
  counted.delta = 2;
  Operation created = operation(Verb::decrement, "n");
  created.initial = 5;
  created.ttl = 60s;
  struct Case {
    Operation asked;
    const char* hex;  // after the magic; the opaque is 3
  };
  const Case cases[] = {
      {get("k"), "00 0001 00 00 0000 00000001 00000003 0000000000000000 6B"},
      {living(operation(Verb::get_and_touch, "k"), 30s),
       "1D 0001 04 00 0000 00000005 00000003 0000000000000000 0000001E 6B"},
      {living(operation(Verb::touch, "k"), 1500ms),
       "1C 0001 04 00 0000 00000005 00000003 0000000000000000 00000002 6B"},
      {operation(Verb::touch, "k"),
       "1C 0001 04 00 0000 00000005 00000003 0000000000000000 00000000 6B"},
      {store, "01 0001 08 00 0000 0000000A 00000003 0000000000000000 DEADBEEF 00000000 6B 76"},
      {living(set("k", "v"), 1ms),
       "01 0001 08 00 0000 0000000A 00000003 0000000000000000 00000000 00000001 6B 76"},
      {with(set("k", "v"), Condition::if_absent),
       "02 0001 08 00 0000 0000000A 00000003 0000000000000000 00000000 00000000 6B 76"},
      {with(set("k", ""), Condition::if_present),
       "03 0001 08 00 0000 00000009 00000003 0000000000000000 00000000 00000000 6B"},
      {if_version(set("k", "v"), "258"),
       "01 0001 08 00 0000 0000000A 00000003 0000000000000102 00000000 00000000 6B 76"},
      {operation(Verb::append, "k", "v"),
       "0E 0001 00 00 0000 00000002 00000003 0000000000000000 6B 76"},
      {operation(Verb::prepend, "k", "v"),
       "0F 0001 00 00 0000 00000002 00000003 0000000000000000 6B 76"},
      {operation(Verb::remove, "k"), "04 0001 00 00 0000 00000001 00000003 0000000000000000 6B"},
      {if_version(operation(Verb::remove, "k"), "7"),
       "04 0001 00 00 0000 00000001 00000003 0000000000000007 6B"},
      {counted,
       "05 0001 14 00 0000 00000015 00000003 0000000000000000 0000000000000002 0000000000000000 "
       "FFFFFFFF 6E"},
      {created,
       "06 0001 14 00 0000 00000015 00000003 0000000000000000 0000000000000001 0000000000000005 "
       "0000003C 6E"},
      {operation(Verb::probe), "0A 0000 00 00 0000 00000000 00000003 0000000000000000"},
      {operation(Verb::server_version), "0B 0000 00 00 0000 00000000 00000003 0000000000000000"},
      {operation(Verb::stats), "10 0000 00 00 0000 00000000 00000003 0000000000000000"},
      {operation(Verb::stats, "items"),
       "10 0005 00 00 0000 00000005 00000003 0000000000000000 6974656D73"},
  };
  for (const Case& item : cases) {
    BinaryWire wire;
    wire.submit(item.asked);
    EXPECT_EQ(hex_encode(wire.take()), "80" + hex_of(item.hex)) << to_string(item.asked.verb);
  }
}

TEST(BinaryRequests, WhatItHasNotIsRefusedBeforeAByteIsQueued) {
  Operation fenced = set("k", "v");
  fenced.fence = "token";
  Operation flagged = get("k");
  flagged.flags = 1;
  struct Case {
    Operation asked;
    Outcome outcome;
  };
  const Case cases[] = {
      {operation(Verb::clock), Outcome::unsupported},
      {operation(Verb::watch, "k"), Outcome::unsupported},
      {living(operation(Verb::lease, "k"), 30s), Outcome::unsupported},
      {with(set("k", "v"), Condition::if_absent_or_equal), Outcome::unsupported},
      {with(operation(Verb::remove, "k"), Condition::if_value), Outcome::unsupported},
      {with(operation(Verb::remove, "k"), Condition::if_present), Outcome::unsupported},
      {with(get("k"), Condition::if_absent), Outcome::unsupported},
      {living(get("k"), 1s), Outcome::unsupported},
      {living(operation(Verb::remove, "k"), 1s), Outcome::unsupported},
      {fenced, Outcome::unsupported},
      {flagged, Outcome::unsupported},
      {living(set("k", "v"), -1ms), Outcome::invalid},
      {living(operation(Verb::increment, "k"), 1s), Outcome::invalid},
      {if_version(set("k", "v"), "0"), Outcome::invalid},
      {if_version(set("k", "v"), ""), Outcome::invalid},
      {operation(Verb::stats, "detail on"), Outcome::invalid},
      {get(""), Outcome::invalid},
  };
  BinaryWire wire;
  for (const Case& item : cases) {
    EXPECT_EQ(wire.refusal(item.asked).outcome, item.outcome) << to_string(item.asked.verb);
  }
  EXPECT_EQ(wire.refusal(get(std::string(251, 'k'))).reason, Reason::too_large);
  EXPECT_EQ(
      wire.refusal(set("k", std::string(1'048'517, 'v'))).text,
      "the value of 1048517 bytes is above the largest that fits into an item of the server, of "
      "1048516 bytes");
  EXPECT_EQ(wire.refusal(set("k", std::string(2'000'001, 'v'))).text,
            "the value of 2000001 bytes is above value_limit of 2000000 bytes");
  EXPECT_EQ(wire.take(), "");
  EXPECT_EQ(wire.session.in_flight(), 0u);
}

TEST(BinaryRequests, TouchNeedsAServerThatHasIt) {
  BinaryWire old(test_options(), "1.4.7");
  EXPECT_EQ(old.refusal(operation(Verb::touch, "k")).outcome, Outcome::unsupported);
  EXPECT_EQ(old.refusal(operation(Verb::get_and_touch, "k")).outcome, Outcome::unsupported);
  EXPECT_NE(old.submit(get("k")), Ticket{});
  BinaryWire foreign(test_options(), "a build of ours");
  EXPECT_EQ(foreign.refusal(operation(Verb::touch, "k")).outcome, Outcome::unsupported);
}

TEST(BinaryRequests, ALongTimeToLiveIsSentAsAPointInTime) {
  BinaryWire wire;
  wire.submit(living(operation(Verb::touch, "k"), 31 * 24h));
  const std::string bytes = wire.take();
  ByteReader reader(bytes);
  EXPECT_EQ(TouchRequest::parse(reader)->expiry, 1'700'000'000u + 31 * 86'400);
}

// ---- replies

Seen ask(const Operation& asked, std::string_view answer) {
  BinaryWire wire;
  return wire.ask(asked, answer);
}

TEST(BinaryReplies, AHitHasValueFlagsAndVersion) {
  const GetReply hit{.opaque = first_opaque,
                     .cas = 18'446'744'073'709'551'615u,
                     .flags = 0xdeadbeef,
                     .value = "a\0b"sv};
  const Seen seen = ask(get("k"), encoded(hit));
  EXPECT_EQ(seen.status, Status::done);
  EXPECT_EQ(seen.value, "a\0b"s);
  EXPECT_EQ(seen.flags, 0xdeadbeefu);
  EXPECT_EQ(seen.version, "18446744073709551615");
  // A server without CAS (-C) returns 0, which is no version.
  EXPECT_EQ(ask(get("k"), encoded(GetReply{.opaque = first_opaque, .value = "v"})).version, "");
}

TEST(BinaryReplies, OneStatusForEachOutcome) {
  using enum StatusCode;
  struct Case {
    Operation asked;
    Opcode opcode;
    StatusCode code;
    Status status;
    Reason reason = Reason::other;
  };
  const Operation add = with(set("k", "v"), Condition::if_absent);
  const Operation replace = with(set("k", "v"), Condition::if_present);
  const Operation swap = if_version(set("k", "v"), "5");
  const Operation append = operation(Verb::append, "k", "v");
  const Operation remove = operation(Verb::remove, "k");
  const Operation remove_if = if_version(remove, "5");
  const Operation count = operation(Verb::increment, "k");
  const Operation touch = operation(Verb::touch, "k");
  const Operation get_and_touch = operation(Verb::get_and_touch, "k");
  const Operation stats = operation(Verb::stats, "items");
  const Case cases[] = {
      {get("k"), Opcode::get, key_not_found, Status::absent},
      {get("k"), Opcode::get, busy, Status::refused},
      {get("k"), Opcode::get, temporary_failure, Status::refused},
      {get_and_touch, Opcode::get_and_touch, key_not_found, Status::absent},
      {touch, Opcode::touch, key_not_found, Status::absent},
      {set("k", "v"), Opcode::set, success, Status::done},
      {set("k", "v"), Opcode::set, value_too_large, Status::refused, Reason::too_large},
      {set("k", "v"), Opcode::set, out_of_memory, Status::refused, Reason::quota},
      {set("k", "v"), Opcode::set, not_supported, Status::refused},
      {add, Opcode::add, key_exists, Status::not_stored},
      {replace, Opcode::replace, key_not_found, Status::not_stored},
      {swap, Opcode::set, key_exists, Status::not_stored},
      {swap, Opcode::set, key_not_found, Status::absent},
      {append, Opcode::append, success, Status::done},
      {append, Opcode::append, not_stored, Status::not_stored},
      {append, Opcode::append, key_not_found, Status::not_stored},
      {remove, Opcode::remove, success, Status::done},
      {remove, Opcode::remove, key_not_found, Status::absent},
      {remove_if, Opcode::remove, key_exists, Status::not_stored},
      {count, Opcode::increment, key_not_found, Status::absent},
      {count, Opcode::increment, non_numeric, Status::refused, Reason::wrong_type},
      {count, Opcode::increment, not_stored, Status::refused},
      {stats, Opcode::stat, key_not_found, Status::refused, Reason::bad_argument},
      {operation(Verb::probe), Opcode::no_op, success, Status::done},
      {operation(Verb::probe), Opcode::no_op, out_of_memory, Status::done},
      {operation(Verb::probe), Opcode::no_op, busy, Status::done},
  };
  for (const Case& item : cases) {
    BinaryWire wire;
    const Seen seen = wire.ask(item.asked, binary_failure(item.opcode, first_opaque, item.code));
    EXPECT_EQ(seen.kind, Event::Kind::reply);
    EXPECT_EQ(seen.status, item.status) << to_string(item.code);
    EXPECT_EQ(seen.reason, item.reason) << to_string(item.code);
    EXPECT_EQ(seen.text.empty(), item.status != Status::refused) << to_string(item.code);
    EXPECT_FALSE(wire.session.closed());
    EXPECT_TRUE(wire.session.clean());
  }
}

TEST(BinaryReplies, NumbersVersionsAndTouches) {
  const Seen number = ask(operation(Verb::increment, "n"),
                          encoded(ArithmeticReply{.opaque = 3, .cas = 4, .number = 42}));
  EXPECT_EQ(number.number, 42u);
  EXPECT_EQ(number.version, "4");
  EXPECT_EQ(ask(operation(Verb::server_version), binary_version(first_opaque)).value, "1.6.18");
  const Seen touched = ask(operation(Verb::touch, "k"),
                           encoded(TouchReply{.opaque = first_opaque, .cas = 9, .flags = 5}));
  EXPECT_EQ(touched.flags, 5u);
  EXPECT_EQ(touched.version, "9");
  const Seen stored = ask(set("k", "v"), encoded(PlainReply{.opaque = first_opaque, .cas = 11}));
  EXPECT_EQ(stored.version, "11");
}

TEST(BinaryReplies, StatisticsAreOneReply) {
  BinaryWire wire;
  wire.submit(operation(Verb::stats));
  wire.take();
  wire.feed(encoded(StatReply{.opaque = first_opaque, .name = "pid", .value = "12"}) +
                encoded(StatReply{.opaque = first_opaque, .name = "version", .value = "1.6.18"}),
            1);
  EXPECT_TRUE(wire.events.empty());
  wire.feed(encoded(StatReply{.opaque = first_opaque}));
  EXPECT_EQ(wire.next().value, "pid 12\nversion 1.6.18\n");
  EXPECT_TRUE(wire.session.clean());
}

TEST(BinaryReplies, StatisticsWithoutEndAreBounded) {
  BinaryWire wire;
  wire.submit(operation(Verb::stats));
  wire.take();
  const std::string one =
      encoded(StatReply{.opaque = first_opaque, .name = "n", .value = std::string(60'000, 'x')});
  for (int i = 0; i < 100; ++i) wire.feed(one);
  wire.feed(encoded(StatReply{.opaque = first_opaque}));
  EXPECT_EQ(wire.next().reason, Reason::too_large);
  EXPECT_EQ(wire.ask(operation(Verb::stats), encoded(StatReply{.opaque = first_opaque + 1})).value,
            "");
}

// ---- several at once

TEST(BinaryGets, SubmittedTogetherEachIsPlainAndHasItsReply) {
  BinaryWire wire;
  std::vector<Ticket> tickets;
  for (const char* key : {"a", "b", "a"}) tickets.push_back(wire.submit(get(key)));
  tickets.push_back(wire.submit(living(operation(Verb::get_and_touch, "a"), 9s)));
  tickets.push_back(wire.submit(operation(Verb::remove, "a")));
  tickets.push_back(wire.submit(get("a")));
  EXPECT_EQ(wire.take(), encoded(GetRequest{Opcode::get, 3, "a"}) +
                             encoded(GetRequest{Opcode::get, 4, "b"}) +
                             encoded(GetRequest{Opcode::get, 5, "a"}) +
                             encoded(TouchRequest{Opcode::get_and_touch, 6, 9, "a"}) +
                             encoded(RemoveRequest{.opaque = 7, .key = "a"}) +
                             encoded(GetRequest{Opcode::get, 8, "a"}));
  wire.feed(binary_hit(Opcode::get, 3, "1") +
            binary_failure(Opcode::get, 4, StatusCode::key_not_found, "Not found") +
            binary_hit(Opcode::get, 5, "2") + binary_hit(Opcode::get_and_touch, 6, "3") +
            encoded(PlainReply{.opcode = Opcode::remove, .opaque = 7}) +
            binary_failure(Opcode::get, 8, StatusCode::key_not_found, "Not found"));
  const char* const values[] = {"1", "", "2", "3", "", ""};
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    const Seen seen = wire.next();
    EXPECT_EQ(seen.kind, Event::Kind::reply);
    EXPECT_EQ(seen.ticket, tickets[i]);
    EXPECT_EQ(seen.value, values[i]);
    EXPECT_EQ(seen.status, i == 1 || i == 5 ? Status::absent : Status::done);
  }
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

TEST(BinaryGets, OneCancelledBeforeItLeavesIsNotAskedFor) {
  BinaryWire wire;
  wire.submit(get("a"));
  const Ticket second = wire.submit(get("b"));
  EXPECT_EQ(wire.session.cancel(second, wire.now()), Sent::no);
  EXPECT_EQ(wire.take(), encoded(GetRequest{Opcode::get, 3, "a"}));
  wire.feed(binary_hit(Opcode::get, 3, "A"));
  EXPECT_EQ(wire.next().value, "A");
  EXPECT_TRUE(wire.session.clean());
}

}  // namespace
}  // namespace sheaf::protocol::memcached
