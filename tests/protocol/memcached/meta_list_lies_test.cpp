// get_many in the meta protocol: what is not an answer, what is lost or doubled, and an early end.
// None of it may become a miss.

#include <gtest/gtest.h>

#include "tests/protocol/memcached/meta_list_harness.h"

namespace sheaf::protocol::memcached {
namespace {

// ---- lies

struct Lie {
  const char* bytes;
  const char* why;
  std::size_t items = 0;  // reported before the lie
};

// Asks for seven keys and feeds `before` and the lie.
void expect_end(const Lie& lie, std::string_view before, std::size_t items_before = 0) {
  MetaWire fresh;
  const std::vector<std::string_view> keys(key_names.begin(), key_names.end());
  const Ticket ticket = fresh.submit(many(keys));
  fresh.take();
  fresh.feed(std::string(before) + lie.bytes);
  for (std::size_t i = 0; i < lie.items + items_before; ++i) {
    const Seen item = fresh.next();
    EXPECT_EQ(item.kind, Event::Kind::item) << lie.bytes;
    EXPECT_EQ(item.value, "v" + std::to_string(item.index + 1)) << lie.bytes;
  }
  expect_broken(fresh, {ticket}, lie.bytes);
  EXPECT_NE(fresh.session.close_reason().text.find(lie.why), std::string::npos)
      << lie.bytes << fresh.session.close_reason().text;
}

TEST_F(MetaList, WhatIsNoAnswerToTheFirstKeyEndsTheConnection) {
  const Lie lies[] = {
      {"END\r\n", "of an unexpected kind"},
      {"VALUE k1 0 1 1\r\nv\r\n", "the line \"VALUE k1 0 1 1\""},
      {"VALUE k2 0 1 1\r\nv\r\n", "the line \"VALUE k2 0 1 1\""},
      {"HD O2\r\n", "of an unexpected kind"},
      {"NF O2\r\n", "of an unexpected kind"},
      {"MN\r\n", "of an unexpected kind"},
      {"STAT pid 1\r\n", "of an unexpected kind"},
      {"VA 1 f0 c1 O3\r\nv\r\n", "the opaque of another request"},
      {"VA 1 f0 c1 O1\r\nv\r\n", "the opaque of another request"},
      {"VA 1 f0 c1\r\nv\r\n", "the opaque of another request"},
      {"EN O3\r\n", "the opaque of another request"},
      {"EN O1\r\n", "the opaque of another request"},
      {"EN\r\n", "the opaque of another request"},
      {"VA 1 c1 O2\r\nv\r\n", "that lacks a requested field"},
      {"VA 1 f0 O2\r\nv\r\n", "that lacks a requested field"},
      {"VA 1 f0 c1 O2\r\nvv\r\n", "longer than announced"},
      {"VA 2000000000 f0 c1 O2\r\n", "longer than any expected"},
      {"VA x f0 c1 O2\r\n", "the line"},
      {"SERVER_ERROR out of memory writing get response\r\n", "an error in a list"},
      {"CLIENT_ERROR bad command line format\r\n", "did not understand the request"},
      {"ERROR\r\n", "did not understand the request"},
  };
  for (const Lie& lie : lies) expect_end(lie, "");
}

TEST_F(MetaList, WhatIsNoAnswerToAListEndsTheConnection) {
  const Lie lies[] = {
      {"VALUE k1 0 2 1\r\nv1\r\n", "a key that was not requested"},
      {"VALUE k 0 1 1\r\nv\r\n", "a key that was not requested"},
      {"VALUE k33 0 1 1\r\nv\r\n", "a key that was not requested"},
      {"VALUE K3 0 2 1\r\nv3\r\n", "a key that was not requested"},
      {"VALUE k4 0 2 1\r\nv4\r\nVALUE k3 0 2 1\r\nv3\r\n", "a key that was not requested", 1},
      {"VALUE k4 0 2 1\r\nv4\r\nVALUE k4 0 2 1\r\nv4\r\n", "a key that was not requested", 1},
      {"VALUE k7 0 2 1\r\nv7\r\nVALUE k7 0 2 1\r\nv7\r\n", "a key that was not requested", 1},
      {"VALUE k7 0 2 1\r\nv7\r\nVALUE k1 0 2 1\r\nv1\r\n", "a key that was not requested", 1},
      {"VALUE k6 0 2 1\r\nv6\r\nVALUE k8 0 2 1\r\nv8\r\n", "a key that was not requested", 1},
      {"VALUE k3 0 1\r\nv\r\n", "the line \"VALUE k3 0 1\" in a list of gets"},
      {"VALUE k3 0 1 1 1\r\nv\r\n", "in a list of gets"},
      {"VALUE k3 0 -1 1\r\nv\r\n", "in a list of gets"},
      {"VALUE k3 4294967296 1 1\r\nv\r\n", "in a list of gets"},
      {"VALUE \r\nv\r\n", "in a list of gets"},
      {"VALUE\r\nv\r\n", "in a list of gets"},
      {"VALUE k3 0 1 1\r\nvv\r\n", "longer than announced"},
      {"VALUE k3 0 2000000000 1\r\n", "longer than any expected"},
      {"EN O2\r\n", "the line \"EN O2\" in a list of gets"},
      {"EN O3\r\n", "in a list of gets"},
      {"EN\r\n", "in a list of gets"},
      {"VA 2 f0 c1 O2\r\nv7\r\n", "the line \"VA 2 f0 c1 O2\" in a list of gets"},
      {"VA 1 f0 c1 O3\r\nv\r\n", "in a list of gets"},
      {"HD O2\r\n", "in a list of gets"},
      {"MN\r\n", "in a list of gets"},
      {"STAT pid 1\r\n", "in a list of gets"},
      {"END \r\n", "in a list of gets"},
      {"\r\n", "the line \"\" in a list of gets"},
      {"END\n", "a line that ends without CR"},
      {"nonsense\r\n", "the line \"nonsense\" in a list of gets"},
      {"SERVER_ERROR out of memory writing get response\r\n",
       "the line \"SERVER_ERROR out of memory writing get response\" in a list of gets"},
      {"VALUE k3 0 2 1\r\nv3\r\nSERVER_ERROR out of memory\r\n", "in a list of gets", 1},
      {"CLIENT_ERROR line too long\r\n", "in a list of gets"},
      {"ERROR\r\n", "the line \"ERROR\" in a list of gets"},
  };
  for (const Lie& lie : lies) {
    expect_end(lie, "EN O2\r\n");
    expect_end(lie, "VA 2 f0 c1 O2\r\nv1\r\n", 1);
    if (lie.items == 0) expect_end(lie, "EN O2\r\nVALUE k2 0 2 1\r\nv2\r\n", 1);
  }
}

TEST_F(MetaList, AListWhoseKeyCannotBeReadIsNotReportedAsMisses) {
  const std::string line = "VALUE " + std::string(9'000, 'k');
  expect_end({line.c_str(), "a line above 8 KiB"}, "EN O2\r\n");
}

TEST_F(MetaList, AValueAboveTheLimitTwiceEndsTheConnection) {
  ask(2);
  wire.take();
  const std::string large = "VALUE k2 0 2000001 1\r\n" + std::string(2'000'001, 'x') + "\r\n";
  wire.feed("EN O2\r\n" + large + large);
  EXPECT_EQ(expect_item(1, "", Status::refused).reason, Reason::too_large);
  expect_failed("a key that was not requested");
}

TEST_F(MetaList, TheEndOfAValueAboveTheLimitIsLookedAtBeforeTheWholeIsReported) {
  ask(1);
  wire.take();
  wire.feed("VA 2000001 f0 c1 O2\r\n" + std::string(2'000'001, 'x') + "xx");
  EXPECT_EQ(expect_item(0, "", Status::refused).reason, Reason::too_large);
  expect_failed("longer than announced");
}

TEST_F(MetaList, WhatComesBehindTheWholeIsNobodys) {
  for (const char* behind : {"END\r\n", "EN O2\r\n", "VALUE k1 0 1 1\r\nv\r\n"}) {
    MetaWire fresh;
    keys = {"k1", "k2"};
    fresh.submit(many(keys));
    fresh.take();
    fresh.feed("EN O2\r\nEND\r\n" + std::string(behind));
    EXPECT_EQ(fresh.next().kind, Event::Kind::reply);
    EXPECT_EQ(fresh.next().kind, Event::Kind::closed);
  }
}

// ---- lists that are lost or doubled

// Asks for `keys` and then for the operations in `behind`. Once `bytes` have arrived, every request
// must have failed, and only `items` hits of the keys may have been reported.
void expect_nobody_knows(const std::vector<std::string_view>& keys,
                         const std::vector<Operation>& behind, std::string_view bytes,
                         std::size_t items = 0) {
  for (const std::size_t step : {1'000'000u, 1u}) {
    MetaWire fresh;
    std::vector<Ticket> tickets = {fresh.submit(many(keys))};
    for (const Operation& asked : behind) tickets.push_back(fresh.submit(asked));
    fresh.take();
    fresh.feed(bytes, step);
    EXPECT_TRUE(fresh.session.closed()) << bytes;
    for (std::size_t i = 0; i < items; ++i) {
      const Seen item = fresh.next();
      EXPECT_EQ(item.kind, Event::Kind::item) << bytes;
      EXPECT_EQ(item.status, Status::done) << bytes;
    }
    expect_broken(fresh, tickets, bytes);
    EXPECT_TRUE(fresh.events.empty());
  }
}

TEST_F(MetaList, AListThatIsLostIsFoundOutByTheNextReplyAndIsNoMiss) {
  keys.assign(key_names.begin(), key_names.end());
  for (const char* next : {"VA 1 f0 c1 O3\r\nv\r\n", "EN O3\r\n"}) {
    expect_nobody_knows(keys, {get("a")}, next);               // mg's reply is lost, too
    expect_nobody_knows(keys, {get("a")}, "END\r\n"s + next);  // only the list's is lost
    expect_nobody_knows(keys, {get("a")}, "EN O2\r\n"s + next);
    expect_nobody_knows(keys, {get("a")}, "VA 2 f0 c1 O2\r\nv1\r\n"s + next, 1);
  }
}

// An END follows the first key of another list only if two replies are lost.
TEST_F(MetaList, TheEndOfAnotherListSaysNothing) {
  keys.assign(key_names.begin(), key_names.end());
  const std::vector<std::string_view> others = {"k2", "o1"};
  const std::vector<Operation> behind = {many(others), get("a")};
  for (const char* first : {"EN O2\r\n", "VA 2 f0 c1 O2\r\nv1\r\n"}) {
    const std::size_t items = first[0] == 'V' ? 1 : 0;
    for (const char* third : {"EN O4\r\n", "VA 1 f0 c1 O4\r\na\r\n"}) {
      expect_nobody_knows(keys, behind, first + "END\r\n"s + third, items);
      expect_nobody_knows(keys, behind, first + "VALUE k2 0 1 1\r\no\r\nEND\r\n"s + third,
                          items + 1);
    }
  }
}

TEST_F(MetaList, TheEndOfTheLastListSaysNothingOfTheOneBefore) {
  ask(7);
  const std::vector<std::string_view> others = {"o1", "o2"};
  const Ticket behind = wire.submit(many(others));
  wire.take();
  wire.feed("EN O2\r\nEND\r\n");  // the END of the others: one list and one mg are lost
  EXPECT_TRUE(wire.events.empty());
  EXPECT_FALSE(wire.session.clean());
  wire.session.on_eof(wire.now());
  wire.poll();
  for (const Ticket ended : {ticket, behind}) {
    const Seen failed = wire.next();
    EXPECT_EQ(failed.kind, Event::Kind::failed);
    EXPECT_EQ(failed.ticket, ended);
    EXPECT_EQ(failed.sent, Sent::maybe);
  }
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
}

TEST_F(MetaList, WhatCannotBeginTheNextReplyMakesAnEndNobodys) {
  const std::vector<std::string_view> two = {"a", "b"};
  const std::pair<Operation, const char*> wrong[] = {
      {get("a"), "EN O4\r\n"},
      {get("a"), "MN\r\n"},
      {get("a"), "VERSION 1.6.18\r\n"},
      {get("a"), "END\r\n"},
      {get("a"), "VALUE k7 0 1 1\r\n"},
      {get("a"), "STAT pid 1\r\n"},
      {get("a"), "nonsense\r\n"},
      {many(two), "EN O2\r\n"},
      {set("a", "v"), "HD c1\r\n"},
      {operation(Verb::probe), "EN O3\r\n"},
      {operation(Verb::server_version), "MN\r\n"},
      {operation(Verb::stats), "END\r\n"},
      {operation(Verb::stats), "STAT pid 1\r\n"},
  };
  keys.assign(key_names.begin(), key_names.end());
  for (const auto& [behind, line] : wrong) {
    expect_nobody_knows(keys, {behind}, "EN O2\r\nEND\r\n"s + line);
    // Either k7 was not passed over yet, or it is the last key that was found and k6 the missing
    // one.
    for (const char* key : {"k6", "k7"}) {
      const std::string listed = "VALUE " + std::string(key) + " 0 1 1\r\nv\r\n";
      expect_nobody_knows(keys, {behind}, "EN O2\r\n" + listed + "END\r\n" + line, 1);
    }
  }
  const std::string endless = "VA " + std::string(9'000, '1');
  expect_nobody_knows(keys, {get("a")}, "EN O2\r\nEND\r\n" + endless);
}

// The keys found after it do not make up for it.
TEST_F(MetaList, AKeyThatIsMissingBeforeOthersThatAreFoundMakesAnEndNobodysToo) {
  keys.assign(key_names.begin(), key_names.end());
  std::string listed;
  for (const char* key : {"k3", "k4", "k5", "k6", "k7"}) {
    listed += "VALUE " + std::string(key) + " 0 1 1\r\nv\r\n";
  }
  expect_nobody_knows(keys, {get("a")}, "EN O2\r\n" + listed + "END\r\nEN O4\r\n", 5);
}

// An answer without lines looks like the end of a list.
TEST_F(MetaList, StatisticsAreNoEndOfAList) {
  keys.assign(key_names.begin(), key_names.end());
  const std::vector<Operation> stats = {operation(Verb::stats)};
  for (const char* first : {"EN O2\r\n", "VA 2 f0 c1 O2\r\nv1\r\n"}) {
    const std::size_t items = first[0] == 'V' ? 1 : 0;
    expect_nobody_knows(keys, stats, first + "MN\r\nEND\r\n"s, items);
    expect_nobody_knows(keys, stats, first + "MN\r\nSTAT pid 1\r\nEND\r\n"s, items);
  }
}

TEST_F(MetaList, OlderServersReturnNoOpaqueOfAMissButALostListIsFoundOut) {
  for (const char* bytes : {"EN\r\nEN\r\n", "EN\r\nMN\r\n"}) {
    MetaWire older(test_options(), "1.6.17");
    keys.assign(key_names.begin(), key_names.end());
    older.submit(many(keys));
    older.submit(bytes[4] == 'E' ? get("a") : operation(Verb::stats));
    older.take();
    older.feed(bytes);
    EXPECT_EQ(older.next().kind, Event::Kind::failed);
    EXPECT_EQ(older.next().kind, Event::Kind::failed);
    EXPECT_EQ(older.next().kind, Event::Kind::closed);
  }
}

TEST_F(MetaList, AnEndThatIsDoubledReportsNoKeyAsAbsent) {
  keys.assign(key_names.begin(), key_names.end());
  const std::vector<std::string_view> others = {"o1", "o2"};
  MetaWire fresh;
  const Ticket first = fresh.submit(many(others));
  const Ticket second = fresh.submit(many(keys));
  fresh.take();
  fresh.feed("VA 1 f0 c1 O2\r\nv\r\nVALUE o2 0 1 1\r\nv\r\nEND\r\nEND\r\n");
  fresh.next();
  fresh.next();
  EXPECT_EQ(fresh.next().ticket, first) << "both of its keys were there";
  expect_broken(fresh, {second}, "END twice");
  expect_nobody_knows(others, {many(keys)}, "EN O2\r\nEND\r\nEND\r\n");
}

// ---- an early end, and answers before the request has left

TEST_F(MetaList, WhatWasReportedBeforeTheEndOfTheConnectionStaysReported) {
  ask(7);
  wire.take();
  wire.feed("EN O2\r\nVALUE k3 0 2 1\r\nv3\r\nVALUE k5 0 2 1\r\nv");
  wire.session.on_eof(wire.now());
  wire.poll();
  expect_item(2, "v3");
  expect_failed("the server ended the connection");
}

TEST_F(MetaList, TheEndOfTheConnectionBeforeThatOfTheListIsNoMiss) {
  for (const char* bytes :
       {"", "E", "EN O2\r\n", "EN O2\r\nEND", "EN O2\r\nEND\r", "VA 2 f0 c1 O2\r\nv"}) {
    MetaWire fresh;
    keys.assign(key_names.begin(), key_names.end());
    fresh.submit(many(keys));
    fresh.take();
    fresh.feed(bytes);
    EXPECT_TRUE(fresh.events.empty());
    fresh.session.on_eof(fresh.now());
    fresh.poll();
    const Seen failed = fresh.next();
    EXPECT_EQ(failed.kind, Event::Kind::failed) << bytes;
    EXPECT_EQ(failed.sent, Sent::maybe) << bytes;
    EXPECT_EQ(fresh.next().kind, Event::Kind::closed) << bytes;
  }
}

TEST_F(MetaList, WhatHasLeftInPartMayHaveBeenRead) {
  const std::size_t whole = std::string_view(asked_keys).size();
  for (std::size_t left = 0; left <= whole; ++left) {
    MetaWire fresh;
    keys.assign(key_names.begin(), key_names.end());
    const Ticket asked = fresh.submit(many(keys));
    const Ticket behind = fresh.submit(get("a"));
    fresh.take(left);
    fresh.session.on_eof(fresh.now());
    fresh.poll();
    const Seen failed = fresh.next();
    EXPECT_EQ(failed.kind, Event::Kind::failed);
    EXPECT_EQ(failed.ticket, asked);
    EXPECT_EQ(failed.sent, left == 0 ? Sent::no : Sent::maybe) << left;
    const Seen unsent = fresh.next();
    EXPECT_EQ(unsent.ticket, behind);
    EXPECT_EQ(unsent.sent, Sent::no);
    EXPECT_EQ(fresh.next().kind, Event::Kind::closed);
  }
}

TEST_F(MetaList, TheFirstKeyMayBeAnsweredWhileTheListIsBeingWritten) {
  for (const char* first : {"EN O2\r\n", "VA 2 f0 c1 O2\r\nv1\r\n"}) {
    MetaWire fresh;
    keys.assign(key_names.begin(), key_names.end());
    const Ticket asked = fresh.submit(many(keys));
    std::string out = fresh.take(30);  // as far as "gets k2 k3 k4"
    fresh.feed(first);
    if (first[0] == 'V') {
      EXPECT_EQ(fresh.next().value, "v1");
    }
    EXPECT_FALSE(fresh.session.closed());
    EXPECT_TRUE(fresh.events.empty());
    out += fresh.take();
    EXPECT_EQ(out, asked_keys);
    fresh.feed("END\r\n");
    EXPECT_EQ(fresh.next().ticket, asked);
    EXPECT_TRUE(fresh.session.clean());
  }
}

TEST_F(MetaList, AnAnswerToTheListBeforeItHasLeftEndsTheConnection) {
  for (const char* list : {"END\r\n", "VALUE k2 0 2 1\r\nv2\r\n"}) {
    MetaWire fresh;
    keys.assign(key_names.begin(), key_names.end());
    fresh.submit(many(keys));
    fresh.take(30);
    fresh.feed("EN O2\r\n" + std::string(list));
    const Seen failed = fresh.next();
    EXPECT_EQ(failed.kind, Event::Kind::failed);
    EXPECT_EQ(failed.sent, Sent::maybe);
    EXPECT_EQ(fresh.next().kind, Event::Kind::closed);
    EXPECT_NE(fresh.session.close_reason().text.find("has not been sent"), std::string::npos);
  }
}

TEST_F(MetaList, AReplyToOneKeyThatHasNotLeftWholeEndsTheConnection) {
  ask(1);
  wire.take(10);
  wire.feed("VA 2 f0 c1 O2\r\nv1\r\n");
  expect_failed("has not been sent");
}

TEST_F(MetaList, AReplyBeforeAByteHasLeftEndsTheConnection) {
  for (const char* bytes : {"VA 2 f0 c1 O2\r\nv1\r\n", "EN O2\r\n"}) {
    MetaWire fresh;
    keys.assign(key_names.begin(), key_names.end());
    fresh.submit(many(keys));
    fresh.feed(bytes);
    const Seen failed = fresh.next();
    EXPECT_EQ(failed.kind, Event::Kind::failed) << bytes;
    EXPECT_EQ(failed.sent, Sent::no) << bytes;
    EXPECT_EQ(fresh.next().kind, Event::Kind::closed) << bytes;
    EXPECT_NE(fresh.session.close_reason().text.find("has not been sent"), std::string::npos);
  }
}

}  // namespace
}  // namespace sheaf::protocol::memcached
