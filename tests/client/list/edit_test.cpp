// The planner against a plain vector: thousands of random edits, committed to a map of segments.

#include "client/list/edit.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"
#include "tests/support/extent.h"
#include "tests/support/sanitized.h"

namespace sheaf::client::list {
namespace {

// A list whose store is two maps; checks the invariants at each commit.
class Model {
 public:
  Model() = default;
  explicit Model(const PlanOptions& plan_options) : options(plan_options) {}

  std::vector<EditResult> apply(const std::vector<Edit>& edits) {
    std::vector<const Edit*> pointers;
    for (const Edit& edit : edits) pointers.push_back(&edit);
    const auto needed = needed_segment(head, pointers, options);
    const Plan plan =
        make_plan(head, needed ? segments.at(needed->id) : std::vector<Id>(), pointers, options);
    if (plan.removed) removed = items.at(*plan.removed);
    if (!plan.changes) {
      EXPECT_TRUE(plan.items.empty() && plan.segments.empty());
      return plan.results;
    }
    for (const NewItem& item : plan.items) {
      EXPECT_TRUE(item.id >= head.next && item.id < plan.head.next);
      EXPECT_TRUE(items.emplace(item.id, *item.value).second);
    }
    for (const NewSegment& segment : plan.segments) {
      EXPECT_TRUE(segment.id >= head.next && segment.id < plan.head.next) << "never in place";
      EXPECT_TRUE(segments.emplace(segment.id, segment.ids).second);
    }
    EXPECT_EQ(plan.head.revision, head.revision + 1);
    sweep();
    head = plan.head;
    expect_no_leftovers();
    EXPECT_EQ(parse_head(encode_head(head)).value(), head);
    return plan.results;
  }

  // Does what the register does after a commit: removes the garbage of the head before it.
  void sweep() {
    for (const Garbage& each : head.garbage) {
      if (each.kind == Garbage::Kind::item) {
        EXPECT_EQ(items.erase(each.id), 1u);
      } else if (each.kind == Garbage::Kind::segment) {
        EXPECT_EQ(segments.erase(each.id), 1u);
      }
    }
  }

  // Everything in the store is either named by the list or by its garbage.
  void expect_no_leftovers() const {
    std::size_t segments_named = head.segments.size();
    std::size_t items_named = head.length();
    for (const Garbage& each : head.garbage) {
      if (each.kind == Garbage::Kind::item) ++items_named;
      if (each.kind == Garbage::Kind::tree) items_named += segments.at(each.id).size();
      if (each.kind != Garbage::Kind::item) ++segments_named;
    }
    EXPECT_EQ(segments.size(), segments_named);
    EXPECT_EQ(items.size(), items_named);
  }

  std::vector<std::string> read() const {
    std::vector<std::string> all;
    for (const SegmentRef& ref : head.segments) {
      EXPECT_EQ(segments.at(ref.id).size(), ref.count);
      EXPECT_LE(ref.count, options.segment);
      for (const Id id : segments.at(ref.id)) all.push_back(items.at(id));
    }
    for (const Id id : head.tail) all.push_back(items.at(id));
    return all;
  }

  PlanOptions options;
  Head head;
  std::map<Id, std::string> items;
  std::map<Id, std::vector<Id>> segments;
  std::string removed;
};

using Vector = std::vector<std::string>;

// The same edit on a vector; false: no such index.
bool apply(Vector& list, const Edit& edit) {
  const auto size = static_cast<std::int64_t>(list.size());
  const std::int64_t index = edit.index < 0 ? edit.index + size : edit.index;
  const bool insert = edit.kind == Edit::Kind::insert;
  switch (edit.kind) {
    case Edit::Kind::push:
      list.insert(list.end(), edit.values.begin(), edit.values.end());
      return true;
    case Edit::Kind::clear:
      list.clear();
      return true;
    case Edit::Kind::insert:
    case Edit::Kind::update:
    case Edit::Kind::remove:
      if (index < 0 || index > size || (!insert && index == size)) return false;
      if (edit.kind == Edit::Kind::insert) list.insert(list.begin() + index, edit.values[0]);
      if (edit.kind == Edit::Kind::update) list[static_cast<std::size_t>(index)] = edit.values[0];
      if (edit.kind == Edit::Kind::remove) list.erase(list.begin() + index);
      return true;
    case Edit::Kind::drop:  // knows ids, not indexes
      break;
  }
  return false;
}

std::int64_t random_index(Random& random, std::size_t size) {
  const auto limit = static_cast<std::int64_t>(size) + 2;
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * limit + 1))) - limit;
}

class RandomEdits {
 public:
  explicit RandomEdits(std::uint64_t seed) : random_(seed), batch_(1 + random_.below(600)) {
    if (random_.below(2) == 0) {
      model_.options.segment = 2 + random_.below(8);
      model_.options.tail = random_.below(6);
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    ASSERT_EQ(model_.read(), vector_);
  }

 private:
  std::vector<Edit> draw() {
    const std::uint64_t kind = random_.below(100);
    if (kind == 0) return {Edit{Edit::Kind::clear, 0, {}}};
    if (kind < 30) {
      std::vector<Edit> pushes(1 + random_.below(4));
      for (Edit& push : pushes) {
        for (std::uint64_t n = random_.below(batch_); n > 0; --n) push.values.push_back(value());
      }
      return pushes;
    }
    Edit edit;
    edit.index = random_index(random_, vector_.size());
    edit.kind = kind < 60   ? Edit::Kind::insert
                : kind < 80 ? Edit::Kind::update
                            : Edit::Kind::remove;
    if (edit.kind != Edit::Kind::remove) edit.values = {value()};
    return {edit};
  }

  void step() {
    const std::vector<Edit> edits = draw();
    const auto results = model_.apply(edits);
    ASSERT_EQ(results.size(), edits.size());
    for (std::size_t i = 0; i < edits.size(); ++i) {
      const Vector before = vector_;
      ASSERT_EQ(results[i].found, apply(vector_, edits[i]));
      ASSERT_EQ(results[i].length, vector_.size());
      if (edits[i].kind != Edit::Kind::remove || !results[i].found) continue;
      const auto size = static_cast<std::int64_t>(before.size());
      const auto at = edits[i].index < 0 ? edits[i].index + size : edits[i].index;
      ASSERT_EQ(model_.removed, before[static_cast<std::size_t>(at)]);
    }
    ASSERT_EQ(model_.head.length(), vector_.size());
    if (random_.below(20) == 0) {
      ASSERT_EQ(model_.read(), vector_);
    }
  }

  std::string value() { return std::to_string(++written_); }

  Random random_;
  std::uint64_t batch_;
  int written_ = 0;
  Model model_;
  Vector vector_;
};

TEST(ListEdit, RandomEditsDoWhatAVectorDoesForEverySeed) {
  for (std::uint64_t seed = 1; seed <= test::extent_of(test::share_of(150)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits(seed).run(150);
    if (HasFailure()) return;
  }
}

Edit push_of(std::size_t items) { return {.values = std::vector<std::string>(items, "x")}; }

TEST(ListEdit, ASegmentSplitsInHalvesAboveItsLimit) {
  Model model;
  model.apply({push_of(segment_limit)});
  ASSERT_EQ(model.head.segments.size(), 1u);
  model.apply({Edit{Edit::Kind::insert, 10, {"y"}}});
  ASSERT_EQ(model.head.segments.size(), 2u);
  EXPECT_EQ(model.head.segments[0].count, 128u);
  EXPECT_EQ(model.head.segments[1].count, 129u);
  EXPECT_EQ(model.read()[10], "y");
}

TEST(ListEdit, PushesFillTheLastSegmentAndThenBeginNewOnes) {
  Model model;
  for (const std::size_t size : {100u, 100u, 601u}) model.apply({push_of(size)});
  std::vector<unsigned> counts;
  for (const SegmentRef& ref : model.head.segments) counts.push_back(ref.count);
  EXPECT_EQ(counts, (std::vector<unsigned>{256, 256, 256, 33}));
}

TEST(ListEdit, PushesNeitherReadNorReplaceALastSegmentThatIsFull) {
  Model model;
  const Edit push = push_of(segment_limit);
  model.apply({push});
  ASSERT_EQ(model.head.segments.size(), 1u);
  const Id full = model.head.segments[0].id;
  const Edit* const more[] = {&push};
  EXPECT_FALSE(needed_segment(model.head, more, model.options).has_value());
  model.apply({push});
  ASSERT_EQ(model.head.segments.size(), 2u);
  EXPECT_EQ(model.head.segments[0].id, full);
}

TEST(ListEdit, SinglePushesStandInTheTailAndGoIntoASegmentTogether) {
  Model model;
  for (int i = 0; i < 32; ++i) {
    model.apply({Edit{Edit::Kind::push, 0, {"x"}}});
    ASSERT_TRUE(model.segments.empty());
  }
  model.apply({Edit{Edit::Kind::push, 0, {"x"}}});
  EXPECT_TRUE(model.head.tail.empty());
  ASSERT_EQ(model.head.segments.size(), 1u);
  EXPECT_EQ(model.head.segments[0].count, 33u);
}

TEST(ListEdit, InsertsAtTheEndMakeTheTailASegmentAtLast) {
  Model model;
  Vector vector;
  for (int i = 0; i < 200; ++i) {
    const Edit edit{Edit::Kind::insert, i / 2, {std::to_string(i)}};
    model.apply({edit});
    apply(vector, edit);
  }
  EXPECT_EQ(model.read(), vector);
  EXPECT_FALSE(model.head.segments.empty());
}

TEST(ListEdit, TheFirstEditDecidesWhetherTheListIsKept) {
  for (const bool first : {false, true}) {
    Model model;
    model.apply({{.values = {"a"}, .persist = first}, {.values = {"b"}, .persist = !first}});
    EXPECT_EQ(model.head.persist, first);
    model.apply({{.values = {"c"}, .persist = !first}});
    model.apply({{.kind = Edit::Kind::clear, .persist = !first}});
    model.apply({{.values = {"d"}, .persist = !first}});
    EXPECT_EQ(model.head.persist, first);
  }
}

TEST(ListEdit, AnEmptySegmentLeavesTheTable) {
  Model model({.tail = 0});
  model.apply({Edit{Edit::Kind::push, 0, {"only"}}});
  model.apply({Edit{Edit::Kind::remove, -1, {}}});
  EXPECT_TRUE(model.head.segments.empty() && model.head.tail.empty());
  EXPECT_EQ(model.removed, "only");
}

TEST(ListEdit, AClearedListKeepsItsTreesInTheGarbageUntilSomebodySawThemGone) {
  Model model;
  model.apply({push_of(600)});
  model.apply({Edit{Edit::Kind::clear, 0, {}}});
  EXPECT_EQ(model.head.length(), 0u);
  EXPECT_EQ(model.head.garbage.size(), 3u);
  model.apply({Edit{Edit::Kind::push, 0, {"y"}}});
  EXPECT_EQ(model.head.garbage.size(), 3u);
  EXPECT_EQ(model.head.garbage[0].kind, Garbage::Kind::tree);
}

TEST(ListEdit, AClearNamesEverySegmentAndEveryItemOfTheTailAsGarbage) {
  Model model;
  model.apply({push_of(600)});
  for (int i = 0; i < 10; ++i) model.apply({Edit{Edit::Kind::push, 0, {"y"}}});
  std::vector<Garbage> all;
  for (const SegmentRef& segment : model.head.segments) {
    all.push_back({Garbage::Kind::tree, segment.id});
  }
  for (const Id id : model.head.tail) all.push_back({Garbage::Kind::item, id});
  ASSERT_EQ(all.size(), 3u + 10u);
  model.apply({Edit{Edit::Kind::clear, 0, {}}});
  EXPECT_EQ(model.head.garbage, all);
}

Edit drop(Id segment, std::vector<Id> items) {
  Edit edit;
  edit.kind = Edit::Kind::drop;
  edit.segment = segment;
  edit.items = std::move(items);
  return edit;
}

TEST(ListEdit, WhatIsMissingIsTakenOutByItsId) {
  Model model({.tail = 2, .segment = 4});
  for (const char* value : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    model.apply({Edit{Edit::Kind::push, 0, {value}}});
  }
  ASSERT_EQ(model.head.segments.size(), 2u);
  ASSERT_EQ(model.head.tail.size(), 2u);
  const Id first = model.head.segments[0].id;
  const Id item = model.segments.at(first)[1];
  model.items.erase(item);
  const EditResult one = model.apply({drop(first, {item, 999})})[0];
  EXPECT_TRUE(one.found);
  EXPECT_EQ(one.dropped, 1u);
  EXPECT_EQ(one.length, 7u);
  EXPECT_EQ(model.read(), (Vector{"a", "c", "d", "e", "f", "g", "h"}));
  EXPECT_FALSE(model.apply({drop(first, {item})})[0].found) << "the segment has another id now";
  const Id in_tail = model.head.tail[0];
  model.items.erase(in_tail);
  EXPECT_EQ(model.apply({drop(0, {in_tail})})[0].dropped, 1u);
  EXPECT_EQ(model.read(), (Vector{"a", "c", "d", "e", "f", "h"}));
  const Id whole = model.head.segments[0].id;
  for (const Id id : model.segments.at(whole)) model.items.erase(id);
  model.segments.erase(whole);
  EXPECT_EQ(model.apply({drop(whole, {})})[0].dropped, 3u);
  EXPECT_EQ(model.read(), (Vector{"e", "f", "h"}));
  EXPECT_FALSE(model.apply({drop(0, {12'345})})[0].found);
}

TEST(ListEdit, PushesGoBehindASegmentThatIsMissing) {
  Head head;
  head.next = 9;
  head.segments = {{7, 2}};
  head.tail = {8};
  const Edit push{Edit::Kind::push, 0, {"x", "y"}};
  const Edit* const edits[] = {&push};
  const PlanOptions options{.tail = 2, .segment = 4};
  ASSERT_TRUE(needed_segment(head, edits, options));
  const Plan plan = make_plan(head, {}, edits, options);
  ASSERT_EQ(plan.head.segments.size(), 2u);
  EXPECT_EQ(plan.head.segments[0], head.segments[0]);
  EXPECT_EQ(plan.head.segments[1].count, 3u);
  EXPECT_EQ(plan.results[0].length, 5u);
}

TEST(ListEdit, IndexesBeyondEverythingAreNotFound) {
  Model model;
  model.apply({Edit{Edit::Kind::push, 0, {"a", "b"}}});
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t index : {least, most, std::int64_t{3}, std::int64_t{-3}}) {
    EXPECT_FALSE(model.apply({Edit{Edit::Kind::insert, index, {"x"}}})[0].found);
    EXPECT_FALSE(model.apply({Edit{Edit::Kind::update, index, {"x"}}})[0].found);
    EXPECT_FALSE(model.apply({Edit{Edit::Kind::remove, index, {}}})[0].found);
  }
  EXPECT_FALSE(model.apply({Edit{Edit::Kind::remove, 2, {}}})[0].found);
  EXPECT_TRUE(model.apply({Edit{Edit::Kind::insert, 2, {"c"}}})[0].found);
  EXPECT_EQ(model.read(), (Vector{"a", "b", "c"}));
}

TEST(ListEdit, SlicesAreCutToTheList) {
  const auto slice = [](std::int64_t first, std::int64_t last, std::uint64_t length) {
    const Slice made = make_slice(first, last, length);
    return made.empty() ? std::pair<std::uint64_t, std::uint64_t>{0, 0}
                        : std::pair{made.begin, made.end};
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(slice(0, -1, 10), (Pair{0, 10}));
  EXPECT_EQ(slice(least, most, 10), (Pair{0, 10}));
  EXPECT_EQ(slice(-3, -2, 10), (Pair{7, 9}));
  EXPECT_EQ(slice(9, 9, 10), (Pair{9, 10}));
  EXPECT_EQ(slice(-20, -10, 10), (Pair{0, 1}));
  EXPECT_EQ(slice(-20, -11, 10), (Pair{0, 0}));
  EXPECT_EQ(slice(10, 20, 10), (Pair{0, 0}));
  EXPECT_EQ(slice(5, 4, 10), (Pair{0, 0}));
  EXPECT_EQ(slice(0, 0, 0), (Pair{0, 0}));
  EXPECT_EQ(slice(-1, -1, 0), (Pair{0, 0}));
}

}  // namespace
}  // namespace sheaf::client::list
