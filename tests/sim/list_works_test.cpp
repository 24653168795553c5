// List calls of many steps, cancelled in between: in the turn in which one step has ended and the
// next has not begun.

#include "client/list/list_works.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/sim/kit/sim_transport.h"
#include "tests/sim/kit/stack.h"

namespace sheaf::client::list {
namespace {

using namespace std::chrono_literals;
using calls::Blocking;
using calls::HowToWait;

// A work that is cancelled at a given moment, unless it has ended. If an answer arrives at that
// very moment, the timer fires after the answer is read and before the work that the answer posted.
template <class Work>
class CancelledAt final : private socket::TimerSink {
 public:
  using Out = typename Work::Out;

  template <class... Args>
  CancelledAt(calls::WorkEnd& end, socket::Loop& loop, Deadline at, Args&&... args)
      : at_(at), timer_(loop.timer(*this)), work_(end, std::forward<Args>(args)...) {}

  void start(Now now) {
    timer_->set(at_);
    work_.start(now);
  }
  Out take() { return work_.take(); }

 private:
  void on_timer(Now now) override { work_.cancel(now); }

  const Deadline at_;
  const std::unique_ptr<socket::Timer> timer_;
  Work work_;
};

// The lists of one client, and nothing else of it. Two instances that do the same do it at the same
// moments.
class Lists {
 public:
  explicit Lists(EndpointKind kind) : stack_(3, 1, kind), context_(stack_.config, {}) {
    sim::use_network(stack_.network, {});
    EXPECT_TRUE(context_.open(random_));
    procedures_.emplace(context_.path().loop(), context_.cluster(), nullptr);
    service_.emplace(context_, *procedures_, random_.fork());
  }
  ~Lists() {
    context_.path().run([this](Now now) {
      procedures_->shut_down(now);
      context_.cluster().shut_down(now);
    });
    context_.path().stop([this] { return context_.cluster().empty(); });
  }
  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;

  PushManyResult push(std::size_t count) {
    const std::vector<std::string_view> values(count, "value");
    return run<PushMany>(*service_, name, values, 5s);
  }
  PushManyResult push(std::size_t count, Deadline cancelled) {
    const std::vector<std::string_view> values(count, "value");
    return run<CancelledAt<PushMany>>(loop(), cancelled, *service_, name, values, 5s);
  }
  DropHoles::Out drop_holes() { return run<DropHoles>(*service_, name, 5s); }
  DropHoles::Out drop_holes(Deadline cancelled) {
    return run<CancelledAt<DropHoles>>(loop(), cancelled, *service_, name, 5s);
  }
  Reader::Out read(std::int64_t first, std::int64_t last) {
    const ReadTerms terms = read_terms(context_.config(), loop().now().mono, 5s);
    return run<calls::RunProcedure<Reader>>(*procedures_,
                                            Reader::with_holes(keys(), first, last, terms));
  }
  // Does what a server does that drops an item. `place` is in the tail.
  void lose_item(std::size_t place) {
    sim::StackClient& other = stack_.add_client();
    const sim::Op& head = other.get(keys().head(), 1s);
    stack_.world.run_for(1s);
    const Id id = parse_head(head.got, keys().ids()).value().tail.at(place);
    const sim::Op& removed = other.remove(keys().item(id), 1s);
    stack_.world.run_for(1s);
    EXPECT_TRUE(removed.answered && removed.status == protocol::Status::done) << removed.text;
  }

  Deadline now() { return loop().now().mono; }
  std::uint64_t requests() { return context_.cluster().nodes().stats().front().requests; }

 private:
  static constexpr std::string_view name = "jobs";

  Keys keys() const { return keys_of(name, context_.config().kind); }
  socket::Loop& loop() { return context_.path().loop(); }
  template <class Work, class... Args>
  typename Work::Out run(Args&&... args) {
    return Blocking<Work>(context_.lane(), HowToWait(), std::forward<Args>(args)...).wait();
  }

  sim::Stack stack_;
  Random random_{Seed{}};
  runtime::Context context_;
  std::optional<calls::ProcedureHost> procedures_;
  std::optional<ListService> service_;
};

constexpr std::size_t part = PushMany::part_items;

class ListWorks : public testing::TestWithParam<EndpointKind> {};
INSTANTIATE_TEST_SUITE_P(On, ListWorks,
                         testing::Values(EndpointKind::state_store, EndpointKind::memcached),
                         [](const auto& test) {
                           return test.param == EndpointKind::memcached ? "Memcached"
                                                                        : "StateStore";
                         });

TEST_P(ListWorks, PushManyThatIsCancelledBetweenTwoPartsHasPushedTheFirst) {
  Lists first(GetParam());
  ASSERT_EQ(first.push(part).pushed, part);

  Lists both(GetParam());
  const PushManyResult pushed = both.push(2 * part, first.now());
  EXPECT_EQ(both.now(), first.now()) << "it ends at once";
  EXPECT_EQ(both.requests(), first.requests()) << "the second part asks for nothing";
  EXPECT_EQ(pushed.pushed, part);
  EXPECT_EQ(pushed.length, part);
  ASSERT_TRUE(pushed.error);
  EXPECT_EQ(pushed.error->outcome, Outcome::not_sent);
  EXPECT_EQ(pushed.error->reason, Reason::cancelled);

  EXPECT_EQ(both.push(1).length, part + 1) << "the list goes on as it is";
}

TEST_P(ListWorks, DropHolesThatIsCancelledBetweenTwoReadsEndsAtOnce) {
  Lists first(GetParam());
  Lists both(GetParam());
  for (Lists* lists : {&first, &both}) ASSERT_EQ(lists->push(part + 1).pushed, part + 1);
  ASSERT_EQ(first.read(0, part - 1).value().items.size(), part);

  const auto dropped = both.drop_holes(first.now());
  EXPECT_EQ(both.now(), first.now());
  EXPECT_EQ(both.requests(), first.requests()) << "the second part is not read";
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().outcome, Outcome::not_sent);
  EXPECT_EQ(dropped.error().reason, Reason::cancelled);
}

TEST(ListWorksOnMemcached, DropHolesThatIsCancelledBetweenReadAndEditDropsNothing) {
  Lists first(EndpointKind::memcached);
  Lists both(EndpointKind::memcached);
  for (Lists* lists : {&first, &both}) {
    ASSERT_EQ(lists->push(10).pushed, 10u);
    lists->lose_item(3);
  }
  ASSERT_EQ(first.read(0, part - 1).value().holes.size(), 1u);

  const auto dropped = both.drop_holes(first.now());
  EXPECT_EQ(both.now(), first.now());
  EXPECT_EQ(both.requests(), first.requests()) << "no edit begins";
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().reason, Reason::cancelled);
  EXPECT_EQ(both.read(0, -1).value().holes.size(), 1u);
  EXPECT_EQ(both.drop_holes().value(), 1u);
  EXPECT_TRUE(both.read(0, -1).value().holes.empty());
}

}  // namespace
}  // namespace sheaf::client::list
