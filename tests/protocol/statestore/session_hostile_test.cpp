// A whole conversation cut at every byte, and damaged at random. Whatever the server sends, each
// ticket gets at most one event before the end and exactly one in total, and no ticket ever gets a
// value meant for another.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/protocol/statestore/session_harness.h"

namespace sheaf::protocol::statestore {
namespace {

using mqtt5::ReasonCode;

std::string bulk(std::string_view value) {
  return "$" + std::to_string(value.size()) + "\r\n" + std::string(value) + "\r\n";
}

// Five requests that left together, and a server's possible answers.
struct Talk {
  Wire wire;
  std::vector<Ticket> tickets;
  std::vector<SeenRequest> requests;

  explicit Talk(StoreSessionOptions options = test_options()) : wire(std::move(options)) {
    wire.session.start(wire.now());
    wire.take();
  }
  void submit() {
    for (const std::string_view key : {"a", "b", "c"}) tickets.push_back(wire.submit(get(key)));
    tickets.push_back(wire.submit(set("d", "value")));
    Operation removal = get("e");
    removal.verb = Verb::remove;
    tickets.push_back(wire.submit(removal));
    requests = wire.take_requests();
  }
  std::string answers() const {
    ReplyScript late{"$-1\r\n"};
    late.packet_id = 3;
    return puback(requests[1].packet_id) + reply_bytes(requests[1].correlation, {bulk("B")}) +
           reply_bytes(requests[0].correlation, {bulk("A")}) + puback(requests[0].packet_id) +
           std::string("\xD0\x00", 2) + reply_bytes("0123456789abcdef", late) +
           reply_bytes(requests[3].correlation, {"-ERR the quota has been exceeded\r\n"}) +
           puback(requests[3].packet_id) + puback(requests[2].packet_id, ReasonCode::server_busy) +
           reply_bytes(requests[4].correlation, {":1\r\n"}) + puback(requests[4].packet_id);
  }
};

// All events that the client reported in the conversation.
struct Transcript {
  std::vector<Seen> events;
  std::string written;
  std::uint64_t late = 0;
  friend bool operator==(const Transcript&, const Transcript&) = default;
};

Transcript talk(const std::function<void(Wire&, const std::string&)>& feed) {
  Talk talk;
  feed(talk.wire, connack());
  std::string written = talk.wire.take();
  feed(talk.wire, suback());
  talk.submit();
  feed(talk.wire, talk.answers());
  talk.wire.session.close(talk.wire.now());
  talk.wire.poll();
  written += talk.wire.take();
  return {{talk.wire.events.begin(), talk.wire.events.end()},
          written,
          talk.wire.session.counters().late_replies};
}

TEST(StoreSessionHostile, AnySplitOfTheBytesGivesTheSameEvents) {
  const Transcript at_once = talk([](Wire& wire, const std::string& bytes) { wire.feed(bytes); });
  ASSERT_EQ(at_once.events.size(), 7U);  // ready, five answers, closed
  EXPECT_EQ(at_once.events[1].value, "B");
  EXPECT_EQ(at_once.events[2].value, "A");
  EXPECT_EQ(at_once.events[3].reason, Reason::quota);
  EXPECT_EQ(at_once.events[4].text, "server busy");
  EXPECT_EQ(at_once.events[5].status, Status::done);
  EXPECT_EQ(at_once.late, 1U);
  for (const std::size_t step : {1U, 2U, 3U, 7U, 100U}) {
    EXPECT_EQ(talk([step](Wire& wire, const std::string& bytes) { wire.feed(bytes, step); }),
              at_once)
        << step;
  }
  for (std::size_t split = 1; split < 2'000; ++split) {
    const Transcript parts = talk([split](Wire& wire, const std::string& bytes) {
      const std::size_t first = std::min(split, bytes.size());
      wire.feed(std::string_view(bytes).substr(0, first));
      wire.feed(std::string_view(bytes).substr(first));
    });
    ASSERT_EQ(parts, at_once) << split;
  }
}

TEST(StoreSessionHostile, HugeValueMayBeSplitAnywhere) {
  Talk probe;
  probe.wire.feed(connack());
  probe.wire.take();
  probe.wire.feed(suback());
  probe.submit();
  const std::string huge =
      reply_bytes(probe.requests[0].correlation, {bulk(std::string(400'000, 'x'))});
  const std::string bytes = huge + reply_bytes(probe.requests[1].correlation, {bulk("B")});
  for (std::size_t split = 0; split < 600; ++split) {
    Talk talk;
    talk.wire.feed(connack());
    talk.wire.take();
    talk.wire.feed(suback());
    talk.submit();
    talk.wire.next();  // ready
    // The first splits are in the head, the others around the end of the payload.
    const std::size_t first = split < 300 ? split : huge.size() + split - 450;
    talk.wire.feed(std::string_view(bytes).substr(0, first));
    talk.wire.feed(std::string_view(bytes).substr(first));
    const Seen refused = talk.wire.next();
    ASSERT_EQ(refused.ticket, talk.tickets[0]) << split;
    ASSERT_EQ(refused.reason, Reason::too_large);
    ASSERT_EQ(talk.wire.next().value, "B");
    ASSERT_EQ(talk.wire.take(), puback(1) + puback(1));
  }
}

TEST(StoreSessionHostile, EndOfStreamAnywhereGivesEachTicketItsOneEvent) {
  Talk probe;
  probe.wire.feed(connack());
  probe.wire.take();
  probe.wire.feed(suback());
  probe.submit();
  const std::string answers = probe.answers();
  for (std::size_t size = 0; size <= answers.size(); ++size) {
    Talk talk;
    talk.wire.feed(connack());
    talk.wire.take();
    talk.wire.feed(suback());
    talk.submit();
    ASSERT_EQ(talk.answers(), answers);
    talk.wire.next();  // ready
    talk.wire.feed(answers.substr(0, size));
    talk.wire.session.on_eof(talk.wire.now());
    talk.wire.poll();
    std::map<std::uint32_t, int> counts;
    while (talk.wire.events.size() > 1) ++counts[talk.wire.next().ticket.slot];
    EXPECT_EQ(talk.wire.next().kind, Event::Kind::closed);
    ASSERT_EQ(counts.size(), 5U) << size;
    for (const auto& [slot, count] : counts) ASSERT_EQ(count, 1) << slot << " at " << size;
  }
}

// Checks what must be true of any run. `meant` has the only value that each ticket may ever get.
void check_invariants(Wire& wire, const std::vector<Ticket>& tickets,
                      const std::map<std::uint32_t, std::string>& meant) {
  wire.session.close(wire.now());
  wire.poll();
  std::set<std::uint32_t> done;
  bool closed = false;
  while (!wire.events.empty()) {
    const Seen seen = wire.next();
    ASSERT_FALSE(closed) << "an event after closed";
    if (seen.kind == Event::Kind::closed) {
      closed = true;
    } else if (seen.kind != Event::Kind::ready) {
      ASSERT_TRUE(done.insert(seen.ticket.slot).second) << "two events for a ticket";
      if (seen.kind == Event::Kind::reply && !seen.value.empty()) {
        ASSERT_TRUE(meant.contains(seen.ticket.slot));
        // A wrong value would come from another packet, with another letter, unless the damage hit
        // the value itself.
        ASSERT_EQ(seen.value.front(), meant.at(seen.ticket.slot).front());
      }
    }
  }
  ASSERT_TRUE(closed);
  ASSERT_EQ(done.size(), tickets.size());
  Event event;
  ASSERT_FALSE(wire.session.poll_event(event));
}

TEST(StoreSessionHostile, DamagedConversationsNeverMixUpAnswers) {
  Random random(11);
  int survived = 0;
  int ended = 0;
  for (int round = 0; round < 6'000; ++round) {
    Talk talk;
    talk.wire.feed(connack());
    talk.wire.take();
    talk.wire.feed(suback());
    talk.submit();
    ASSERT_EQ(talk.requests.size(), 5U);
    const std::map<std::uint32_t, std::string> meant{{talk.tickets[0].slot, std::string(20, 'A')},
                                                     {talk.tickets[1].slot, std::string(20, 'B')},
                                                     {talk.tickets[2].slot, std::string(20, 'C')}};
    std::string bytes;
    for (std::size_t i = 0; i < 3; ++i) {
      bytes += reply_bytes(talk.requests[i].correlation, {bulk(meant.at(talk.tickets[i].slot))});
      bytes += puback(talk.requests[i].packet_id);
    }
    // The first letter of a value is spared, because it proves which request the value belongs to.
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
      const std::size_t at = random.below(bytes.size());
      const bool in_value = at > 0 && bytes[at] >= 'A' && bytes[at] <= 'C' && bytes[at - 1] == '\n';
      if (!in_value) bytes[at] = static_cast<char>(random.below(256));
    }
    talk.wire.feed(bytes, 1 + random.below(bytes.size()));
    (talk.wire.session.closed() ? ended : survived)++;
    check_invariants(talk.wire, talk.tickets, meant);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
  EXPECT_GT(survived, 500);
  EXPECT_GT(ended, 500);
}

TEST(StoreSessionHostile, DamagedHandshakesAreReadyOrClosed) {
  Random random(12);
  const std::string limits = connack(ReasonCode::success, [](mqtt5::PropertyWriter& writer) {
    writer.u16(mqtt5::PropertyId::receive_maximum, 20);
    writer.u32(mqtt5::PropertyId::maximum_packet_size, 1'000'000);
    writer.text(mqtt5::PropertyId::assigned_client_id, "assigned");
    writer.u16(mqtt5::PropertyId::server_keep_alive, 60);
    writer.user("name", "value");
  });
  int ready = 0;
  for (int round = 0; round < 20'000; ++round) {
    Talk talk;
    std::string bytes = limits + suback();
    for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    talk.wire.feed(bytes.substr(0, limits.size()), 1 + random.below(bytes.size()));
    talk.wire.take();
    talk.wire.feed(bytes.substr(limits.size()));
    if (talk.wire.session.ready()) {
      ++ready;
      if (talk.wire.session.room() > 0) talk.tickets.push_back(talk.wire.submit(get("a")));
      if (talk.tickets.size() == 1 && talk.tickets[0] == Ticket{}) talk.tickets.clear();
    }
    check_invariants(talk.wire, talk.tickets, {});
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
  EXPECT_GT(ready, 1'000);
}

TEST(StoreSessionHostile, NoiseOfAnyKindClosesCleanly) {
  Random random(13);
  for (int round = 0; round < 3'000; ++round) {
    Talk talk;
    talk.wire.feed(connack());
    talk.wire.take();
    talk.wire.feed(suback());
    talk.submit();
    std::string noise(1 + random.below(3'000), '\0');
    for (char& c : noise) c = static_cast<char>(random.below(256));
    if (random.below(2) == 0) noise[0] = static_cast<char>(0x32);  // at least a PUBLISH
    talk.wire.feed(noise, 1 + random.below(500));
    EXPECT_LE(talk.wire.session.input_capacity(), 64U * 1024);
    check_invariants(talk.wire, talk.tickets, {});
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

// The caller acts at random, too: it submits, cancels and writes in pieces, and the server answers,
// doubles, swaps, forgets and is late.
class Storm {
 public:
  explicit Storm(std::uint64_t seed) : random_(seed), wire_(options()) { wire_.handshake(); }

  void run() {
    for (int step = 0; step < 3'000 && !wire_.session.closed(); ++step) {
      const std::uint64_t action = random_.below(10);
      if (action < 4) {
        submit("k" + std::to_string(step));
      } else if (action == 4) {
        cancel();
      } else if (action < 8) {
        serve();
      } else {
        reply();
      }
      check_events();
      ASSERT_EQ(wire_.session.in_flight(), wire_.session.closed() ? 0 : open_.size());
    }
    wire_.session.on_eof(wire_.now());
    wire_.poll();
    check_events();
    ASSERT_TRUE(open_.empty());
    ASSERT_TRUE(closed_);
  }
  std::size_t answered() const { return answered_; }
  std::uint64_t late() const { return wire_.session.counters().late_replies; }

 private:
  struct Served {
    std::string correlation;
    std::string value;  // empty for a set
  };
  static StoreSessionOptions options() {
    StoreSessionOptions options = test_options();
    options.max_in_flight = 20;
    return options;
  }
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }

  void submit(const std::string& key) {
    if (wire_.session.room() == 0) return;
    const bool big = one_in(20);
    const Ticket ticket = wire_.submit(big ? set(key, large_) : get(key));
    open_[{ticket.slot, ticket.generation}] = big ? "" : key;
  }
  void cancel() {
    if (open_.empty()) return;
    auto victim = open_.begin();
    std::advance(victim, random_.below(open_.size()));
    const Ticket ticket{victim->first.first, victim->first.second};
    open_.erase(victim);
    wire_.session.cancel(ticket, wire_.now());
    wire_.poll();
  }
  void serve() {
    stream_ += wire_.take(random_.below(2'000));
    while (true) {
      const auto result = mqtt5::read_frame(stream_);
      if (result.state != mqtt5::FrameResult::State::frame) return;
      for (const auto& request : Wire::requests_in(stream_.substr(0, result.frame.total_size))) {
        if (!one_in(500)) wire_.feed(puback(request.packet_id));
        const std::size_t key = request.payload.find("\r\nk") + 2;
        const std::size_t end = request.payload.find('\r', key);
        const bool is_get = request.payload.find("GET") < 20;
        replies_.push_back(
            {request.correlation, is_get ? request.payload.substr(key, end - key) : ""});
      }
      stream_.erase(0, result.frame.total_size);
    }
  }
  void reply() {
    if (replies_.empty()) return;
    std::swap(replies_[random_.below(replies_.size())], replies_.back());
    const Served served = replies_.back();
    if (!one_in(10)) replies_.pop_back();  // otherwise it will be sent again
    if (one_in(10)) return;                // lost, or late
    const std::string payload = served.value.empty() ? "+OK\r\n" : bulk(served.value);
    wire_.feed(reply_bytes(served.correlation, {payload}), 1 + random_.below(300));
  }
  void check_events() {
    while (!wire_.events.empty()) {
      const Seen seen = wire_.next();
      ASSERT_FALSE(closed_);
      closed_ = seen.kind == Event::Kind::closed;
      if (closed_) continue;
      const auto found = open_.find({seen.ticket.slot, seen.ticket.generation});
      ASSERT_NE(found, open_.end()) << "an event for a ticket that is not open";
      if (seen.kind == Event::Kind::reply) {
        ASSERT_EQ(seen.value, found->second);
        ++answered_;
      }
      open_.erase(found);
    }
  }

  Random random_;
  const std::string large_ = std::string(20'000, 'L');
  Wire wire_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> open_;  // ticket -> its value
  std::string stream_;  // received by the server and not read yet
  std::vector<Served> replies_;
  std::size_t answered_ = 0;
  bool closed_ = false;
};

TEST(StoreSessionHostile, RandomCallersAndAnUnreliableServerKeepToTheirTickets) {
  std::size_t answered = 0;
  std::uint64_t late = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Storm storm(seed);
    storm.run();
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    answered += storm.answered();
    late += storm.late();
  }
  EXPECT_GT(answered, 5'000U);
  EXPECT_GT(late, 500U);
}

}  // namespace
}  // namespace sheaf::protocol::statestore
