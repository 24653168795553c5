// What a list leaves in the store: keys after a clear, the lock after an edit that expired.

#include <gtest/gtest.h>

#include "tests/sim/list_world.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using client::list::Edit;
using client::list::Ids;

class ListLeftovers : public testing::TestWithParam<Ids> {
 protected:
  ListLeftovers() : stack_(1, 1, drawn() ? EndpointKind::memcached : EndpointKind::state_store) {
    rules_.ids = GetParam();
  }
  static bool drawn() { return GetParam() == Ids::drawn; }

  SimWriter& add_writer() {
    const std::uint64_t seed = writers_.size() + 1;
    return *writers_.emplace_back(std::make_unique<SimWriter>(stack_.add_client(), rules_, seed));
  }
  // Makes an edit and waits for its outcome.
  const SimEdit& edit(SimWriter& writer, Edit edit) {
    const SimEdit& made = writer.edit(std::move(edit), 5s);
    stack_.world.run(made.deadline + 1s, [&] { return made.outcome.has_value(); });
    EXPECT_TRUE(made.outcome && made.outcome->has_value());
    return made;
  }
  // A list of six segments and a tail.
  void fill(SimWriter& writer) {
    edit(writer, Edit{Edit::Kind::push, 0, std::vector<std::string>(1'500, "x")});
    for (int i = 0; i < 5; ++i) edit(writer, Edit{Edit::Kind::push, 0, {"y"}});
    stack_.world.run_for(1s);
    ASSERT_EQ(keys(), 1'500u + 5 + 6 + 1);
  }
  std::size_t keys() {
    return drawn() ? stack_.memcached(0).table().size() : stack_.store(0).engine().keys();
  }

  ListRules rules_;
  std::vector<std::unique_ptr<SimWriter>> writers_;  // outlive the clients
  Stack stack_{1, 1, kind_of(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(On, ListLeftovers, both_kinds, name_of);

TEST_P(ListLeftovers, AfterAClearAndSomeEditsNothingIsThereButTheHeadAndTheNewItems) {
  SimWriter& writer = add_writer();
  fill(writer);
  edit(writer, Edit{Edit::Kind::clear, 0, {}});
  for (int i = 0; i < 8; ++i) {
    edit(writer, Edit{Edit::Kind::push, 0, {"z"}});
    stack_.world.run_for(1s);
  }
  EXPECT_EQ(keys(), 1u + 8);
}

// The next writer continues the sweeping where another one stopped.
TEST_P(ListLeftovers, ASweepThatWasCutOffIsFinishedByOthers) {
  SimWriter& first = add_writer();
  fill(first);
  edit(first, Edit{Edit::Kind::clear, 0, {}});
  edit(first, Edit{Edit::Kind::push, 0, {"z"}});
  const std::size_t before = keys();
  stack_.world.run(stack_.world.now().mono + 1s, [&] { return keys() < before - 300; });
  ASSERT_GT(keys(), 300u) << "the sweeping is under way";
  first.client().loop().stop_for(1h);
  SimWriter& second = add_writer();
  for (int i = 0; i < 8; ++i) {
    edit(second, Edit{Edit::Kind::push, 0, {"z"}});
    stack_.world.run_for(1s);
  }
  EXPECT_EQ(keys(), 1u + 9);
}

// The timeouts end the edit at every stage: a round trip is 4 ms, the whole edit some 20 ms.
TEST_P(ListLeftovers, AnEditThatExpiredHalfWayLetsAnotherWriterInAtOnce) {
  SimWriter& first = add_writer();
  SimWriter& second = add_writer();
  stack_.broker(0).faults.delay = 2ms;
  unsigned expired = 0;
  for (auto timeout = 1ms; timeout <= 40ms; ++timeout) {
    edit(first, Edit{Edit::Kind::push, 0, {"a"}});
    const SimEdit& late = first.edit(Edit{Edit::Kind::push, 0, {"late"}}, timeout);
    stack_.world.run_for(50ms);
    ASSERT_TRUE(late.outcome);
    expired += !late.outcome->has_value();
    const Deadline started = stack_.world.now().mono;
    edit(second, Edit{Edit::Kind::push, 0, {"b"}});
    EXPECT_LT(stack_.world.now().mono - started, 100ms) << timeout.count() << " ms";
  }
  EXPECT_GT(expired, 5u);
  EXPECT_LT(expired, 40u);
}

}  // namespace
}  // namespace sheaf::sim
