// The contract of AsyncList: both forms, on every kind of endpoint.

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/async.h>
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
  template <class Out>
  Out end(Call<Out> call) {
    return test::outcome_of(form, std::move(call));
  }
  PushManyResult push_many(const AsyncList& list, const Items& items) {
    const std::vector<std::string_view> views(items.begin(), items.end());
    return end(list.push_many(views));
  }
  Result<Items> all(const AsyncList& list) { return end(list.range(0, -1)); }
};

INSTANTIATE_TEST_SUITE_P(On, AsyncLists, test::every_form(), test::name_of_form);

TEST_P(AsyncLists, EditsDoWhatTheySay) {
  const AsyncList list = List(*client, "edits").async();
  const auto length = [&] { return end(list.length()); };
  EXPECT_EQ(length().value(), 0u);
  EXPECT_EQ(end(list.push("b")).value(), 1u);
  EXPECT_EQ(end(list.insert(0, "a")).value(), 2u);
  EXPECT_EQ(end(list.insert(9, "x")).value(), std::nullopt);
  EXPECT_TRUE(end(list.update(1, "c")).value());
  EXPECT_FALSE(end(list.update(2, "x")).value());
  EXPECT_EQ(all(list).value(), (Items{"a", "c"}));
  EXPECT_EQ(end(list.remove(0)).value(), "a");
  EXPECT_EQ(end(list.remove(7)).value(), std::nullopt);
  EXPECT_EQ(length().value(), 1u);
  EXPECT_TRUE(end(list.clear()));
  EXPECT_EQ(all(list).value(), Items());
}

TEST_P(AsyncLists, ManyItemsArePushedInPartsAndInOrder) {
  Items items;
  for (int i = 0; i < 5'000; ++i) items.push_back(std::to_string(i));
  // A broker with a sanitizer needs seconds for one part.
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
  const auto shown = [&] { return end(list.async().range_with_holes(0, -1)); };
  EXPECT_EQ(shown().value(), (Holes{"a", std::nullopt, "c"}));
  const auto drop = [&] { return end(list.async().drop_holes()); };
  EXPECT_EQ(drop().value(), 1u);
  EXPECT_EQ(drop().value(), 0u);
  EXPECT_EQ(all(list.async()).value(), (Items{"a", "c"}));
}

TEST_P(AsyncLists, WhatIsNotAllowedIsReportedNotDone) {
  EXPECT_EQ(all(List(*client, "").async()).error().reason, Reason::bad_argument);
  EXPECT_EQ(all(List(*client, "l", {.timeout = 0s}).async()).error().reason, Reason::bad_argument);
  const AsyncList list = List(*client, "l").async();
  const auto read = end(list.range(0, -1, {.timeout = 25h}));
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
  EXPECT_EQ(end(list.push("x")).error().outcome, Outcome::shutdown);
  EXPECT_EQ(end(list.drop_holes()).error().outcome, Outcome::shutdown);
}

TEST_P(AsyncLists, AClientThatGoesEndsEachCallOnce) {
  const Items items(3'000, "item");
  const std::vector<std::string_view> views(items.begin(), items.end());
  for (int round = 0; round < 5; ++round) {
    Client own = test::open(endpoint->uri());
    const AsyncList list = List(own, "going").async();
    auto ended = std::make_shared<std::atomic<int>>(0);
    list.push("x").then([=](const Result<std::uint64_t>&) { ++*ended; });
    list.push_many(views).then([=](const PushManyResult&) { ++*ended; });
    list.drop_holes().then([=](const Result<std::uint64_t>&) { ++*ended; });
    list.range(0, -1).then([=](const Result<Items>&) { ++*ended; });
    std::optional<Client>(std::move(own)).reset();
    EXPECT_EQ(*ended, 4);
  }
}

}  // namespace
}  // namespace sheaf
