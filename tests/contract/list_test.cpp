// Lists through the public interface, on every kind of endpoint.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <map>
#include <set>
#include <thread>

#include <sheaf/async.h>

#include "client/list/format.h"
#include "client/list/list_registry.h"
#include "tests/contract/endpoints.h"
#include "tests/support/sanitized.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

using Items = std::vector<std::string>;

using test::share_of;
using test::slowness;

class Lists : public test::OnEndpoint {
 protected:
  client::list::Keys keys(const std::string& name) const {
    return client::list::keys_of(name, client->config().kind);
  }
  std::size_t longest_name() const {
    return client->config().kind == EndpointKind::memcached ? 216 : 4'096;
  }
};

INSTANTIATE_TEST_SUITE_P(On, Lists, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

std::uint64_t bytes_moved(const Client& client) {
  std::uint64_t bytes = 0;
  for (const NodeStats& node : client.stats()) bytes += node.bytes_sent + node.bytes_received;
  return bytes;
}

std::uint64_t requests(const Client& client) {
  std::uint64_t count = 0;
  for (const NodeStats& node : client.stats()) count += node.requests;
  return count;
}

Items numbered(const std::string& prefix, int count) {
  Items items;
  for (int i = 0; i < count; ++i) items.push_back(prefix + std::to_string(i));
  return items;
}

PushManyResult push_all(List& list, const Items& items) {
  return list.push_many(std::vector<std::string_view>(items.begin(), items.end()));
}

TEST_P(Lists, AListThatNobodyWroteIsEmpty) {
  List list(*client, "new");
  EXPECT_EQ(list.length().value(), 0u);
  EXPECT_EQ(list.range(0, -1).value(), Items());
  EXPECT_EQ(list.remove(0).value(), std::nullopt);
  EXPECT_FALSE(list.update(0, "x").value());
  EXPECT_EQ(list.pages().next().value(), Items());
}

TEST_P(Lists, EditsDoWhatTheySay) {
  List list(*client, "edits");
  EXPECT_EQ(list.push("b").value(), 1u);
  EXPECT_EQ(list.push("d").value(), 2u);
  EXPECT_EQ(list.insert(0, "a").value(), 3u);
  EXPECT_EQ(list.insert(-1, "c").value(), 4u);
  EXPECT_EQ(list.insert(4, "").value(), 5u);
  EXPECT_EQ(list.range(0, -1).value(), (Items{"a", "b", "c", "d", ""}));
  EXPECT_TRUE(list.update(-1, "e").value());
  EXPECT_EQ(list.remove(1).value(), "b");
  EXPECT_EQ(list.range(0, -1).value(), (Items{"a", "c", "d", "e"}));
  EXPECT_EQ(list.insert(5, "x").value(), std::nullopt);
  EXPECT_EQ(list.insert(-5, "x").value(), std::nullopt);
  EXPECT_FALSE(list.update(4, "x").value());
  EXPECT_EQ(list.remove(-5).value(), std::nullopt);
  EXPECT_EQ(list.length().value(), 4u);
  EXPECT_EQ(list.range(1, 2).value(), (Items{"c", "d"}));
  ASSERT_TRUE(list.clear());
  EXPECT_EQ(list.length().value(), 0u);
  EXPECT_EQ(list.push("again").value(), 1u);
  EXPECT_EQ(list.range(-100, 100).value(), Items{"again"});
}

// An edit that finds nothing to do commits nothing, so only a read shows the present list.
TEST_P(Lists, AnEditThatFindsNothingHasSeenWhatAnotherClientDidBefore) {
  Client other = test::open(endpoint->uri());
  List here(*client, "watched");
  List there(other, "watched");
  const auto empty_here_filled_there = [&](const std::string& item) {
    EXPECT_TRUE(here.push("mine"));
    EXPECT_EQ(here.remove(0).value(), "mine");
    EXPECT_TRUE(there.push(item));
  };
  empty_here_filled_there("a");
  EXPECT_EQ(here.remove(0).value(), "a");
  empty_here_filled_there("b");
  EXPECT_TRUE(here.update(0, "B").value());
  EXPECT_EQ(there.remove(0).value(), "B");
  empty_here_filled_there("c");
  EXPECT_EQ(here.insert(1, "d").value(), 2u);
  EXPECT_TRUE(there.clear());
  empty_here_filled_there("e");
  EXPECT_TRUE(here.clear());
  EXPECT_EQ(there.length().value(), 0u);
  EXPECT_EQ(here.remove(0).value(), std::nullopt);
}

TEST_P(Lists, AnyNameAndAnyItemWork) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte.push_back(static_cast<char>(i));
  const std::string special = longest_name() < 256 ? every_byte.substr(0, 64) : every_byte;
  for (const std::string& name : {std::string("{}"), std::string("}"), std::string("a{b}c"),
                                  std::string("\r\n"), special, std::string(longest_name(), 'n')}) {
    List list(*client, name);
    ASSERT_EQ(list.push(every_byte).value(), 1u);
    ASSERT_EQ(list.push(std::string(100'000, 'x')).value(), 2u);
    ASSERT_EQ(list.range(0, -1).value(), (Items{every_byte, std::string(100'000, 'x')}));
  }
}

TEST_P(Lists, WrongArgumentsAreReportedBeforeAnythingIsSent) {
  for (const std::string& name : {std::string(), std::string(longest_name() + 1, 'n')}) {
    const auto pushed = List(*client, name).push("x");
    ASSERT_FALSE(pushed);
    EXPECT_EQ(pushed.error().reason, Reason::bad_argument);
  }
  const auto pushed = List(*client, "l", {.timeout = 0s}).push("x");
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().outcome, Outcome::invalid);
  const std::string large(client->config().value_limit + 1, 'x');
  EXPECT_EQ(List(*client, "l").push(large).error().reason, Reason::too_large);
  const std::string_view values[] = {"a", large};
  const PushManyResult many = List(*client, "l").push_many(values);
  EXPECT_EQ(many.pushed, 0u);
  ASSERT_TRUE(many.error);
  EXPECT_EQ(many.error->reason, Reason::too_large);
}

TEST_P(Lists, AForeignHeadIsOneSentenceAndStaysAsItIs) {
  const std::string head = keys("foreign").head();
  client->set(head, "zebra").value();
  List list(*client, "foreign");
  EXPECT_NE(list.push("x").error().text.find("the key holds no sheaf list (format 122)"),
            std::string::npos);
  EXPECT_NE(list.range(0, -1).error().text.find("the key holds no sheaf list"), std::string::npos);
  EXPECT_EQ(list.length().error().outcome, Outcome::refused);
  EXPECT_EQ(client->get(head).value()->data, "zebra");
}

TEST_P(Lists, RangeReadsTheHeadTheSegmentsThatOverlapAndTheItemsAskedForAndNothingElse) {
  List list(*client, "counted");
  ASSERT_EQ(push_all(list, numbered("i", 1'000)).length, 1'000u);  // 256 + 256 + 256 + 232
  const auto counted = [&](std::int64_t first, std::int64_t last, std::size_t items) {
    const std::uint64_t before = requests(*client);
    EXPECT_EQ(list.range(first, last).value().size(), items);
    return requests(*client) - before;
  };
  const auto quiet_since = [&] {  // the range does not include what the push left to sweep
    std::uint64_t before = requests(*client);
    for (int same = 0; same < 20; ++same) {
      client->get("x").value();
      const std::uint64_t now = requests(*client);
      if (now != before + 1) same = 0;
      before = now;
    }
  };
  quiet_since();
  EXPECT_EQ(counted(0, 0, 1), 1u + 1 + 1);
  EXPECT_EQ(counted(250, 259, 10), 1u + 2 + 10);
  EXPECT_EQ(counted(300, 310, 11), 1u + 1 + 11);
  EXPECT_EQ(counted(-2, -1, 2), 1u + 1 + 2);
  EXPECT_EQ(counted(0, -1, 1'000), 1u + 4 + 1'000);
  EXPECT_EQ(counted(1'000, 2'000, 0), 1u);
}

TEST_P(Lists, PagesWalkThroughTheWholeList) {
  List list(*client, "pages");
  const Items items = numbered("p", 700);
  ASSERT_EQ(push_all(list, items).pushed, 700u);
  ListPages pages = list.pages(300);
  Items all;
  std::vector<std::size_t> sizes;
  for (;;) {
    const Items page = pages.next().value();
    if (page.empty()) break;
    sizes.push_back(page.size());
    all.insert(all.end(), page.begin(), page.end());
  }
  EXPECT_EQ(all, items);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{300, 300, 100}));
}

TEST_P(Lists, ConcurrentPushesOfOneClientBecomeFewCommits) {
  constexpr int pushes = 2'000;
  List list(*client, "combined");
  std::latch ended(pushes);
  std::mutex mutex;
  std::vector<std::uint64_t> lengths;
  for (int i = 0; i < pushes; ++i) {
    list.async().push(std::to_string(i)).then([&](Result<std::uint64_t> length) {
      {
        const std::scoped_lock lock(mutex);
        if (length) lengths.push_back(*length);
      }
      ended.count_down();  // the last use of objects on the test's stack
    });
  }
  ended.wait();
  ASSERT_EQ(lengths.size(), static_cast<std::size_t>(pushes));
  for (std::size_t i = 0; i < lengths.size(); ++i) ASSERT_EQ(lengths[i], i + 1);
  const Items all = list.range(0, -1).value();
  for (int i = 0; i < pushes; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], std::to_string(i));
  const auto head = client->get(keys("combined").head()).value();
  EXPECT_LT(client::list::parse_head(head->data, keys("combined").ids())->revision,
            std::min<std::uint64_t>(pushes, 200 * slowness));
}

// Items say who wrote them and when.
void expect_every_item_once_in_order(const Items& items, int writers, int each) {
  std::map<std::string, int> next;
  for (std::size_t place = 0; place < items.size(); ++place) {
    const std::string& item = items[place];
    const std::size_t slash = item.find('/');
    const int number = std::stoi(item.substr(slash + 1));
    int& wanted = next[item.substr(0, slash)];
    EXPECT_EQ(number, wanted) << item << " at " << place << " of " << items.size();
    wanted = number + 1;
  }
  EXPECT_EQ(items.size(), static_cast<std::size_t>(writers * each));
  EXPECT_EQ(next.size(), static_cast<std::size_t>(writers));
}

// The time that `clients` clients take which each do `work`, in a thread of its own.
std::chrono::duration<double> time_of(int clients, const std::string& uri,
                                      const std::function<void(Client&, int)>& work) {
  const auto started = std::chrono::steady_clock::now();
  std::vector<std::jthread> threads;
  for (int number = 0; number < clients; ++number) {
    threads.emplace_back([&, number] {
      Client own = test::open(uri);
      work(own, number);
    });
  }
  threads.clear();
  return std::chrono::steady_clock::now() - started;
}

// On a machine with much other work, the time is measured by that of plain sets before and after.
TEST_P(Lists, EightClientsPushAThousandItemsEachInBoundedTimeAndThirtyMegabytes) {
  constexpr int writers = 8;
  constexpr int each = share_of(1'000);
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> asked = 0;
  const auto time_of_sets = [&] {
    return time_of(writers, endpoint->uri(), [](Client& own, int w) {
      const std::string key = "plain/" + std::to_string(w);
      for (int i = 0; i < each; ++i) ASSERT_TRUE(own.set(key, "value", {.timeout = 60s}));
    });
  };
  const auto sets_before = time_of_sets();
  const auto took = time_of(writers, endpoint->uri(), [&](Client& own, int w) {
    List list(own, "shared", {.timeout = 60s});
    for (int i = 0; i < each; ++i) {
      const auto pushed = list.push(std::to_string(w) + "/" + std::to_string(i));
      ASSERT_TRUE(pushed) << pushed.error().message();
    }
    bytes += bytes_moved(own);
    asked += requests(own);
  });
  const auto sets = std::max(sets_before, time_of_sets());
  expect_every_item_once_in_order(List(*client, "shared", {.timeout = 60s}).range(0, -1).value(),
                                  writers, each);
  RecordProperty("milliseconds", static_cast<int>(took.count() * 1'000));
  RecordProperty("kilobytes", static_cast<int>(bytes / 1'000));
  std::printf("%d pushes: %.2f s, %.1f MB, %.2f requests each; as many sets: %.2f s\n",
              writers * each, took.count(), static_cast<double>(bytes) / 1e6,
              static_cast<double>(asked) / (writers * each), sets.count());
  const std::chrono::duration<double> limit = GetParam().limits.pushes * slowness;
  EXPECT_LE(took, std::max(limit, 20 * sets)) << sets.count() << " s for as many sets";
  EXPECT_LE(bytes, 30'000'000u);
}

TEST_P(Lists, ThreadsOfOneClientPushTogether) {
  constexpr int writers = 4;
  constexpr int each = share_of(500);
  std::vector<std::jthread> threads;
  for (int w = 0; w < writers; ++w) {
    threads.emplace_back([&, w] {
      List list(*client, "threads", {.timeout = 60s});
      for (int i = 0; i < each; ++i) {
        ASSERT_TRUE(list.push(std::to_string(w) + "/" + std::to_string(i)));
      }
    });
  }
  threads.clear();
  expect_every_item_once_in_order(List(*client, "threads").range(0, -1).value(), writers, each);
}

TEST_P(Lists, EveryItemOfAQueueIsTakenByOneOfItsWorkers) {
  constexpr int jobs = share_of(300);
  List queue(*client, "queue");
  ASSERT_EQ(push_all(queue, numbered("job", jobs)).length, static_cast<std::uint64_t>(jobs));
  std::mutex mutex;
  std::multiset<std::string> taken;
  std::vector<std::jthread> workers;
  for (int w = 0; w < 3; ++w) {
    workers.emplace_back([&] {
      Client own = test::open(endpoint->uri());
      List list(own, "queue", {.timeout = 60s});
      for (;;) {
        const auto job = list.remove(0);
        ASSERT_TRUE(job) << job.error().message();
        if (!*job) return;
        const std::scoped_lock lock(mutex);
        taken.insert(**job);
      }
    });
  }
  workers.clear();
  EXPECT_EQ(taken.size(), static_cast<std::size_t>(jobs));
  EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(), taken.size());
  EXPECT_EQ(queue.length().value(), 0u);
}

TEST_P(Lists, ReadersBesideWritersSeeOnlyListsThatWere) {
  Client writer = test::open(endpoint->uri());
  std::atomic<bool> stop = false;
  std::jthread writing([&] {  // the list is always k, k+1, ..., k+n
    List list(writer, "moving", {.timeout = 60s});
    for (int i = 0; i < share_of(400); ++i) {
      ASSERT_TRUE(list.push(std::to_string(i)));
      if (i % 3 > 0) {
        ASSERT_TRUE(list.remove(0));
      }
    }
    stop = true;
  });
  List list(*client, "moving", {.timeout = 60s});
  int reads = 0;
  while (!stop || reads == 0) {
    const auto items = list.range(0, -1);
    ASSERT_TRUE(items) << items.error().message();
    for (std::size_t i = 1; i < items->size(); ++i) {
      ASSERT_EQ(std::stoi((*items)[i]), std::stoi((*items)[i - 1]) + 1);
    }
    ++reads;
  }
}

TEST_P(Lists, AHundredThousandItemsWork) {
  constexpr int count = share_of(100'000);
  List list(*client, "long", {.timeout = 60s});
  const PushManyResult pushed = push_all(list, numbered("", count));
  ASSERT_FALSE(pushed.error) << pushed.error->message();
  EXPECT_EQ(pushed.length, static_cast<std::uint64_t>(count));
  EXPECT_EQ(list.range(-3, -2).value(),
            (Items{std::to_string(count - 3), std::to_string(count - 2)}));
  EXPECT_EQ(list.insert(count / 2, "middle").value(), static_cast<std::uint64_t>(count) + 1);
  EXPECT_EQ(list.remove(count / 2).value(), "middle");
  EXPECT_TRUE(list.update(7, "seven").value());
  EXPECT_EQ(list.push("last").value(), static_cast<std::uint64_t>(count) + 1);
  const Items all = list.range(0, -1).value();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(count) + 1);
  EXPECT_EQ(all[7], "seven");
  EXPECT_EQ(all[static_cast<std::size_t>(count) / 2], std::to_string(count / 2));
  ASSERT_TRUE(list.clear());
  EXPECT_EQ(list.length().value(), 0u);
}

TEST_P(Lists, AClosedClientLeavesTheLockFreeForTheNext) {
  for (int round = 0; round < 10; ++round) {
    {
      Client own = test::open(endpoint->uri());
      List list(own, "handed on");
      for (int i = 0; i < 5; ++i) ASSERT_TRUE(list.push("x"));
    }
    // memcached's lists have none. Elsewhere its lease would only end later.
    const auto lock = client->get("sheaf/list/{handed%20on}/lock");
    ASSERT_TRUE(lock) << lock.error().message();
    ASSERT_FALSE(*lock) << "the lock was left behind";
  }
  EXPECT_EQ(List(*client, "handed on").length().value(), 50u);
}

TEST_P(Lists, AHandleOutlivesItsClient) {
  std::optional<Client> own(test::open(endpoint->uri()));
  List list(*own, "outlives");
  ASSERT_TRUE(list.push("x"));
  own.reset();
  EXPECT_EQ(list.push("y").error().outcome, Outcome::shutdown);
  EXPECT_EQ(list.range(0, -1).error().outcome, Outcome::shutdown);
  EXPECT_EQ(List(*client, "outlives").range(0, -1).value(), Items{"x"});
}

TEST_P(Lists, PushesInFlightEndOnceWhenTheClientGoes) {
  for (int round = 0; round < share_of(20); ++round) {
    constexpr int pushes = 50;
    std::atomic<int> ended = 0;
    std::atomic<int> pushed = 0;
    std::atomic<int> unknown = 0;
    const std::string name = "going" + std::to_string(round);
    {
      Client own = test::open(endpoint->uri());
      List list(own, name);
      if (round % 2 == 0) {
        ASSERT_TRUE(list.push("first"));
      }
      for (int i = 0; i < pushes; ++i) {
        list.async().push("x").then([&](Result<std::uint64_t> result) {
          ++ended;
          if (result) ++pushed;
          if (!result && result.error().outcome == Outcome::unknown) ++unknown;
        });
      }
    }
    ASSERT_EQ(ended, pushes);
    const int length = static_cast<int>(List(*client, name).length().value()) - (round % 2 == 0);
    ASSERT_GE(length, pushed);
    ASSERT_LE(length, pushed + unknown);
  }
}

TEST(ListDeadlines, AnUnreachableNodeEndsEveryCallInTime) {
  Client client = test::open("mqtt://127.0.0.1:1");
  List list(client, "nowhere", {.timeout = 300ms});
  const auto started = std::chrono::steady_clock::now();
  const auto pushed = list.push("x");
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().outcome, Outcome::not_sent);
  ASSERT_FALSE(list.range(0, -1));
  EXPECT_LT(std::chrono::steady_clock::now() - started, 10s);
}

TEST(ListDeadlines, ALockThatIsHeldEndsAsNotChangedInTime) {
  Client client = test::open("embedded://1?name=listheld");
  SetOptions hold;
  hold.ttl = 60s;
  client.set(client::list::Keys("held").lock(), "somebody", hold).value();
  const auto started = std::chrono::steady_clock::now();
  const auto pushed = List(client, "held", {.timeout = 1s}).push("x");
  const auto took = std::chrono::steady_clock::now() - started;
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().outcome, Outcome::not_sent);
  EXPECT_EQ(pushed.error().reason, Reason::timed_out);
  EXPECT_GE(took, 1s);
  EXPECT_LT(took, 10s);
  EXPECT_EQ(List(client, "held").length().value(), 0u);
}

TEST(ListDeadlines, ADeadWritersLockEndsWithItsLease) {
  Client client = test::open("embedded://1?name=listdead");
  SetOptions hold;
  hold.ttl = 2s;
  const auto started = std::chrono::steady_clock::now();
  client.set(client::list::Keys("dead").lock(), "a writer that died", hold).value();
  ASSERT_TRUE(List(client, "dead").push("x"));
  const auto took = std::chrono::steady_clock::now() - started;
  EXPECT_GE(took, 1'500ms);
  EXPECT_LT(took, 10s);
}

}  // namespace
}  // namespace sheaf
