// Limits of one account: keys, bytes, watches; and the gate that the host has chosen.

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

const std::string ok = "+OK\r\n";

std::string over(const std::string& what) {
  return "-ERR the quota has been exceeded: at most " + what + "\r\n";
}

// Requests of accounts with the same quota.
class Owned {
 public:
  explicit Owned(Quota given = {}, EngineOptions options = {}) : store(options), quota(given) {}

  std::string operator()(Account account, const std::vector<std::string>& items,
                         Gate gate = Gate::open) {
    Ask ask;
    ask.payload = payload_of(items);
    ask.client = account;
    ask.client_id = "client-id" + std::to_string(account);
    ask.account = account;
    ask.quota = quota;
    ask.gate = gate;
    return store.send(ask).payload;
  }

  Store store;
  Quota quota;
};

TEST(EngineAccounts, AnAccountHasAsManyKeysAsItsQuotaAndOthersHaveTheirs) {
  Owned send({.keys = 2});
  EXPECT_EQ(send(1, {"SET", "a", "1"}), ok);
  EXPECT_EQ(send(1, {"SET", "b", "1"}), ok);
  EXPECT_EQ(send(1, {"SET", "c", "1"}), over("2 keys"));
  EXPECT_EQ(send(1, {"SET", "b", "22"}), ok) << "its own key again";
  EXPECT_EQ(send(2, {"SET", "c", "1"}), ok);
  EXPECT_EQ(send(1, {"DEL", "a"}), ":1\r\n");
  EXPECT_EQ(send(1, {"SET", "d", "1"}), ok);
  EXPECT_EQ(send.store.engine.usage(1), (Usage{.keys = 2, .bytes = 5, .watches = 0}));
  EXPECT_EQ(send.store.engine.counters().over_quota, 1u);
}

TEST(EngineAccounts, AnAccountHasAsManyBytesOfKeysAndValuesAsItsQuota) {
  Owned send({.bytes = 10});
  EXPECT_EQ(send(1, {"SET", "key", "1234567"}), ok);
  EXPECT_EQ(send(1, {"SET", "k", ""}), over("10 bytes of keys and values"));
  EXPECT_EQ(send(1, {"SET", "key", "12345678"}), over("10 bytes of keys and values"));
  EXPECT_EQ(send(1, {"SET", "key", "1234"}), ok);
  EXPECT_EQ(send(1, {"SET", "k", "12"}), ok);
  EXPECT_EQ(send(1, {"GET", "key"}), "$4\r\n1234\r\n") << "reads go on";
}

// A renewed lock must not be lost because limits were lowered meanwhile.
TEST(EngineAccounts, AnAccountAboveItsQuotaMayStillWriteWhatMakesItNoLarger) {
  Owned send;
  EXPECT_EQ(send(1, {"SET", "a", "1234", "NEX", "PX", "1000"}), ok);
  EXPECT_EQ(send(1, {"SET", "b", "1234"}), ok);
  send.quota = {.keys = 1, .bytes = 5};
  EXPECT_EQ(send(1, {"SET", "a", "1234", "NEX", "PX", "2000"}), ok);
  EXPECT_EQ(send(1, {"SET", "b", "123"}), ok);
  EXPECT_EQ(send(1, {"SET", "b", "1234"}), over("5 bytes of keys and values"));
  EXPECT_EQ(send(1, {"SET", "c", ""}), over("1 keys"));
  EXPECT_EQ(send(2, {"SET", "a", "123456"}), over("5 bytes of keys and values"));
}

TEST(EngineAccounts, AKeyCountsForWhoeverWroteItLast) {
  Owned send({.keys = 1});
  EXPECT_EQ(send(1, {"SET", "a", "1"}), ok);
  EXPECT_EQ(send(2, {"SET", "a", "22"}), ok);
  EXPECT_EQ(send.store.engine.usage(1), Usage{});
  EXPECT_EQ(send.store.engine.usage(2), (Usage{.keys = 1, .bytes = 3, .watches = 0}));
  EXPECT_EQ(send(1, {"SET", "b", "1"}), ok);
  EXPECT_EQ(send(2, {"SET", "b", "1"}), over("1 keys")) << "another's key would be one more";
  EXPECT_EQ(send(1, {"SET", "a", "1", "NX"}), ":-1\r\n");
  EXPECT_EQ(send.store.engine.usage(2).keys, 1u) << "what is not stored changes no account";
}

TEST(EngineAccounts, WhatHasExpiredDoesNotCount) {
  Owned send({.keys = 1});
  EXPECT_EQ(send(1, {"SET", "a", "1", "PX", "1000"}), ok);
  EXPECT_EQ(send(1, {"SET", "b", "1"}), over("1 keys"));
  send.store.pass(1000ms);
  EXPECT_EQ(send(1, {"SET", "b", "1"}), ok);
  EXPECT_EQ(send.store.engine.usage(1).keys, 1u);
}

TEST(EngineAccounts, TheQuotaOfTheStoreHoldsForAllAndHasItsOwnText) {
  EngineOptions options;
  options.max_keys = 1;
  Owned send({.keys = 5}, options);
  EXPECT_EQ(send(1, {"SET", "a", "1"}), ok);
  EXPECT_EQ(send(2, {"SET", "b", "1"}), "-ERR the quota has been exceeded\r\n");
}

TEST(EngineAccounts, AnAccountHasAsManyWatchesAsItsQuota) {
  Owned send({.watches = 2});
  EXPECT_EQ(send(1, {"KEYNOTIFY", "a"}), ok);
  EXPECT_EQ(send(1, {"KEYNOTIFY", "b"}), ok);
  EXPECT_EQ(send(1, {"KEYNOTIFY", "c"}), over("2 watches"));
  EXPECT_EQ(send(1, {"KEYNOTIFY", "a"}), ok) << "twice is once";
  EXPECT_EQ(send(2, {"KEYNOTIFY", "c"}), ok);
  EXPECT_EQ(send(1, {"KEYNOTIFY", "a", "STOP"}), ok);
  EXPECT_EQ(send(1, {"KEYNOTIFY", "c"}), ok);
  EXPECT_EQ(send.store.engine.watched_by(1).size(), 2u);
  send.store.engine.disconnect(1);
  EXPECT_EQ(send.store.engine.usage(1), Usage{});
  EXPECT_EQ(send.store.engine.usage(2).watches, 1u);
  EXPECT_TRUE(send.store.engine.watched_by(1).empty());
}

TEST(EngineAccounts, TheWatchesOfAClientFollowItToAnotherAccount) {
  Store store;
  for (const Account account : {Account{1}, Account{2}}) {
    Ask ask;
    ask.payload = payload_of({"KEYNOTIFY", "key" + std::to_string(account)});
    ask.account = account;
    EXPECT_EQ(store.send(ask).payload, ok);
  }
  EXPECT_EQ(store.engine.usage(1).watches, 0u);
  EXPECT_EQ(store.engine.usage(2).watches, 2u);
}

TEST(EngineAccounts, WhatTheHostRefusesIsNotExecutedNorRemembered) {
  Owned send({.requests = 7});
  EXPECT_EQ(send(1, {"SET", "a", "1"}, Gate::not_authorized), "-ERR not authorized\r\n");
  EXPECT_EQ(send(1, {"SET", "a", "1"}, Gate::too_fast), over("7 requests a second"));
  EXPECT_EQ(send(1, {"KEYNOTIFY", "a"}, Gate::not_authorized), "-ERR not authorized\r\n");
  EXPECT_EQ(send(1, {"GET", "a"}), "$-1\r\n");
  EXPECT_EQ(send.store.engine.watches(), 0u);
  EXPECT_EQ(send.store.engine.remembered_answers(), 0u);
  EXPECT_EQ(send.store.engine.counters().unauthorized, 2u);
}

TEST(EngineAccounts, AnUnreadableRequestIsASyntaxErrorWhateverTheHostHasDecided) {
  Owned send;
  EXPECT_EQ(send(1, {"SET"}, Gate::not_authorized), "-ERR wrong number of arguments\r\n");
}

// A client that writes as long as it gets answers uses its quota, and no more memory than that.
TEST(EngineAccounts, AMillionKeysOfOneClientAreRefusedWhenItsQuotaIsFull) {
  EngineOptions options;
  options.max_duplicates = 1000;
  Owned send({.keys = 1000, .watches = 10}, options);
  unsigned stored = 0;
  unsigned watched = 0;
  for (unsigned i = 0; i < 1'000'000; ++i) {
    const std::string key = "key" + std::to_string(i);
    const std::string answer = send(1, {"SET", key, "value"});
    if (answer == ok) ++stored;
    if (i % 100 == 0 && send(1, {"KEYNOTIFY", key}) == ok) ++watched;
    ASSERT_TRUE(answer == ok || answer == over("1000 keys")) << answer;
    if (i % 1000 == 0) send.store.pass(1ms);
  }
  EXPECT_EQ(stored, 1000u);
  EXPECT_EQ(watched, 10u);
  EXPECT_EQ(send.store.engine.keys(), 1000u);
  EXPECT_LE(send.store.engine.remembered_answers(), 1000u);
  EXPECT_EQ(send(2, {"SET", "key", "value"}), ok) << "others are served";
}

// Random accounts write, remove and let keys expire. The sums must match a naive count.
TEST(EngineAccounts, UsageIsWhatACountOfTheKeysSays) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Owned send({.keys = 5, .bytes = 60});
    std::map<std::string, std::pair<Account, std::string>> model;
    for (int i = 0; i < 500; ++i) {
      const auto account = static_cast<Account>(1 + random.below(3));
      const std::string key = "key" + std::to_string(random.below(12));
      const std::string value(random.below(12), 'v');
      if (random.below(3) == 0) {
        send(account, {"DEL", key});
        model.erase(key);
      } else if (send(account, {"SET", key, value}) == ok) {
        model[key] = {account, value};
      }
      std::map<Account, Usage> sums;
      for (const auto& [name, held] : model) {
        ++sums[held.first].keys;
        sums[held.first].bytes += name.size() + held.second.size();
      }
      for (Account each = 1; each <= 3; ++each) {
        ASSERT_EQ(send.store.engine.usage(each), sums[each]) << i;
        ASSERT_LE(sums[each].keys, 5u);
        ASSERT_LE(sums[each].bytes, 60u);
      }
    }
  }
}

}  // namespace
}  // namespace sheaf::store
