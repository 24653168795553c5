// Which edits form a group, and how they come back or end.

#include "client/list/edit_queue.h"

#include <gtest/gtest.h>

#include <deque>

namespace sheaf::client::list {
namespace {

using namespace std::chrono_literals;

class ListEditQueue : public testing::Test {
 protected:
  EditRequest& add(Edit edit, Deadline deadline = 10s) {
    EditRequest& request = requests_.emplace_back();
    request.edit = std::move(edit);
    request.deadline = deadline;
    queue.add(request);
    return request;
  }
  EditRequest& push(std::size_t items, Deadline deadline = 10s) {
    return add({Edit::Kind::push, 0, std::vector<std::string>(items, "x")}, deadline);
  }
  // Takes groups until no edit waits; returns the number of edits in each.
  std::vector<std::size_t> groups() {
    std::vector<std::size_t> sizes;
    while (queue.waiting()) {
      queue.take_group();
      sizes.push_back(queue.group_size());
    }
    return sizes;
  }
  // The outcome of an edit that has ended without one from the store.
  Outcome outcome_of(const EditRequest& request) {
    return request.outcome && !request.outcome->has_value() ? request.outcome->error().outcome
                                                            : Outcome::invalid;
  }
  static Error error(Outcome outcome) {
    Error made;
    made.outcome = outcome;
    return made;
  }

  EditQueue queue{{.items = 10, .bytes = 100}};
  Now now{1s, 0ms};

 private:
  std::deque<EditRequest> requests_;
};

TEST_F(ListEditQueue, PushesThatFitBecomeOneGroup) {
  for (int i = 0; i < 12; ++i) push(2);
  EXPECT_EQ(groups(), (std::vector<std::size_t>{5, 5, 2}));
}

TEST_F(ListEditQueue, APushAboveTheLimitsIsAGroupOfItsOwn) {
  push(1);
  push(50);
  add({Edit::Kind::push, 0, {std::string(1'000, 'x')}});
  push(1);
  EXPECT_EQ(groups(), (std::vector<std::size_t>{1, 1, 1, 1}));
}

TEST_F(ListEditQueue, AnEditOfAnotherKindIsAGroupOfItsOwn) {
  push(1);
  push(1);
  add({Edit::Kind::remove, 0, {}});
  add({Edit::Kind::remove, 0, {}});
  push(1);
  EXPECT_EQ(groups(), (std::vector<std::size_t>{2, 1, 1, 1}));
}

TEST_F(ListEditQueue, AGroupThatIsPutBackGoesInFrontInItsOrder) {
  const EditRequest& first = push(1);
  const EditRequest& second = push(1);
  queue.take_group();
  const EditRequest& third = push(1);
  queue.put_back();
  queue.take_group();
  EXPECT_EQ(queue.group_edits(),
            (std::vector<const Edit*>{&first.edit, &second.edit, &third.edit}));
}

TEST_F(ListEditQueue, TheEditsOfADividedGroupAreTriedOneByOneAndLaterOnesTogether) {
  for (int i = 0; i < 3; ++i) push(1);
  queue.take_group();
  for (int i = 0; i < 4; ++i) push(1);
  queue.divide_group();
  EXPECT_EQ(groups(), (std::vector<std::size_t>{1, 1, 1, 4}));
}

TEST_F(ListEditQueue, OnlyLateEditsExpire) {
  const EditRequest& late_in_group = push(1, 1s);
  const EditRequest& in_group = push(1, 5s);
  queue.take_group();
  const EditRequest& late = push(1, 1s);
  const EditRequest& waits = push(1, 3s);
  EXPECT_EQ(queue.earliest(), 1s);
  EXPECT_EQ(queue.last_of_group(), 5s);
  EXPECT_EQ(queue.last_waiting(), 3s);
  ASSERT_TRUE(queue.group_late(now));
  queue.expire_group(error(Outcome::unknown), now);
  queue.expire_waiting(error(Outcome::not_sent), now);
  EXPECT_EQ(queue.poll_ended(), &late_in_group);
  EXPECT_EQ(queue.poll_ended(), &late);
  EXPECT_EQ(queue.poll_ended(), nullptr);
  EXPECT_EQ(outcome_of(late_in_group), Outcome::unknown);
  EXPECT_EQ(outcome_of(late), Outcome::not_sent);
  EXPECT_EQ(late.outcome->error().elapsed, 1s);
  EXPECT_FALSE(in_group.outcome || waits.outcome);
  EXPECT_EQ(queue.earliest(), 3s);
  EXPECT_FALSE(queue.group_late(now));
}

// The result of a commit applies to the whole group, but an edit that has expired has its outcome.
TEST_F(ListEditQueue, AnEditThatExpiredDuringTheCommitKeepsItsOutcome) {
  const EditRequest& late = push(1, 1s);
  const EditRequest& in_time = push(1, 5s);
  queue.take_group();
  queue.expire_group(error(Outcome::unknown), now);
  Plan plan;
  plan.results = {{true, 7, 0}, {true, 8, 0}};
  queue.end_group(plan, std::nullopt);
  EXPECT_EQ(outcome_of(late), Outcome::unknown);
  ASSERT_TRUE(in_time.outcome && in_time.outcome->has_value());
  EXPECT_EQ((*in_time.outcome)->length, 8u);
}

}  // namespace
}  // namespace sheaf::client::list
