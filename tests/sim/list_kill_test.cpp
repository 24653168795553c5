// Kills a writer after each of its requests in turn: the list can be read at once, and written once
// the lock's lease has ended. On memcached a writer's items live for a minute; after that the list
// still has every item that it names.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/list_world.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using client::list::Edit;
using client::list::Ids;
using client::list::Keys;
using client::list::Writer;
using Items = std::vector<std::string>;

// Forwards everything until the allowed number of requests has left; then the process is killed.
// The requests that have left arrive.
class Killed final : public client::calls::Procedure {
 public:
  Killed(std::unique_ptr<Writer> writer, SimLoop& loop, unsigned most)
      : writer_(std::move(writer)), loop_(loop), left_(most) {}

  void start(Now now) override { writer_->start(now); }
  void on_answer(unsigned id, const socket::Completion& answer) override {
    writer_->on_answer(id, answer);
  }
  void on_deadline(Now now) override { writer_->on_deadline(now); }
  void on_shutdown(Now now) override { writer_->on_shutdown(now); }
  bool poll_command(client::calls::Command& command) override {
    if (left_ == 0 || !writer_->poll_command(command)) return false;
    if (--left_ == 0) loop_.stop_for(1h);
    return true;
  }
  Deadline poll_deadline() const override { return writer_->poll_deadline(); }
  bool done() const override { return writer_->done(); }

  bool killed() const { return left_ == 0; }

 private:
  std::unique_ptr<Writer> writer_;
  SimLoop& loop_;
  unsigned left_;
};

Items many(const std::string& prefix, int count) {
  Items items;
  for (int i = 0; i < count; ++i) items.push_back(prefix + std::to_string(i));
  return items;
}

// One edit by a writer that is killed after `most` requests. run() returns false if the edit ended
// first.
class KillRun {
 public:
  KillRun(Ids ids, const Items& before, Edit edit, const Items& after, std::size_t tail,
          unsigned most)
      : before_(before),
        edit_(std::move(edit)),
        after_(after),
        most_(most),
        stack_(1, 1, kind_of(ids)) {
    rules_.ids = ids;
    rules_.writer.plan.tail = tail;
  }

  bool run() {
    SimWriter& first = add_writer(stack_.add_client(), 1);
    if (!before_.empty()) first.edit(Edit{Edit::Kind::push, 0, before_}, 5s);
    stack_.world.run_for(200ms);
    Killed* killed = nullptr;
    StackClient& victim = stack_.add_client();
    SimWriter& second = add_writer(victim, 2, [&](std::unique_ptr<Writer> writer) {
      auto wrapped = std::make_unique<Killed>(std::move(writer), victim.loop(), most_);
      killed = wrapped.get();
      return wrapped;
    });
    stack_.world.run_for(50ms);
    second.edit(edit_, 5s);
    stack_.world.run_for(50ms);
    const bool was_killed = killed->killed();
    read_at_once();
    if (rules_.ids == Ids::drawn) stack_.world.run_for(65s);
    write_after_one_lease();
    return was_killed;
  }

 private:
  SimWriter& add_writer(StackClient& client, std::uint64_t seed, const SimWriter::Wrap& wrap = {}) {
    return *writers_.emplace_back(std::make_unique<SimWriter>(client, rules_, seed, wrap));
  }

  void read_at_once() {
    SimRead& read =
        *reads_.emplace_back(std::make_unique<SimRead>(stack_.add_client(), rules_, 1s));
    stack_.world.run_for(20ms);
    ASSERT_TRUE(read.out && *read.out) << "killed after request " << most_;
    seen_ = (*read.out)->items;
    ASSERT_TRUE(seen_ == before_ || seen_ == after_) << "killed after request " << most_;
  }

  void write_after_one_lease() {
    SimWriter& next = add_writer(stack_.add_client(), 3);
    const Deadline started = stack_.world.now().mono;
    const SimEdit& edit = next.push("next", 5s);
    stack_.world.run(started + 5s, [&] { return edit.outcome.has_value(); });
    ASSERT_TRUE(edit.outcome && edit.outcome->has_value()) << "killed after request " << most_;
    EXPECT_LE(stack_.world.now().mono - started, rules_.store.lease + 100ms);
    SimRead& read =
        *reads_.emplace_back(std::make_unique<SimRead>(stack_.add_client(), rules_, 1s));
    stack_.world.run_for(100ms);
    seen_.push_back("next");
    ASSERT_TRUE(read.out && *read.out);
    EXPECT_EQ((*read.out)->items, seen_) << "killed after request " << most_;
    stack_.world.run_for(3s);  // for what the sweeping leaves
  }

  const Items& before_;
  Edit edit_;
  const Items& after_;
  unsigned most_;
  ListRules rules_;
  std::vector<std::unique_ptr<SimRead>> reads_;
  std::vector<std::unique_ptr<SimWriter>> writers_;
  Stack stack_;
  Items seen_;
};

class ListKill : public testing::TestWithParam<Ids> {
 protected:
  void kill_everywhere(const Items& before, const Edit& edit, const Items& after, unsigned least,
                       std::size_t tail = 0);
};

INSTANTIATE_TEST_SUITE_P(On, ListKill, both_kinds, name_of);

// Kills after the first request, the second, and so on, until the edit has no more requests.
void ListKill::kill_everywhere(const Items& before, const Edit& edit, const Items& after,
                               unsigned least, std::size_t tail) {
  if (GetParam() == Ids::drawn) least = std::min(least, 2u);  // no lock, no claim
  unsigned most = 1;
  for (; most < 700; ++most) {
    const bool killed = KillRun(GetParam(), before, edit, after, tail, most).run();
    if (testing::Test::HasFatalFailure()) return;
    if (!killed) break;
    if (most > 20) most += 10;  // later requests are alike
  }
  EXPECT_GT(most, least) << "the edit has more requests than that";
}

TEST_P(ListKill, AfterEachRequestOfAFirstPush) {
  kill_everywhere({}, Edit{Edit::Kind::push, 0, {"x"}}, {"x"}, 6);
}

TEST_P(ListKill, AfterEachRequestOfAPush) {
  kill_everywhere({"a", "b"}, Edit{Edit::Kind::push, 0, {"x"}}, {"a", "b", "x"}, 7);
}

TEST_P(ListKill, AfterEachRequestOfAPushIntoTheTail) {
  kill_everywhere({"a", "b"}, Edit{Edit::Kind::push, 0, {"x"}}, {"a", "b", "x"}, 6, 32);
}

TEST_P(ListKill, AfterEachRequestOfAnInsertThatSplitsASegment) {
  const Items before = many("i", 256);
  Items after = before;
  after.insert(after.begin() + 100, "x");
  kill_everywhere(before, Edit{Edit::Kind::insert, 100, {"x"}}, after, 8);
}

TEST_P(ListKill, AfterEachRequestOfARemove) {
  kill_everywhere({"a", "b", "c"}, Edit{Edit::Kind::remove, 1, {}}, {"a", "c"}, 7);
}

TEST_P(ListKill, AfterEachRequestOfAClear) {
  kill_everywhere(many("i", 300), Edit{Edit::Kind::clear, 0, {}}, {}, 4);
}

TEST_P(ListKill, AfterManyRequestsOfAPushOfMany) {
  const Items before = many("b", 10);
  Items after = before;
  const Items pushed = many("p", 600);
  after.insert(after.end(), pushed.begin(), pushed.end());
  kill_everywhere(before, Edit{Edit::Kind::push, 0, pushed}, after, 100);
}

}  // namespace
}  // namespace sheaf::sim
