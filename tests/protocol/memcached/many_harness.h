#pragma once

// Shared by the get_many tests of both protocols.

#include <gtest/gtest.h>

#include "tests/protocol/memcached/session_harness.h"

namespace sheaf::protocol::memcached {

// A ready session and one get_many of `keys`.
template <class WireType>
class Many : public testing::Test {
 protected:
  Seen expect_item(std::uint32_t index, std::string_view value, Status status = Status::done) {
    Seen seen = wire.next();
    EXPECT_EQ(seen.kind, Event::Kind::item) << seen.text;
    EXPECT_EQ(seen.ticket, ticket);
    EXPECT_EQ(seen.index, index);
    EXPECT_EQ(seen.status, status);
    EXPECT_EQ(seen.value, value);
    EXPECT_EQ(seen.sent, Sent::maybe);
    return seen;
  }
  // Expects the end of the whole, and nothing after it.
  void expect_whole() {
    const Seen seen = wire.next();
    EXPECT_EQ(seen.kind, Event::Kind::reply) << wire.session.close_reason().text;
    EXPECT_EQ(seen.ticket, ticket);
    EXPECT_EQ(seen.status, Status::done);
    EXPECT_EQ(seen.value, "");
    EXPECT_EQ(seen.text, "");
    EXPECT_EQ(seen.index, 0u) << "of items only";
    EXPECT_TRUE(wire.events.empty());
    EXPECT_TRUE(wire.session.clean());
    EXPECT_EQ(wire.session.in_flight(), 0u);
  }
  void expect_failed(std::string_view why, Sent sent = Sent::maybe) {
    const Seen seen = wire.next();
    EXPECT_EQ(seen.kind, Event::Kind::failed);
    EXPECT_EQ(seen.ticket, ticket);
    EXPECT_EQ(seen.sent, sent);
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_TRUE(wire.events.empty());
    EXPECT_NE(wire.session.close_reason().text.find(why), std::string::npos)
        << wire.session.close_reason().text;
  }

  WireType wire;
  std::vector<std::string_view> keys;
  Ticket ticket;
};

// Expects that these fail, in this order, and that the connection ends because the server broke the
// protocol.
template <class WireType>
void expect_broken(WireType& wire, const std::vector<Ticket>& failing, std::string_view what) {
  for (const Ticket ended : failing) {
    const Seen failed = wire.next();
    EXPECT_EQ(failed.kind, Event::Kind::failed) << what;
    EXPECT_EQ(failed.ticket, ended) << what;
    EXPECT_EQ(failed.sent, Sent::maybe) << what;
  }
  EXPECT_EQ(wire.next().kind, Event::Kind::closed) << what;
  EXPECT_EQ(wire.session.close_reason().reason, Reason::protocol_error) << what;
}

inline SessionOptions small_values() {
  SessionOptions options = test_options();
  options.value_limit = 10;
  return options;
}

}  // namespace sheaf::protocol::memcached
