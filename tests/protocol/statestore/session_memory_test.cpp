// Memory runs out at every allocation in turn.

#include <gtest/gtest.h>

#include "tests/protocol/scarce_memory.h"
#include "tests/protocol/statestore/session_harness.h"

namespace sheaf::protocol::statestore {
namespace {

// A conversation in which every call to the session may make `memory` allocations.
class ScarceTalk {
  template <class Action>
  auto scarce(const Action& action) {
    const Scarce scarce(memory_);
    return action();
  }

 public:
  // With `from_start` this applies to the handshake, too.
  ScarceTalk(long memory, bool from_start)
      : memory_(from_start ? memory : no_limit), later_(memory) {}

  void run() {
    scarce([&] { wire_.session.start(wire_.now()); });
    wire_.take();
    feed(connack());
    wire_.take();
    feed(suback());
    memory_ = later_;
    for (int i = 0; i < 40; ++i) submit("key" + std::to_string(i));
    answer(wire_.take_requests());
    scarce([&] { wire_.session.close(wire_.now()); });
    wire_.take();
    poll();
  }
  std::size_t submitted() const { return submitted_; }
  std::size_t refused() const { return refused_; }
  std::size_t ended() const { return ended_; }
  bool closed() const { return closed_; }

 private:
  void submit(const std::string& key) {
    if (wire_.session.room() == 0) return;
    const Operation operation = get(key);
    const auto ticket = scarce([&] { return wire_.session.submit(operation, wire_.now()); });
    if (ticket) {
      ++submitted_;
    } else {
      EXPECT_EQ(ticket.error().outcome, Outcome::overloaded);
      EXPECT_EQ(ticket.error().reason, Reason::out_of_memory);
      ++refused_;
    }
  }
  void answer(const std::vector<SeenRequest>& requests) {
    const std::string value = "$50000\r\n" + std::string(50'000, 'v') + "\r\n";
    for (const SeenRequest& request : requests) {
      feed(reply_bytes(request.correlation, {value}) + puback(request.packet_id));
      scarce([&] { wire_.session.poll_output(); });
    }
  }
  void feed(std::string_view bytes) {
    while (!bytes.empty() && !wire_.session.closed()) {
      const auto space = scarce([&] { return wire_.session.input_space(); });
      const std::size_t size = std::min(bytes.size(), space.size());
      if (size == 0) break;
      std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), size, space.begin());
      bytes.remove_prefix(size);
      wire_.session.on_input(size, wire_.now());
      poll();
    }
  }
  void poll() {
    Event event;
    while (scarce([&] { return wire_.session.poll_event(event); })) {
      if (event.kind == Event::Kind::reply) {
        EXPECT_EQ(event.reply.value.size(), 50'000U);
      }
      if (event.kind == Event::Kind::reply || event.kind == Event::Kind::failed) ++ended_;
      closed_ |= event.kind == Event::Kind::closed;
    }
  }

  long memory_;
  long later_;
  Wire wire_;
  std::size_t submitted_ = 0;
  std::size_t refused_ = 0;
  std::size_t ended_ = 0;
  bool closed_ = false;
};

TEST(StoreSessionMemory, RunningOutAnywhereRefusesOrClosesAndNothingIsThrown) {
  std::size_t refused = 0;
  std::size_t submitted = 0;
  for (long memory = 0; memory < 30; ++memory) {
    for (const bool from_start : {false, true}) {
      ScarceTalk talk(memory, from_start);
      talk.run();
      EXPECT_EQ(talk.ended(), talk.submitted()) << memory;
      EXPECT_TRUE(talk.closed()) << memory;
      refused += talk.refused();
      submitted += talk.submitted();
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(submitted, 400U);
}

TEST(StoreSessionMemory, WarmSessionAllocatesNothingForARequestAndItsReply) {
  Wire wire;
  wire.handshake();
  for (int round = 0; round < 200; ++round) {
    const Operation operation = set("some/key", "some value");
    std::expected<Ticket, LocalError> ticket;
    {
      const Scarce scarce(round < 100 ? no_limit : 0);
      ticket = wire.session.submit(operation, wire.now());
    }
    ASSERT_TRUE(ticket.has_value()) << round;
    const auto requests = wire.take_requests();
    const std::string bytes =
        puback(requests[0].packet_id) + reply_bytes(requests[0].correlation, {"+OK\r\n"});
    const auto space = wire.session.input_space();
    std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), space.begin());
    const Scarce scarce(round < 100 ? no_limit : 0);
    wire.session.on_input(bytes.size(), wire.now());
    Event event;
    ASSERT_TRUE(wire.session.poll_event(event));
    ASSERT_EQ(event.ticket, *ticket);
    ASSERT_FALSE(wire.session.poll_event(event));
  }
}

}  // namespace
}  // namespace sheaf::protocol::statestore
