// The contract of AsyncList: both forms, on every kind of endpoint.

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/async_list.h>
#include <sheaf/locker.h>

#include "client/list/format.h"
#include "tests/contract/forms.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using Items = AsyncList::Items;
using Holes = AsyncList::ItemsAndHoles;
using client::list::Ids;
using client::list::Keys;

class AsyncLists : public test::InEveryForm {
 protected:
  template <class Out, class Call>
  Out end(const Call& call) {
    return test::outcome_of<Out>(form, call);
  }
  PushManyResult push_many(const AsyncList& list, const Items& items) {
    const std::vector<std::string_view> views(items.begin(), items.end());
    return end<PushManyResult>(
        [&](auto... done) { return list.push_many(views, {}, std::move(done)...); });
  }
  Result<Items> all(const AsyncList& list) {
    return end<Result<Items>>(
        [&](auto... done) { return list.range(0, -1, {}, std::move(done)...); });
  }
};

INSTANTIATE_TEST_SUITE_P(On, AsyncLists, test::every_form(), test::name_of_form);

TEST_P(AsyncLists, EditsDoWhatTheySay) {
  const AsyncList list = List(*client, "edits").async();
  const auto length = [&] {
    return end<Result<std::uint64_t>>([&](auto... d) { return list.length({}, std::move(d)...); });
  };
  EXPECT_EQ(length().value(), 0u);
  EXPECT_EQ(end<Result<std::uint64_t>>([&](auto... d) {
              return list.push("b", {}, std::move(d)...);
            }).value(),
            1u);
  using Inserted = Result<std::optional<std::uint64_t>>;
  EXPECT_EQ(
      end<Inserted>([&](auto... d) { return list.insert(0, "a", {}, std::move(d)...); }).value(),
      2u);
  EXPECT_EQ(
      end<Inserted>([&](auto... d) { return list.insert(9, "x", {}, std::move(d)...); }).value(),
      std::nullopt);
  EXPECT_TRUE(end<Result<bool>>([&](auto... d) {
                return list.update(1, "c", {}, std::move(d)...);
              }).value());
  EXPECT_FALSE(end<Result<bool>>([&](auto... d) {
                 return list.update(2, "x", {}, std::move(d)...);
               }).value());
  EXPECT_EQ(all(list).value(), (Items{"a", "c"}));
  using Removed = Result<std::optional<std::string>>;
  EXPECT_EQ(end<Removed>([&](auto... d) { return list.remove(0, {}, std::move(d)...); }).value(),
            "a");
  EXPECT_EQ(end<Removed>([&](auto... d) { return list.remove(7, {}, std::move(d)...); }).value(),
            std::nullopt);
  EXPECT_EQ(length().value(), 1u);
  EXPECT_TRUE(end<Result<void>>([&](auto... d) { return list.clear({}, std::move(d)...); }));
  EXPECT_EQ(all(list).value(), Items());
}

TEST_P(AsyncLists, ManyItemsArePushedInPartsAndInOrder) {
  Items items;
  for (int i = 0; i < 5'000; ++i) items.push_back(std::to_string(i));
  // A broker with a sanitizer needs seconds for a part.
  const AsyncList list = List(*client, "many", {.timeout = 60s}).async();
  const PushManyResult pushed = push_many(list, items);
  ASSERT_FALSE(pushed.error) << pushed.error->message();
  EXPECT_EQ(pushed.pushed, 5'000u);
  EXPECT_EQ(pushed.length, 5'000u);
  EXPECT_EQ(all(list).value(), items);
  EXPECT_EQ(push_many(list, {}).pushed, 0u);
}

TEST_P(AsyncLists, HolesAreShownAndDropped) {
  List list(*client, "holes");
  ASSERT_EQ(push_many(list.async(), {"a", "b", "c"}).length, 3u);
  const Ids ids = client->supports(Feature::ordered_versions) ? Ids::counted : Ids::drawn;
  const Keys keys("holes", ids);
  const std::string head = client->get(keys.head()).value()->data;
  const auto second = client::list::parse_head(head, ids).value().tail[1];
  LockGuard writer = Locker(*client).lock(keys.lock()).guard();  // items may be fenced
  ASSERT_EQ(writer.remove(keys.item(second)).value(), RemoveResult::removed);
  ASSERT_TRUE(writer.release().value());
  EXPECT_EQ(all(list.async()).error().reason, Reason::incomplete);
  const auto shown = [&] {
    return end<Result<Holes>>(
        [&](auto... done) { return list.async().range_with_holes(0, -1, {}, std::move(done)...); });
  };
  EXPECT_EQ(shown().value(), (Holes{"a", std::nullopt, "c"}));
  const auto drop = [&] {
    return end<Result<std::uint64_t>>(
        [&](auto... done) { return list.async().drop_holes({}, std::move(done)...); });
  };
  EXPECT_EQ(drop().value(), 1u);
  EXPECT_EQ(drop().value(), 0u);
  EXPECT_EQ(all(list.async()).value(), (Items{"a", "c"}));
}

TEST_P(AsyncLists, WhatIsNotAllowedIsReportedNotDone) {
  EXPECT_EQ(all(List(*client, "").async()).error().reason, Reason::bad_argument);
  EXPECT_EQ(all(List(*client, "l", {.timeout = 0s}).async()).error().reason, Reason::bad_argument);
  const AsyncList list = List(*client, "l").async();
  const auto read = end<Result<Items>>(
      [&](auto... done) { return list.range(0, -1, {.timeout = 25h}, std::move(done)...); });
  EXPECT_EQ(read.error().reason, Reason::bad_argument);
  const std::string large(client->config().value_limit + 1, 'x');
  const PushManyResult many = push_many(list, {"a", large});
  EXPECT_EQ(many.pushed, 0u);
  ASSERT_TRUE(many.error);
  EXPECT_EQ(many.error->reason, Reason::too_large);
}

TEST_P(AsyncLists, AfterItsClientEveryCallEndsWithShutdown) {
  const AsyncList list = List(*client, "orphan").async();
  client.reset();
  EXPECT_EQ(all(list).error().outcome, Outcome::shutdown);
  const PushManyResult many = push_many(list, {"x"});
  ASSERT_TRUE(many.error);
  EXPECT_EQ(many.error->outcome, Outcome::shutdown);
  EXPECT_EQ(
      end<Result<std::uint64_t>>([&](auto... d) { return list.push("x", {}, std::move(d)...); })
          .error()
          .outcome,
      Outcome::shutdown);
  EXPECT_EQ(
      end<Result<std::uint64_t>>([&](auto... d) { return list.drop_holes({}, std::move(d)...); })
          .error()
          .outcome,
      Outcome::shutdown);
}

TEST_P(AsyncLists, AClientThatGoesEndsEachCallOnce) {
  const Items items(3'000, "item");
  const std::vector<std::string_view> views(items.begin(), items.end());
  for (int round = 0; round < 5; ++round) {
    Client own = test::open(endpoint->uri());
    const AsyncList list = List(own, "going").async();
    auto ended = std::make_shared<std::atomic<int>>(0);
    list.push("x", {}, [=](const Result<std::uint64_t>&) { ++*ended; });
    list.push_many(views, {}, [=](const PushManyResult&) { ++*ended; });
    list.drop_holes({}, [=](const Result<std::uint64_t>&) { ++*ended; });
    list.range(0, -1, {}, [=](const Result<Items>&) { ++*ended; });
    std::optional<Client>(std::move(own)).reset();
    EXPECT_EQ(*ended, 4);
  }
}

}  // namespace
}  // namespace sheaf
