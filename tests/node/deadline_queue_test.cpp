#include "node/deadline_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "base/random.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;

struct Item {
  std::size_t place = static_cast<std::size_t>(-1);
  Deadline at{0};
};
using Queue = DeadlineQueue<Item, &Item::place>;

TEST(DeadlineQueue, GivesBackOnlyWhatIsDueEarliestFirst) {
  Queue queue;
  Item a, b, c;
  queue.push(b, 20ms);
  queue.push(c, 30ms);
  queue.push(a, 10ms);
  EXPECT_EQ(queue.next(), 10ms);
  EXPECT_EQ(queue.pop_due(9ms), nullptr);
  EXPECT_EQ(queue.pop_due(25ms), &a);
  EXPECT_EQ(queue.pop_due(25ms), &b);
  EXPECT_EQ(queue.pop_due(25ms), nullptr);
  EXPECT_EQ(queue.pop_due(30ms), &c);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.next(), never);
}

TEST(DeadlineQueue, AnAnsweredItemLeavesFromTheMiddleAndMayComeBack) {
  Queue queue;
  Item a, b, c;
  queue.push(a, 10ms);
  queue.push(b, 20ms);
  queue.push(c, 30ms);
  queue.remove(b);
  EXPECT_FALSE(queue.contains(b));
  queue.remove(b);  // no harm
  queue.push(b, 5ms);
  EXPECT_EQ(queue.pop_due(1s), &b);
  EXPECT_EQ(queue.pop_due(1s), &a);
  EXPECT_EQ(queue.pop_due(1s), &c);
}

TEST(DeadlineQueue, AgreesWithAnOrderedMapOverRandomSteps) {
  Random random(3);
  Queue queue;
  std::multimap<Deadline, Item*> model;
  std::vector<std::unique_ptr<Item>> items;
  for (int i = 0; i < 500; ++i) items.push_back(std::make_unique<Item>());
  const auto forget = [&](Item& item) {
    auto [from, to] = model.equal_range(item.at);
    while (from != to && from->second != &item) ++from;
    ASSERT_NE(from, to);
    model.erase(from);
  };
  for (int step = 0; step < 200'000; ++step) {
    Item& item = *items[random.below(items.size())];
    switch (random.below(3)) {
      case 0:
        if (queue.contains(item)) break;
        item.at = std::chrono::nanoseconds(random.below(1000));
        queue.push(item, item.at);
        model.emplace(item.at, &item);
        break;
      case 1:
        if (queue.contains(item)) forget(item);
        queue.remove(item);
        break;
      default:
        const Deadline now{static_cast<std::int64_t>(random.below(1000))};
        Item* due = queue.pop_due(now);
        if (due == nullptr) {
          ASSERT_TRUE(model.empty() || model.begin()->first > now);
        } else {
          ASSERT_EQ(due->at, model.begin()->first);
          forget(*due);
        }
    }
    ASSERT_EQ(queue.size(), model.size());
    ASSERT_EQ(queue.next(), model.empty() ? never : model.begin()->first);
  }
}

}  // namespace
}  // namespace sheaf::node
