#include "base/deadline_heap.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "base/random.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

struct Item : DeadlineHook<Item> {
  Deadline at{0};
};
using Heap = DeadlineHeap<Item>;

TEST(DeadlineHeap, GivesBackOnlyWhatIsDueEarliestFirst) {
  Heap heap;
  Item a, b, c;
  heap.push(b, 20ms);
  heap.push(c, 30ms);
  heap.push(a, 10ms);
  EXPECT_EQ(heap.next(), 10ms);
  EXPECT_EQ(heap.front(), &a);
  EXPECT_EQ(heap.pop_due(9ms), nullptr);
  EXPECT_EQ(heap.pop_due(25ms), &a);
  EXPECT_EQ(heap.pop_due(25ms), &b);
  EXPECT_EQ(heap.pop_due(25ms), nullptr);
  EXPECT_EQ(heap.pop_due(30ms), &c);
  EXPECT_TRUE(heap.empty());
  EXPECT_EQ(heap.next(), never);
  EXPECT_EQ(heap.front(), nullptr);
}

TEST(DeadlineHeap, AnAnsweredItemLeavesFromTheMiddleAndMayComeBack) {
  Heap heap;
  Item a, b, c;
  heap.push(a, 10ms);
  heap.push(b, 20ms);
  heap.push(c, 30ms);
  heap.remove(b);
  EXPECT_FALSE(heap.contains(b));
  heap.remove(b);  // does no harm
  heap.push(b, 5ms);
  EXPECT_EQ(heap.pop_due(1s), &b);
  EXPECT_EQ(heap.pop_due(1s), &a);
  EXPECT_EQ(heap.pop_due(1s), &c);
}

TEST(DeadlineHeap, AgreesWithAnOrderedMapOverRandomSteps) {
  Random random(3);
  Heap heap;
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
        if (heap.contains(item)) break;
        item.at = std::chrono::nanoseconds(random.below(1000));
        heap.push(item, item.at);
        model.emplace(item.at, &item);
        break;
      case 1:
        if (heap.contains(item)) forget(item);
        heap.remove(item);
        break;
      default:
        const Deadline now{static_cast<std::int64_t>(random.below(1000))};
        Item* due = heap.pop_due(now);
        if (due == nullptr) {
          ASSERT_TRUE(model.empty() || model.begin()->first > now);
        } else {
          ASSERT_EQ(due->at, model.begin()->first);
          forget(*due);
        }
    }
    ASSERT_EQ(heap.size(), model.size());
    ASSERT_EQ(heap.next(), model.empty() ? never : model.begin()->first);
  }
}

}  // namespace
}  // namespace sheaf
