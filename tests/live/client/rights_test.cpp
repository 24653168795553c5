// Clients of a broker with a file of rights: how the library reports refusals, and a reload under
// load.

#ifdef SHEAF_TEST_BROKERS

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/client.h>
#include <sheaf/list.h>
#include <sheaf/locker.h>

#include "tests/contract/endpoints.h"
#include "tests/support/lent.h"
#include "tests/support/rights_file.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Client open_as(const test::BrokerProcess& broker, const std::string& user,
               const std::string& more = {}) {
  return test::open("mqtt://" + user + ":" + user + "@127.0.0.1:" + std::to_string(broker.port()) +
                    "?timeout=20s" + more);
}

template <class Failed>
void expect_refused(const Failed& result) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::refused) << result.error().message();
  EXPECT_EQ(result.error().reason, Reason::not_authorized) << result.error().message();
}

// ann has all rights, bob those that the test gives.
std::string document(const std::string& keys_of_bob) {
  return R"({"users": {"ann": {"keys": {"*": ["read", "write", "watch", "lock"]}},
                       "bob": {"keys": {)" +
         keys_of_bob + "}}}}";
}

class ClientRights : public testing::Test {
 protected:
  explicit ClientRights(const std::string& keys_of_bob = R"("other": ["read"])")
      : file(document(keys_of_bob)) {}

  const test::RightsFile file;
  test::Lent<test::BrokerProcess> broker{test::with_rights(file)};
  Client ann = open_as(*broker, "ann");
  Client bob = open_as(*broker, "bob");
};

TEST_F(ClientRights, ReadsWritesAndRemovesAreRefusedAndNothingHappens) {
  ASSERT_TRUE(ann.set("key", "value"));
  expect_refused(bob.get("key"));
  expect_refused(bob.set("key", "other"));
  expect_refused(bob.set("key", "other", {.condition = SetCondition::if_absent}));
  expect_refused(bob.remove("key"));
  expect_refused(bob.remove("key", {.if_value = "value"}));
  EXPECT_TRUE(bob.get("other"));
  EXPECT_EQ(ann.get("key")->value().data, "value");
}

TEST_F(ClientRights, OfABatchOnlyWhatIsForbiddenIsRefused) {
  const std::vector<std::string_view> keys{"key", "other"};
  const auto got = bob.get_many(keys);
  ASSERT_EQ(got.size(), 2u);
  expect_refused(got[0].result);
  EXPECT_TRUE(got[1].result);
  const std::vector<SetItem> items{{"key", "1"}};
  expect_refused(bob.set_many(items).at(0).result);
}

TEST_F(ClientRights, FuturesHaveTheSameError) {
  expect_refused(bob.async().get("key").future().get());
}

TEST_F(ClientRights, LocksAreRefusedAtOnceAlsoWhereTheCallerWouldWait) {
  Locker locker(bob);
  for (const LockResult& result : {locker.try_lock("key"), locker.lock("key", {.wait = 10min})}) {
    ASSERT_TRUE(result.failed());
    EXPECT_EQ(result.error().outcome, Outcome::refused) << result.error().message();
    EXPECT_EQ(result.error().reason, Reason::not_authorized);
  }
}

TEST_F(ClientRights, ListsAreRefused) {
  List list(bob, "jobs");
  ASSERT_TRUE(List(ann, "jobs").push("item"));
  expect_refused(list.push("other"));
  expect_refused(list.range(0, -1));
  expect_refused(list.length());
  expect_refused(list.clear());
  EXPECT_EQ(List(ann, "jobs").length().value(), 1u);
}

TEST_F(ClientRights, AWatchFailsWithTheError) {
  const std::vector<std::string_view> keys{"key"};
  auto watch = bob.watch(keys);
  ASSERT_TRUE(watch);
  const auto event = watch->next({.wait = 20s});
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->kind, WatchEvent::Kind::failed);
  ASSERT_TRUE((*event)->error);
  EXPECT_EQ((*event)->error->outcome, Outcome::refused);
  EXPECT_EQ((*event)->error->reason, Reason::not_authorized);
}

TEST_F(ClientRights, AComputationIsRefused) {
  bool computed = false;
  expect_refused(bob.get_or_compute("key", {}, [&] {
    computed = true;
    return std::string("value");
  }));
  EXPECT_FALSE(computed);
}

class LockRights : public ClientRights {
 protected:
  LockRights() : ClientRights(R"("press": ["lock"], "press/*": ["read", "write"])") {}
};

TEST_F(LockRights, LockIsEnoughToTakeAWaitingLockAndToGuardKeys) {
  auto held = Locker(ann).lock("press");
  ASSERT_TRUE(held);
  std::thread holder([&] {
    // Releases it once bob has been refused at least once.
    test::wait_for_condition("bob waits", [&] { return bob.stats()[0].requests > 0; });
    held->release().value();
  });
  auto waited = Locker(bob).lock("press", {.wait = 60s});
  holder.join();
  ASSERT_TRUE(waited.held()) << waited.error().message();
  EXPECT_TRUE(waited->write("press/position", "7", {.other_node = true}));
  EXPECT_EQ(waited->read("press/position", {.other_node = true})->value().data, "7");
  expect_refused(waited->write("other", "7", {.other_node = true}));
  EXPECT_TRUE(waited->release().value());
  expect_refused(bob.set("press", "x"));
}

class ListRights : public ClientRights {
 protected:
  ListRights() : ClientRights(R"("sheaf/list/{jobs}/*": ["read", "write"])") {}
};

TEST_F(ListRights, ReadAndWriteOnItsKeysIsEnoughForAList) {
  List mine(bob, "jobs");
  List other(ann, "jobs");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(mine.push("bob"));
    ASSERT_TRUE(other.push("ann"));
  }
  EXPECT_EQ(mine.length().value(), 40u);
  ASSERT_TRUE(mine.clear());
  expect_refused(List(bob, "tasks").push("item"));
}

TEST_F(ClientRights, ANodeThatWasDownComesBackForAUserThatMayLittle) {
  ASSERT_TRUE(bob.get("other"));
  broker.to_break().kill();
  EXPECT_FALSE(bob.get("other", {.timeout = 2s}));
  broker.to_break().restart();
  test::wait_for_condition("the node is back", [&] { return bob.get("other").has_value(); });
  EXPECT_THAT(broker->log(), testing::Not(HasSubstr("sheaf/probe")));
}

TEST_F(ClientRights, AWatchThatIsForbiddenByAReloadFailsAndOthersGoOn) {
  const std::vector<std::string_view> keys{"key"};
  file.write(document(R"("key": ["read", "watch"])"));
  test::reload(*broker);
  auto watch = bob.watch(keys);
  auto other = ann.watch(keys);
  ASSERT_TRUE(watch && other);
  EXPECT_EQ(watch->next({.wait = 20s})->value().kind, WatchEvent::Kind::current);
  EXPECT_EQ(other->next({.wait = 20s})->value().kind, WatchEvent::Kind::current);
  file.write(document(R"("key": ["read"])"));
  test::reload(*broker);
  std::optional<Error> error;
  while (!error) {
    const auto event = watch->next({.wait = 20s});
    ASSERT_TRUE(event && *event);
    if ((*event)->kind == WatchEvent::Kind::failed) error = (*event)->error;
    if (error && error->reason != Reason::not_authorized) error.reset();  // the lost connection
  }
  EXPECT_EQ(error->outcome, Outcome::refused);
  ASSERT_TRUE(ann.set("key", "1"));
  EXPECT_EQ(other->next({.wait = 20s})->value().kind, WatchEvent::Kind::set);
}

TEST_F(ClientRights, LimitsAreReasonQuotaWithTheirText) {
  file.write(R"({"users": {"bob": {"keys": {"*": ["write", "watch"]},
                                   "limits": {"keys": 1, "watches": 0}}}})");
  test::reload(*broker);
  ASSERT_TRUE(bob.set("a", "1"));
  const auto second = bob.set("b", "1");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().outcome, Outcome::refused);
  EXPECT_EQ(second.error().reason, Reason::quota);
  EXPECT_THAT(second.error().message(), HasSubstr("at most 1 keys"));
}

// Four threads of two users call without a pause while the file changes 40 times. Calls that both
// files allow never fail; calls that neither allows never succeed; calls that only one allows are
// refused or done.
TEST_F(ClientRights, ReloadsUnderLoadFailNoCallThatIsAllowed) {
  const std::string first = document(R"("both": ["read", "write"], "first": ["write"])");
  const std::string second = document(R"("both": ["read", "write"], "second": ["write"])");
  file.write(first);
  test::reload(*broker);
  std::atomic<bool> over = false;
  std::atomic<unsigned> failed = 0;
  std::atomic<unsigned> leaked = 0;
  std::atomic<unsigned> calls = 0;
  std::atomic<unsigned> odd = 0;
  const auto load = [&](Client& client, bool limited, int number) {
    const std::string value = std::to_string(number);
    while (!over) {
      ++calls;
      if (!client.set("both", value) || !client.get("both")) ++failed;
      if (!limited) continue;
      if (client.get("never") || client.remove("both2")) ++leaked;
      const auto changing = client.set(number % 2 == 0 ? "first" : "second", value);
      if (!changing && changing.error().reason != Reason::not_authorized) ++odd;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { load(i < 2 ? bob : ann, i < 2, i); });
  }
  for (int i = 0; i < 40; ++i) {
    file.write(i % 2 == 0 ? second : first);
    const unsigned before = calls;
    test::reload(*broker);
    test::wait_for_condition("calls go on", [&] { return calls > before + 20; });
  }
  over = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, 0u) << "of " << calls;
  EXPECT_EQ(leaked, 0u);
  EXPECT_EQ(odd, 0u);
  EXPECT_EQ(bob.stats()[0].connects, 1u) << "no connection was interrupted";
  EXPECT_EQ(ann.stats()[0].connects, 1u);
}

}  // namespace
}  // namespace sheaf

#endif
