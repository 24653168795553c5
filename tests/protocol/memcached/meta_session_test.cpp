// The meta session, line by line.

#include <gtest/gtest.h>

#include "tests/protocol/memcached/session_harness.h"
#include "tests/support/logins.h"

namespace sheaf::protocol::memcached {
namespace {

SessionOptions with_spaced_password() {
  SessionOptions options = test_options();
  options.login = test::login_slot("cache", "s3cret word");
  return options;
}

// ---- greeting

TEST(MetaGreeting, TheVersionComesFirst) {
  Wire<MetaSession> wire;
  wire.session.start(wire.now());
  EXPECT_EQ(wire.take(), "version\r\n");
  wire.feed("VERSION 1.6.18\r\n", 1);
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_EQ(wire.session.server().version, (ServerVersion{1, 6, 18}));
  EXPECT_EQ(wire.take(), "");
}

TEST(MetaGreeting, AnOldServerHasNoMeta) {
  for (const char* version : {"1.6.9", "1.5.22", "1.4.25", "unknown"}) {
    Wire<MetaSession> wire;
    wire.session.start(wire.now());
    wire.take();
    wire.feed("VERSION " + std::string(version) + "\r\n");
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_EQ(wire.session.close_reason().text, "the server is version " + std::string(version) +
                                                    "; the meta protocol needs memcached 1.6.10");
    EXPECT_TRUE(wire.session.close_reason().permanent);
  }
  SessionOptions options = test_options();
  options.only_version = true;
  Wire<MetaSession> wire(options);
  wire.session.start(wire.now());
  wire.take();
  wire.feed("VERSION 1.4.25\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_EQ(wire.session.server().version, (ServerVersion{1, 4, 25}));
}

TEST(MetaGreeting, LogInGoesOnlyToAServerThatAsksForIt) {
  Wire<MetaSession> wire(with_spaced_password());
  wire.session.start(wire.now());
  EXPECT_EQ(wire.take(), "version\r\n");
  wire.feed("CLIENT_ERROR unauthenticated\r\n");
  EXPECT_EQ(wire.take(), "set login 0 0 17\r\ncache s3cret word\r\n");
  wire.feed("STORED\r\n");
  EXPECT_EQ(wire.take(), "version\r\n");
  wire.feed("VERSION 1.6.18\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);

  // Without -Y the set would store the password as a value.
  Wire<MetaSession> open(with_spaced_password());
  open.session.start(open.now());
  open.take();
  open.feed("VERSION 1.6.18\r\n");
  EXPECT_EQ(open.take(), "");
  EXPECT_EQ(open.next().kind, Event::Kind::closed);
  EXPECT_EQ(open.session.close_reason().reason, Reason::authentication);
  EXPECT_EQ(open.session.close_reason().text,
            "the server takes no log-in in text (-Y is off), but a user name is configured");
}

TEST(MetaGreeting, APasswordThatTheServerRepeatsIsNotInTheReason) {
  Wire<MetaSession> wire(with_spaced_password());
  wire.session.start(wire.now());
  wire.take();
  wire.feed("CLIENT_ERROR unauthenticated\r\n");
  wire.take();
  wire.feed("CLIENT_ERROR not s3cret word\r\n");
  wire.poll();
  EXPECT_EQ(wire.session.close_reason().text,
            "the server refused the log-in (CLIENT_ERROR not ...)");
}

// It would be wrong to believe for long that the password is.
TEST(MetaGreeting, ALogInThatCannotBeLookedAtNowIsTriedAgainSoon) {
  Wire<MetaSession> wire(with_spaced_password());
  wire.session.start(wire.now());
  wire.take();
  wire.feed("CLIENT_ERROR unauthenticated\r\n");
  wire.take();
  wire.feed("SERVER_ERROR out of memory storing object\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.session.close_reason().reason, Reason::connect_failed);
  EXPECT_FALSE(wire.session.close_reason().permanent);
}

TEST(MetaGreeting, ARefusedLogInIsOneClearSentenceAndPermanent) {
  Wire<MetaSession> wire(with_spaced_password());
  wire.session.start(wire.now());
  wire.take();
  wire.feed("CLIENT_ERROR unauthenticated\r\n");
  wire.take();
  wire.feed("CLIENT_ERROR authentication failure\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.session.close_reason().reason, Reason::authentication);
  EXPECT_EQ(wire.session.close_reason().text,
            "the server refused the log-in (CLIENT_ERROR authentication failure)");
  EXPECT_TRUE(wire.session.close_reason().permanent);

  Wire<MetaSession> nobody;
  nobody.session.start(nobody.now());
  nobody.take();
  nobody.feed("CLIENT_ERROR unauthenticated\r\n");
  EXPECT_EQ(nobody.take(), "");
  nobody.poll();
  EXPECT_EQ(nobody.session.close_reason().text, "the server requires a user name and a password");

  Wire<MetaSession> twice(with_spaced_password());
  twice.session.start(twice.now());
  twice.take();
  twice.feed("CLIENT_ERROR unauthenticated\r\n");
  twice.take();
  twice.feed("STORED\r\n");
  twice.take();
  twice.feed("CLIENT_ERROR unauthenticated\r\n");
  EXPECT_EQ(twice.session.close_reason().reason, Reason::protocol_error);
}

TEST(MetaGreeting, TooManyConnections) {
  Wire<MetaSession> wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed("ERROR Too many open connections\r\n");
  EXPECT_EQ(wire.session.close_reason().text, "the server has too many open connections");
  EXPECT_FALSE(wire.session.close_reason().permanent);
}

TEST(MetaGreeting, CredentialsThatCannotBeSentAreBadConfiguration) {
  for (const auto& [user, password] :
       std::vector<std::pair<std::string, std::string>>{{"", "p"},
                                                        {"a b", "p"},
                                                        {"a:b", "p"},
                                                        {"u\r\nflush_all", "p"},
                                                        {"u", "p\r\nflush_all"},
                                                        {"u", "p\0"s}}) {
    SessionOptions options = test_options();
    options.login = test::login_slot(user, password);
    Wire<MetaSession> wire(options);
    wire.session.start(wire.now());
    EXPECT_EQ(wire.take(), "");
    EXPECT_EQ(wire.session.close_reason().reason, Reason::bad_configuration);
  }
}

// ---- requests

TEST(MetaRequests, OneOperationIsOneLine) {
  Operation store = set("k", "v");
  store.flags = 0xdeadbeef;
  Operation counted = operation(Verb::increment, "n");
  counted.delta = 2;
  Operation created = operation(Verb::decrement, "n");
  created.initial = 5;
  created.ttl = 60s;
  struct Case {
    Operation asked;
    const char* line;
  };
  const Case cases[] = {
      {get("k"), "mg k v f c O2\r\n"},
      {living(operation(Verb::get_and_touch, "k"), 30s), "mg k v f c T30 O2\r\n"},
      {living(operation(Verb::touch, "k"), 1500ms), "mg k f c T2 O2\r\n"},
      {operation(Verb::touch, "k"), "mg k f c T0 O2\r\n"},
      {living(operation(Verb::lease, "k"), 10s), "mg k v f c N10 O2\r\n"},
      {store, "ms k 1 c F3735928559 O2\r\nv\r\n"},
      {living(set("k", "v"), 1ms), "ms k 1 c T1 O2\r\nv\r\n"},
      {living(set("k", "v"), 31 * 24h), "ms k 1 c T1702678400 O2\r\nv\r\n"},
      {with(set("k", "v"), Condition::if_absent), "ms k 1 c ME O2\r\nv\r\n"},
      {with(set("k", ""), Condition::if_present), "ms k 0 c MR O2\r\n\r\n"},
      {if_version(set("k", "v"), "258"), "ms k 1 c C258 O2\r\nv\r\n"},
      {operation(Verb::append, "k", "v"), "ms k 1 c MA O2\r\nv\r\n"},
      {operation(Verb::prepend, "k", "v"), "ms k 1 c MP O2\r\nv\r\n"},
      {operation(Verb::remove, "k"), "md k O2\r\n"},
      {if_version(operation(Verb::remove, "k"), "7"), "md k C7 O2\r\n"},
      {counted, "ma n v c D2 O2\r\n"},
      {created, "ma n v c MD D1 N60 J5 O2\r\n"},
      {operation(Verb::probe), "mn\r\n"},
      {operation(Verb::server_version), "version\r\n"},
      {operation(Verb::stats), "mn\r\nstats\r\n"},
      {operation(Verb::stats, "items"), "mn\r\nstats items\r\n"},
      {get("a b\r\n"), "mg YSBiDQo= b v f c O2\r\n"},
  };
  for (const Case& item : cases) {
    MetaWire wire;
    wire.submit(item.asked);
    EXPECT_EQ(wire.take(), item.line);
  }
}

TEST(MetaRequests, ALargeValueIsNotCopied) {
  MetaWire wire;
  const std::string value(500'000, 'v');
  wire.submit(set("k", value));
  EXPECT_LT(wire.session.output_capacity(), 20'000u);
  EXPECT_EQ(wire.take(), "ms k 500000 c O2\r\n" + value + "\r\n");
}

TEST(MetaRequests, WhatItHasNotIsRefusedBeforeAByteIsQueued) {
  MetaWire wire;
  EXPECT_EQ(wire.refusal(operation(Verb::clock)).outcome, Outcome::unsupported);
  EXPECT_EQ(wire.refusal(operation(Verb::unwatch, "k")).outcome, Outcome::unsupported);
  EXPECT_EQ(wire.refusal(operation(Verb::lease, "k")).outcome, Outcome::invalid);
  EXPECT_EQ(wire.refusal(living(operation(Verb::lease, "k"), -1s)).outcome, Outcome::invalid);
  EXPECT_EQ(wire.refusal(operation(Verb::stats, "x\r\nflush_all")).outcome, Outcome::invalid);
  EXPECT_EQ(wire.refusal(get(std::string(251, 'k'))).reason, Reason::too_large);
  EXPECT_EQ(wire.refusal(get(std::string(187, ' '))).reason, Reason::too_large);
  EXPECT_EQ(wire.refusal(living(set("k", "v"), 24h * 365 * 15)).outcome, Outcome::invalid);
  EXPECT_EQ(wire.take(), "");
}

// ---- replies

Seen ask_meta(const Operation& asked, std::string_view answer,
              std::string_view version = "1.6.18") {
  MetaWire wire(test_options(), version);
  Seen seen = wire.ask(asked, answer);
  EXPECT_FALSE(wire.session.closed()) << wire.session.close_reason().text;
  EXPECT_TRUE(wire.session.clean());
  return seen;
}

TEST(MetaReplies, AHitHasValueFlagsAndVersion) {
  const Seen seen = ask_meta(get("k"), "VA 4 f3735928559 c18446744073709551615 O2\r\n\r\n\0b\r\n"s);
  EXPECT_EQ(seen.status, Status::done);
  EXPECT_EQ(seen.value, "\r\n\0b"s);
  EXPECT_EQ(seen.flags, 0xdeadbeefu);
  EXPECT_EQ(seen.version, "18446744073709551615");
  EXPECT_EQ(ask_meta(get("k"), "VA 0 f0 c0 O2\r\n\r\n").version, "") << "a server without CAS";
}

TEST(MetaReplies, OneStatusForEachOutcome) {
  struct Case {
    Operation asked;
    const char* answer;
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
  const Case cases[] = {
      {get("k"), "EN O2\r\n", Status::absent},
      {get("k"), "SERVER_ERROR out of memory reading\r\n", Status::refused, Reason::quota},
      {touch, "HD f0 c1 O2\r\n", Status::done},
      {touch, "EN O2\r\n", Status::absent},
      {set("k", "v"), "HD c1 O2\r\n", Status::done},
      {set("k", "v"), "SERVER_ERROR object too large for cache\r\n", Status::refused,
       Reason::too_large},
      {set("k", "v"), "SERVER_ERROR backend failure\r\n", Status::refused},
      {add, "NS c0 O2\r\n", Status::not_stored},
      {replace, "NS c0 O2\r\n", Status::not_stored},
      {swap, "EX c0 O2\r\n", Status::not_stored},
      {swap, "NF c0 O2\r\n", Status::absent},
      {append, "HD c3 O2\r\n", Status::done},
      {append, "NS c0 O2\r\n", Status::not_stored},
      {remove, "HD O2\r\n", Status::done},
      {remove, "NF O2\r\n", Status::absent},
      {remove_if, "EX O2\r\n", Status::not_stored},
      {count, "NF O2\r\n", Status::absent},
      {count, "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n", Status::refused,
       Reason::wrong_type},
      {operation(Verb::probe), "MN\r\n", Status::done},
      {operation(Verb::probe), "SERVER_ERROR out of memory\r\n", Status::done},
      {operation(Verb::stats), "MN\r\nEND\r\n", Status::done},
  };
  for (const Case& item : cases) {
    const Seen seen = ask_meta(item.asked, item.answer);
    EXPECT_EQ(seen.kind, Event::Kind::reply) << item.answer;
    EXPECT_EQ(seen.status, item.status) << item.answer;
    EXPECT_EQ(seen.reason, item.reason) << item.answer;
  }
}

TEST(MetaReplies, VersionsNumbersAndStatistics) {
  EXPECT_EQ(ask_meta(set("k", "v"), "HD c17 O2\r\n").version, "17");
  EXPECT_EQ(ask_meta(with(set("k", "v"), Condition::if_absent), "NS c0 O2\r\n").version, "");
  const Seen number =
      ask_meta(operation(Verb::increment, "n"), "VA 20 c4 O2\r\n18446744073709551615\r\n");
  EXPECT_EQ(number.number, 18'446'744'073'709'551'615u);
  EXPECT_EQ(number.version, "4");
  EXPECT_EQ(ask_meta(operation(Verb::decrement, "n"), "VA 3 c4 O2\r\n99 \r\n").number, 99u);
  EXPECT_EQ(ask_meta(operation(Verb::server_version), "VERSION 1.6.18\r\n").value, "1.6.18");
  EXPECT_EQ(
      ask_meta(operation(Verb::stats), "MN\r\nSTAT pid 5\r\nSTAT a b c\r\nSTAT x\r\nEND\r\n").value,
      "pid 5\na b c\nx \n");
}

TEST(MetaReplies, BeforeOneSixThirteenTheVersionOfAStoreIsNotTrusted) {
  EXPECT_EQ(ask_meta(set("k", "v"), "HD c17 O2\r\n", "1.6.12").version, "");
  EXPECT_EQ(ask_meta(get("k"), "VA 1 f0 c17 O2\r\nv\r\n", "1.6.12").version, "17");
}

TEST(MetaReplies, MissesOfOlderServersCarryNoOpaque) {
  EXPECT_EQ(ask_meta(get("k"), "EN\r\n", "1.6.17").status, Status::absent);
  MetaWire newer;
  newer.submit(get("k"));
  newer.take();
  newer.feed("EN\r\n");
  EXPECT_EQ(newer.next().kind, Event::Kind::failed);
  MetaWire older(test_options(), "1.6.17");
  older.submit(get("k"));
  older.take();
  older.feed("EN O9\r\n");
  EXPECT_EQ(older.next().kind, Event::Kind::failed);
}

// ---- the rest of a life

TEST(MetaReplies, TheRestOfALifeIsToldOrTheConnectionEnds) {
  Operation asked = get("k");
  asked.ttl_left = true;
  const auto ends = [&](std::string_view answer) {
    MetaWire wire;
    wire.submit(asked);
    wire.take();
    wire.feed(answer);
    EXPECT_EQ(wire.next().kind, Event::Kind::failed) << answer;
    return wire.session.closed();
  };
  EXPECT_EQ(ask_meta(asked, "VA 1 f0 c1 t17 O2\r\nv\r\n").ttl_left, 17s);
  EXPECT_EQ(ask_meta(asked, "VA 1 f0 c1 t-1 O2\r\nv\r\n").ttl_left, std::nullopt);
  EXPECT_EQ(ask_meta(asked, "EN O2\r\n").status, Status::absent);
  for (const char* answer : {"VA 1 f0 c1 O2\r\nv\r\n", "VA 1 f0 c1 t O2\r\nv\r\n",
                             "VA 1 f0 c1 t-2 O2\r\nv\r\n", "VA 1 f0 c1 t1 t1 O2\r\nv\r\n"}) {
    EXPECT_TRUE(ends(answer)) << answer;
  }
}

// ---- leases

TEST(MetaLeases, TheFirstWinsTheOthersWaitAndAStubIsNoValue) {
  const Operation lease = living(operation(Verb::lease, "k"), 10s);
  const Seen won = ask_meta(lease, "VA 0 f0 c8 O2 W\r\n\r\n");
  EXPECT_EQ(won.status, Status::absent);
  EXPECT_EQ(won.lease, Lease::won);
  EXPECT_EQ(won.version, "8") << "with it the winner stores";
  const Seen taken = ask_meta(lease, "VA 0 f0 c8 O2 Z\r\n\r\n");
  EXPECT_EQ(taken.status, Status::absent);
  EXPECT_EQ(taken.lease, Lease::taken);
  // A plain get that finds a stub is absent, too.
  EXPECT_EQ(ask_meta(get("k"), "VA 0 f0 c8 O2 Z\r\n\r\n").status, Status::absent);
  const Seen empty = ask_meta(lease, "VA 0 f0 c8 O2\r\n\r\n");
  EXPECT_EQ(empty.status, Status::done);
  EXPECT_EQ(empty.lease, Lease::none);
}

TEST(MetaLeases, AStaleValueIsReportedAsThat) {
  const Operation lease = living(operation(Verb::lease, "k"), 10s);
  const Seen winner = ask_meta(lease, "VA 3 f0 c9 O2 X W\r\nold\r\n");
  EXPECT_EQ(winner.status, Status::done);
  EXPECT_EQ(winner.value, "old");
  EXPECT_TRUE(winner.stale);
  EXPECT_EQ(winner.lease, Lease::won);
  const Seen other = ask_meta(get("k"), "VA 3 f0 c9 O2 Z X\r\nold\r\n");
  EXPECT_TRUE(other.stale);
  EXPECT_EQ(other.lease, Lease::taken);
  EXPECT_FALSE(ask_meta(get("k"), "VA 3 f0 c9 O2\r\nnew\r\n").stale);
}

// ---- what ends the connection

struct BrokenReply {
  const char* answer;
  const char* why;
};

TEST(MetaTraps, WhatShowsThatClientAndServerHaveLostEachOtherEndsTheConnection) {
  const BrokenReply cases[] = {
      {"VA 1 f0 c1 O3\r\nv\r\n", "the opaque of another request"},
      {"VA 1 f0 c1\r\nv\r\n", "the opaque of another request"},
      {"EN O1\r\n", "the opaque of another request"},
      {"HD O2\r\n", "a reply of an unexpected kind"},
      {"NS O2\r\n", "a reply of an unexpected kind"},
      {"MN\r\n", "a reply of an unexpected kind"},
      {"STORED\r\n", "a reply of an unexpected kind"},
      {"END\r\n", "a reply of an unexpected kind"},
      {"VERSION 1.6.18\r\n", "a reply of an unexpected kind"},
      {"VA 1 f0 O2\r\nv\r\n", "that lacks a requested field"},
      {"VA 1 c1 O2\r\nv\r\n", "that lacks a requested field"},
      {"VA 0 f0 c1 O2 W Z\r\n\r\n", "that lacks a requested field"},
      {"VA 1 f0 c1 O2\r\nvv\r\n", "longer than announced"},
      {"VA 2000000000 f0 c1 O2\r\n", "longer than any expected"},
      {"VA -1 f0 c1 O2\r\n", "the line \"VA -1"},
      {"HD\n", "without CR"},
      {"\n", "without CR"},
      {"VALUE k 0 1\r\nv\r\n", "the line \"VALUE k 0 1"},
      {"\x81\x01\r\n", "the line \"\\x81"},
      {"ERROR\r\n", "the server did not understand the request (ERROR )"},
      {"CLIENT_ERROR bad command line format\r\n", "bad command line format"},
      {"CLIENT_ERROR invalid flag\r\n", "did not understand the request"},
      {"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n",
       "did not understand the request"},
  };
  for (const BrokenReply& item : cases) {
    MetaWire wire;
    const Ticket first = wire.submit(get("a"));
    const Ticket second = wire.submit(get("b"));
    wire.take();
    wire.feed(item.answer);
    const Seen failed = wire.next();
    EXPECT_EQ(failed.kind, Event::Kind::failed) << item.answer;
    EXPECT_EQ(failed.ticket, first);
    EXPECT_EQ(failed.sent, Sent::maybe);
    EXPECT_EQ(wire.next().ticket, second);
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_EQ(wire.session.close_reason().reason, Reason::protocol_error);
    EXPECT_NE(wire.session.close_reason().text.find(item.why), std::string::npos)
        << wire.session.close_reason().text;
  }
}

TEST(MetaTraps, TwoRepliesForOneRequestEndTheConnection) {
  // The server answers the data of a refused `set` as a command of its own.
  MetaWire wire;
  wire.submit(set("k", "v"));
  wire.take();
  wire.feed("SERVER_ERROR object too large for cache\r\nERROR\r\n");
  EXPECT_EQ(wire.next().reason, Reason::too_large);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
}

TEST(MetaTraps, AServerErrorBelongsToTheOldestAndTheNextOpaqueProvesIt) {
  MetaWire wire;
  const Ticket first = wire.submit(set("a", "v"));
  const Ticket second = wire.submit(get("b"));
  wire.take();
  wire.feed("SERVER_ERROR out of memory storing object\r\nVA 1 f0 c1 O3\r\nB\r\n");
  const Seen refused = wire.next();
  EXPECT_EQ(refused.ticket, first);
  EXPECT_EQ(refused.reason, Reason::quota);
  EXPECT_EQ(refused.text, "out of memory storing object");
  const Seen hit = wire.next();
  EXPECT_EQ(hit.ticket, second);
  EXPECT_EQ(hit.value, "B");

  MetaWire idle;
  idle.feed("SERVER_ERROR out of memory\r\n");
  EXPECT_TRUE(idle.session.closed());
}

// All that memcached 1.6.18 to 1.6.45 has to say, in both cases of the first letter.
TEST(MetaReplies, EveryWordingOfAnErrorHasItsReason) {
  for (const std::string_view text :
       {"out of memory", "out of memory reading request", "out of memory storing object",
        "out of memory writing get response", "out of memory writing stats",
        "Out of memory during read", "Out of memory allocating item",
        "Out of memory allocating new item", "Out of memory incrementing value",
        "Out of memory generating stats", "Out of memory preparing to send stats",
        "out of memory allocating backend connection"}) {
    const Seen seen = ask_meta(set("k", "v"), "SERVER_ERROR " + std::string(text) + "\r\n");
    EXPECT_EQ(seen.status, Status::refused) << text;
    EXPECT_EQ(seen.reason, Reason::quota) << text;
    EXPECT_EQ(seen.text, text);
  }
  for (const std::string_view text : {"object too large for cache", "Object too large for cache"}) {
    const Seen seen = ask_meta(set("k", "v"), "SERVER_ERROR " + std::string(text) + "\r\n");
    EXPECT_EQ(seen.reason, Reason::too_large) << text;
  }
  for (const std::string_view text :
       {"refcount overflow during fetch", "Unhandled storage type.", "output line too long"}) {
    const Seen seen = ask_meta(set("k", "v"), "SERVER_ERROR " + std::string(text) + "\r\n");
    EXPECT_EQ(seen.status, Status::refused) << text;
    EXPECT_EQ(seen.reason, Reason::other) << text;
  }
}

TEST(MetaTraps, ALineWithoutEndIsBounded) {
  MetaWire wire;
  wire.submit(get("k"));
  wire.take();
  wire.feed("VA 1 f0 k" + std::string(max_reply_line, 'x'));
  EXPECT_TRUE(wire.session.closed());
  EXPECT_NE(wire.session.close_reason().text.find("a line above 8 KiB"), std::string::npos);
}

TEST(MetaTraps, AnErrorInTheMiddleOfStatisticsLeavesNothingBehind) {
  MetaWire wire;
  EXPECT_EQ(wire.ask(operation(Verb::stats),
                     "MN\r\nSTAT a 1\r\nSERVER_ERROR out of memory writing stats\r\n")
                .reason,
            Reason::quota);
  EXPECT_EQ(wire.ask(operation(Verb::stats), "MN\r\nSTAT b 2\r\nEND\r\n").value, "b 2\n");
}

}  // namespace
}  // namespace sheaf::protocol::memcached
