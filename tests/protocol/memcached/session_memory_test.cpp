// Memory runs out at every allocation in turn. A warm session needs no allocation.

#include <gtest/gtest.h>

#include "tests/protocol/memcached/toy_server.h"
#include "tests/protocol/scarce_memory.h"

namespace sheaf::protocol::memcached {
namespace {

struct BinaryMemory {
  using Session = BinarySession;
  using Toy = BinaryToy;
};
struct MetaMemory {
  using Session = MetaSession;
  using Toy = MetaToy;
};

std::vector<std::string> long_names() {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= 20; ++i) names.push_back(long_key_of(i));
  return names;
}

// A conversation in which every call to the session may make `memory` allocations.
template <class Protocol>
class ScarceTalk {
 public:
  // With `from_start` this applies to the greeting, too.
  ScarceTalk(long memory, bool from_start)
      : memory_(from_start ? memory : no_limit), later_(memory) {}

  void run() {
    scarce([&] { session_.start({}); });
    for (int i = 0; i < 3; ++i) exchange();
    memory_ = later_;
    for (int i = 1; i <= 40; ++i) {
      submit(get(key_of(static_cast<std::size_t>(i))));
      submit(set(key_of(static_cast<std::size_t>(i)), large_));
      if (i % 4 == 0) submit(many(keys_));
      if (i % 10 == 0) submit(operation(Verb::increment, " k1"));
    }
    for (int i = 0; i < 3; ++i) exchange();
    submit(get("k1"));
    scarce([&] { session_.close({}); });
    poll();
  }
  std::size_t submitted = 0;
  std::size_t refused = 0;
  std::size_t ended = 0;
  bool closed = false;

 private:
  template <class Action>
  auto scarce(const Action& action) {
    const Scarce scarce(memory_);
    return action();
  }
  void submit(const Operation& operation) {
    if (session_.room() == 0) return;
    const auto ticket = scarce([&] { return session_.submit(operation, {}); });
    if (ticket) {
      ++submitted;
    } else {
      EXPECT_EQ(ticket.error().outcome, Outcome::overloaded);
      EXPECT_EQ(ticket.error().reason, Reason::out_of_memory);
      ++refused;
    }
  }
  void exchange() {
    while (true) {
      std::string out;
      const auto parts = scarce([&] { return session_.poll_output(); });
      for (const Bytes part : parts) out += as_text(part);
      if (out.empty()) break;
      scarce([&] { session_.on_output(out.size(), {}); });
      toy_.receive(out);
    }
    feed(toy_.take());
  }
  void feed(std::string_view bytes) {
    while (!bytes.empty() && !session_.closed()) {
      const auto space = scarce([&] { return session_.input_space(); });
      const std::size_t size = std::min(bytes.size(), space.size());
      if (size == 0) break;
      std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), size, space.begin());
      bytes.remove_prefix(size);
      scarce([&] { session_.on_input(size, {}); });
      poll();
    }
    poll();
  }
  void poll() {
    Event event;
    while (scarce([&] { return session_.poll_event(event); })) {
      if (event.kind == Event::Kind::reply || event.kind == Event::Kind::failed) ++ended;
      closed |= event.kind == Event::Kind::closed;
    }
  }

  long memory_;
  long later_;
  typename Protocol::Session session_{test_options()};
  typename Protocol::Toy toy_;
  std::string large_ = std::string(9'000, 'v');
  // Names that fill more than one list.
  const std::vector<std::string> names_ = long_names();
  const std::vector<std::string_view> keys_{names_.begin(), names_.end()};
};

template <class Protocol>
class Memory : public testing::Test {};
struct MemoryNames {
  template <class Protocol>
  static std::string GetName(int) {
    return std::is_same_v<Protocol, BinaryMemory> ? "Binary" : "Meta";
  }
};
using MemoryProtocols = testing::Types<BinaryMemory, MetaMemory>;
TYPED_TEST_SUITE(Memory, MemoryProtocols, MemoryNames);

TYPED_TEST(Memory, RunningOutAnywhereRefusesOrClosesAndNothingIsThrown) {
  std::size_t refused = 0;
  std::size_t submitted = 0;
  for (long memory = 0; memory < 12; ++memory) {
    for (const bool from_start : {false, true}) {
      ScarceTalk<TypeParam> talk(memory, from_start);
      talk.run();
      EXPECT_EQ(talk.ended, talk.submitted) << memory;
      EXPECT_TRUE(talk.closed) << memory;
      refused += talk.refused;
      submitted += talk.submitted;
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(submitted, 800u);
}

TYPED_TEST(Memory, AWarmSessionAllocatesNothingForRequestsAndReplies) {
  Wire<typename TypeParam::Session> wire;
  typename TypeParam::Toy toy;
  wire.session.start(wire.now());
  for (int i = 0; i < 3; ++i) {
    toy.receive(wire.take());
    wire.feed(toy.take());
  }
  const std::vector<std::string> names = long_names();
  const std::vector<std::string_view> keys(names.begin(), names.end());
  const std::vector<Operation> operations = {get("k1"),
                                             many(keys),
                                             get("k2"),
                                             get("k3"),
                                             set("some/key", "some value"),
                                             operation(Verb::increment, "k5"),
                                             operation(Verb::remove, "k6"),
                                             operation(Verb::probe)};
  for (int round = 0; round < 200; ++round) {
    const long memory = round < 100 ? no_limit : 0;
    std::size_t accepted = 0;
    std::size_t ended = 0;
    for (const Operation& asked : operations) {
      const Scarce scarce(memory);
      if (wire.session.submit(asked, wire.now())) ++accepted;
    }
    ASSERT_EQ(accepted, operations.size()) << round;
    {
      const Scarce scarce(memory);
      ASSERT_FALSE(wire.session.poll_output().empty());
    }
    toy.receive(wire.take());
    const std::string bytes = toy.take();
    const auto space = wire.session.input_space();
    ASSERT_GE(space.size(), bytes.size());
    std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), space.begin());
    const Scarce scarce(memory);
    wire.session.on_input(bytes.size(), wire.now());
    Event event;
    std::size_t items = 0;
    while (wire.session.poll_event(event)) ++(event.kind == Event::Kind::item ? items : ended);
    ASSERT_EQ(ended, operations.size()) << round;
    ASSERT_GE(items, 14u) << round;
  }
}

}  // namespace
}  // namespace sheaf::protocol::memcached
