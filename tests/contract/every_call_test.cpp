// Every asynchronous operation, consumed in every way: each ends as its blocking form does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sheaf/async.h>

#include "tests/contract/forms.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using testing::StartsWith;
using namespace std::chrono_literals;

// ---- outcomes in words; what differs from one call to the next is left out

std::string in_words(const Error& error) {
  return std::string(to_string(error.outcome)) + ", " + std::string(to_string(error.reason));
}
std::string said(bool value) { return value ? "true" : "false"; }
std::string said(std::uint64_t value) { return std::to_string(value); }
std::string said(const std::string& value) { return value; }
std::string said(const Value& value) { return value.data; }
std::string said(const SetResult& set) { return set.stored ? "stored" : "not stored"; }
std::string said(const RemoveResult& removed) { return std::to_string(removed.found); }
std::string said(const CommandReply&) { return "a reply"; }
std::string said(const NodeReply& node) {
  return node.reply ? "a reply" : in_words(node.reply.error());
}
std::string said(const WatchEvent& event) {
  return std::string(to_string(event.kind)) + " " + event.value.value_or("absent");
}
template <class T>
std::string said(const std::vector<T>& all);
template <class T>
std::string said(const std::optional<T>& value) {
  return value ? said(*value) : "nothing";
}
template <class T>
std::string said(const Result<T>& result) {
  if (!result) return in_words(result.error());
  if constexpr (std::is_void_v<T>) {
    return "done";
  } else {
    return said(*result);
  }
}
std::string said(const LockResult& result) {
  if (result.failed()) return in_words(result.error());
  return result.held() ? "held" : "busy";
}
std::string said(const PushManyResult& pushed) {
  return pushed.error ? in_words(*pushed.error) : std::to_string(pushed.length);
}
std::string said(const NodeReport& report) { return report.error ? in_words(*report.error) : "up"; }
std::string said(const NodeText& text) {
  return text.text ? "some text" : in_words(text.text.error());
}
template <class T>
std::string said(const KeyResult<T>& entry) {
  return said(entry.result);
}
template <class T>
std::string said(const std::vector<T>& all) {
  std::string words;
  for (const T& each : all) words += said(each) + "; ";
  return words;
}

// ---- the operations

// The client and the objects of one call. All subjects begin in the same state.
struct Subject {
  Client& client;
  std::optional<test::Form> form;  // none: the blocking form
  std::string key;                 // holds "1" where that is possible
  Timeout timeout{};               // of the call
  Stop stop{};                     // likewise
  AsyncClient async = client.async();
  Locker locker{client};
  List list{client, key + "list"};

  template <class Blocking, class Asynchronous>
  std::string end(const Blocking& blocking, const Asynchronous& asynchronous) const {
    return form ? said(test::outcome_of(*form, asynchronous())) : said(blocking());
  }
  // Options with this time-out and this token. Const: `set` and `remove` take no temporary ones.
  template <class Options>
  const Options with(Options options = {}) const {  // NOLINT(readability-const-return-type)
    if constexpr (requires { options.timeout; }) options.timeout = timeout;
    options.stop = stop;
    return options;
  }
  ListCallOptions in_list() const { return with<ListCallOptions>(); }
  std::vector<std::string_view> keys() const { return {key, "absent"}; }
  // Calls `function` with a held lock; without locks, returns the refusal.
  template <class Function>
  std::string locked(const Function& function) const {
    LockResult taken = Locker(client).lock("{" + key + "}lock", {.wait = 10s});
    return taken ? function(*taken) : said(taken);
  }
};

struct Operation {
  const char* name;
  std::function<std::string(Subject&)> call;
};

// The same call on the blocking and on the asynchronous object.
template <class Call>
std::string both(const Subject& s, Client& client, const Call& call) {
  return s.end([&] { return call(client); }, [&] { return call(s.async); });
}

const std::vector<Operation> of_clients = {
    {"get",
     [](Subject& s) {
       return both(s, s.client, [&](auto& c) { return c.get(s.key, s.with<GetOptions>()); });
     }},
    {"set",
     [](Subject& s) {
       return both(s, s.client, [&](auto& c) { return c.set(s.key, "v", s.with<SetOptions>()); });
     }},
    {"remove",
     [](Subject& s) {
       return both(s, s.client, [&](auto& c) { return c.remove(s.key, s.with<RemoveOptions>()); });
     }},
    {"append",
     [](Subject& s) {
       return both(s, s.client,
                   [&](auto& c) { return c.append(s.key, "v", s.with<EditOptions>()); });
     }},
    {"prepend",
     [](Subject& s) {
       return both(s, s.client,
                   [&](auto& c) { return c.prepend(s.key, "v", s.with<EditOptions>()); });
     }},
    {"increment",
     [](Subject& s) {
       return both(s, s.client,
                   [&](auto& c) { return c.increment(s.key, 3, s.with<CountOptions>()); });
     }},
    {"decrement",
     [](Subject& s) {
       return both(s, s.client,
                   [&](auto& c) { return c.decrement(s.key, 1, s.with<CountOptions>()); });
     }},
    {"touch",
     [](Subject& s) {
       return both(s, s.client, [&](auto& c) { return c.touch(s.key, s.with<TouchOptions>()); });
     }},
    {"get_and_touch",
     [](Subject& s) {
       return both(s, s.client, [&](auto& c) {
         return c.get_and_touch(s.key, s.with(TouchOptions{.ttl = 1h}));
       });
     }},
    {"get_and_set",
     [](Subject& s) {
       return both(s, s.client,
                   [&](auto& c) { return c.get_and_set(s.key, "v", s.with<GetAndSetOptions>()); });
     }},
    {"get_or_compute",
     [](Subject& s) {
       const auto compute = [] { return std::string("made"); };
       return both(s, s.client, [&](auto& c) {
         return c.get_or_compute(s.key + "absent", s.with<ComputeOptions>(), compute);
       });
     }},
    {"get_or_compute, later",
     [](Subject& s) {
       return s.end(
           [&] {
             return s.client.get_or_compute(s.key + "new", s.with<ComputeOptions>(),
                                            [] { return "made"; });
           },
           [&] {
             return s.async.get_or_compute(s.key + "new", s.with<ComputeOptions>(),
                                           [](const ComputeDone& done) { done("made"); });
           });
     }},
    {"execute",
     [](Subject& s) {
       return both(s, s.client,
                   [&](auto& c) { return c.execute({"STRLEN", s.key}, s.with<CommandOptions>()); });
     }},
    {"execute_on_all",
     [](Subject& s) {
       return both(s, s.client,
                   [&](auto& c) { return c.execute_on_all({"PING"}, s.with<CommandOptions>()); });
     }},
    {"execute_many",
     [](Subject& s) {
       const std::vector<Command> commands{{"STRLEN", s.key}, {"PING"}};
       return both(s, s.client,
                   [&](auto& c) { return c.execute_many(commands, s.with<CommandOptions>()); });
     }},
    {"get_many",
     [](Subject& s) {
       return both(s, s.client,
                   [&](auto& c) { return c.get_many(s.keys(), s.with<BatchOptions>()); });
     }},
    {"set_many",
     [](Subject& s) {
       const std::string second = s.key + "b";
       const std::vector<SetItem> items{{s.key, "v"}, {second, "w"}};
       return both(s, s.client,
                   [&](auto& c) { return c.set_many(items, s.with<BatchSetOptions>()); });
     }},
    {"remove_many",
     [](Subject& s) {
       return both(s, s.client,
                   [&](auto& c) { return c.remove_many(s.keys(), s.with<BatchOptions>()); });
     }},
    {"check_nodes",
     [](Subject& s) {
       return both(s, s.client, [&](auto& c) { return c.check_nodes(s.with<NodesOptions>()); });
     }},
    {"server_stats",
     [](Subject& s) {
       return both(s, s.client,
                   [&](auto& c) { return c.server_stats({}, s.with<NodesOptions>()); });
     }},
    {"server_versions",
     [](Subject& s) {
       return both(s, s.client, [&](auto& c) { return c.server_versions(s.with<NodesOptions>()); });
     }},
    {"next",
     [](Subject& s) {
       auto watch = s.client.watch(s.key);
       if (!watch) return in_words(watch.error());
       return s.end([&] { return watch->next(s.with<NextOptions>()); },
                    [&] { return watch->async().next(s.with<NextOptions>()); });
     }},
};

template <class Call>
std::string of_locker(Subject& s, const Call& call) {
  return s.end([&] { return call(s.locker); }, [&] { return call(s.locker.async()); });
}
template <class Call>
std::string of_guard(Subject& s, const Call& call) {
  return s.locked([&](LockGuard& guard) {
    return s.end([&] { return call(guard); }, [&] { return call(guard.async()); });
  });
}

const std::vector<Operation> of_locks = {
    {"try_lock",
     [](Subject& s) {
       return of_locker(
           s, [&](auto&& l) { return l.try_lock(s.key + "l", s.with<TryLockOptions>()); });
     }},
    {"lock",
     [](Subject& s) {
       return of_locker(s, [&](auto&& l) { return l.lock(s.key + "l", s.with<LockOptions>()); });
     }},
    {"read",
     [](Subject& s) {
       return of_guard(
           s, [&](auto&& g) { return g.read("{" + s.key + "}k", s.with<FencedReadOptions>()); });
     }},
    {"write",
     [](Subject& s) {
       return of_guard(s, [&](auto&& g) {
         return g.write("{" + s.key + "}k", "v", s.with<FencedWriteOptions>());
       });
     }},
    {"remove of a guard",
     [](Subject& s) {
       return of_guard(s, [&](auto&& g) {
         return g.remove("{" + s.key + "}k", s.with<FencedRemoveOptions>());
       });
     }},
    {"release",
     [](Subject& s) {
       return of_guard(s, [&](auto&& g) { return g.release(s.with<ReleaseOptions>()); });
     }},
};

template <class Call>
std::string of_list(Subject& s, const Call& call) {
  static_cast<void>(s.list.push("first"));
  return s.end([&] { return call(s.list); }, [&] { return call(s.list.async()); });
}

const std::vector<Operation> of_lists = {
    {"push",
     [](Subject& s) { return of_list(s, [&](auto&& l) { return l.push("v", s.in_list()); }); }},
    {"push_many",
     [](Subject& s) {
       const std::vector<std::string_view> values{"a", "b"};
       return of_list(s, [&](auto&& l) { return l.push_many(values, s.in_list()); });
     }},
    {"insert",
     [](Subject& s) {
       return of_list(s, [&](auto&& l) { return l.insert(0, "v", s.in_list()); });
     }},
    {"update",
     [](Subject& s) {
       return of_list(s, [&](auto&& l) { return l.update(0, "v", s.in_list()); });
     }},
    {"remove of a list",
     [](Subject& s) { return of_list(s, [&](auto&& l) { return l.remove(0, s.in_list()); }); }},
    {"clear",
     [](Subject& s) { return of_list(s, [&](auto&& l) { return l.clear(s.in_list()); }); }},
    {"range",
     [](Subject& s) { return of_list(s, [&](auto&& l) { return l.range(0, -1, s.in_list()); }); }},
    {"range_with_holes",
     [](Subject& s) {
       return of_list(s, [&](auto&& l) { return l.range_with_holes(0, -1, s.in_list()); });
     }},
    {"drop_holes",
     [](Subject& s) { return of_list(s, [&](auto&& l) { return l.drop_holes(s.in_list()); }); }},
    {"length",
     [](Subject& s) { return of_list(s, [&](auto&& l) { return l.length(s.in_list()); }); }},
};

const std::optional<test::Form> blocking_and_future[] = {std::nullopt, test::Form::future};

class EveryCall : public test::OnEndpoint {
 protected:
  std::string end(const Operation& operation, std::optional<test::Form> form,
                  const Timeout& timeout = {}, Stop stop = {}) {
    const std::string key = "every" + std::to_string(++calls_);
    EXPECT_TRUE(client->set(key, "1"));
    Subject subject{*client, form, key, timeout, stop};
    return operation.call(subject);
  }
  // Checks that each way ends as the blocking form does.
  void compare(const std::vector<Operation>& operations) {
    for (const Operation& operation : operations) {
      const std::string expected = end(operation, std::nullopt);
      for (const test::Form form : test::all_ways) {
        EXPECT_EQ(end(operation, form), expected) << operation.name << ", " << to_string(form);
      }
    }
  }
  // Checks how each way ends with these options, where the endpoint has the operation.
  void expect_end(std::string_view expected, const Timeout& timeout, Stop stop) {
    for (const auto* operations : {&of_clients, &of_locks, &of_lists}) {
      for (const Operation& operation : *operations) {
        if (end(operation, std::nullopt).starts_with("unsupported")) continue;
        if (timeout && operation.name == std::string_view("next")) continue;  // has none
        for (const auto& form : blocking_and_future) {
          EXPECT_THAT(end(operation, form, timeout, stop), StartsWith(expected)) << operation.name;
        }
      }
    }
  }

  int calls_ = 0;
};
INSTANTIATE_TEST_SUITE_P(On, EveryCall, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(EveryCall, OfAClientEndsAsTheBlockingForm) { compare(of_clients); }
TEST_P(EveryCall, OfLocksEndsAsTheBlockingForm) { compare(of_locks); }
TEST_P(EveryCall, OfListsEndsAsTheBlockingForm) { compare(of_lists); }

TEST_P(EveryCall, EndsAtOnceWithAStoppedToken) {
  std::stop_source source;
  source.request_stop();
  const std::stop_token token = source.get_token();
  expect_end("not sent, cancelled", {}, &token);
}

TEST_P(EveryCall, RefusesATimeoutOutOfRange) { expect_end("invalid, bad argument", -1ns, {}); }

// A session refuses it too, but only once there is a connection. The token shows that none was
// waited for: a call looks at it after its arguments.
TEST_P(EveryCall, RefusesAnEmptyKeyAtOnce) {
  const std::set<std::string_view> of_other_keys{
      "get_or_compute", "get_or_compute, later", "execute",
      "execute_on_all", "execute_many",          "get_many",
      "set_many",       "remove_many",           "check_nodes",
      "server_stats",   "server_versions",       "next"};
  std::stop_source source;
  source.request_stop();
  const std::stop_token token = source.get_token();
  for (const Operation& operation : of_clients) {
    if (of_other_keys.contains(operation.name)) continue;
    for (const auto& form : blocking_and_future) {
      Subject subject{*client, form, "", {}, &token};
      EXPECT_EQ(operation.call(subject), "invalid, bad argument") << operation.name;
    }
  }
}

// The parents of the requests that a client has made. Calls get a new one with each begin().
class Parents {
 public:
  using Parent = std::shared_ptr<void>;

  ClientOptions options() {
    ClientOptions options;
    options.observer.parent = [this] {
      const std::scoped_lock lock(mutex_);
      return present_;
    };
    options.observer.ended = [this](const RequestEvent& event, std::uint64_t) {
      const std::scoped_lock lock(mutex_);
      seen_.insert(event.parent);
    };
    return options;
  }
  Parent begin() {
    const std::scoped_lock lock(mutex_);
    return present_ = std::make_shared<int>();
  }
  bool seen(const Parent& parent) {
    const std::scoped_lock lock(mutex_);
    return seen_.contains(parent);
  }

 private:
  std::mutex mutex_;
  Parent present_;
  std::set<Parent> seen_;
};

TEST_P(EveryCall, IsTheParentOfItsRequestsForAnObserver) {
  Parents parents;
  Client observed = test::open(endpoint->uri(), parents.options());
  for (const Operation& operation : of_clients) {
    if (end(operation, std::nullopt).starts_with("unsupported")) continue;
    for (const auto& form : blocking_and_future) {
      const std::string key = "parent" + std::to_string(++calls_);
      const Parents::Parent own = parents.begin();
      Subject subject{observed, form, key};
      operation.call(subject);
      const Parents::Parent last = parents.begin();
      observed.get(key).value();
      test::wait_for_condition("the end of the last request", [&] { return parents.seen(last); });
      const bool waits_for_events = std::string_view(operation.name) == "next";
      EXPECT_EQ(parents.seen(own), !waits_for_events) << operation.name;
    }
  }
}

TEST_P(EveryCall, EndsInEveryWayAlsoAfterItsClient) {
  for (const test::Form form : test::all_ways) {
    Client own = test::open(endpoint->uri());
    Call<Result<GetResult>> made_before = own.async().get("key");
    const AsyncClient async = own.async();
    std::optional<Client>(std::move(own)).reset();
    EXPECT_EQ(test::outcome_of(form, std::move(made_before)).error().outcome, Outcome::shutdown);
    EXPECT_EQ(test::outcome_of(form, async.get("key")).error().outcome, Outcome::shutdown);
  }
}

// ---- what holds of a Call, whatever it does

class Calls : public testing::Test {
 protected:
  Client client = test::open("embedded://1?name=calls");
  const AsyncClient async = client.async();
};

TEST_F(Calls, DoNothingBeforeTheyAreConsumed) {
  {
    const auto never = async.set("never", "v");
  }
  auto later = async.set("later", "v");
  EXPECT_FALSE(client.get("never").value());
  EXPECT_FALSE(client.get("later").value());
  EXPECT_TRUE(std::move(later).future().get().value().stored);
  EXPECT_TRUE(client.get("later").value());
}

TEST_F(Calls, OwnWhatTheyWereGiven) {
  std::optional<Call<Result<RemoveResult>>> call;
  std::stop_source source;
  {
    const std::string key(100, 'k');
    const std::string value(100, 'v');
    const std::stop_token token = source.get_token();
    ASSERT_TRUE(client.set(key, value));
    const RemoveOptions options{.if_value = value, .stop = &token};
    call.emplace(async.remove(key, options));
  }
  EXPECT_EQ(std::move(*call).future().get().value(), RemoveResult::removed);
}

// A call's time begins when it is consumed, too, so a call that waits for that loses none.
TEST_F(Calls, AreInTheOrderInWhichTheyAreConsumed) {
  auto second = async.set("key", "second");
  auto first = async.set("key", "first");
  auto one = std::move(first).future();
  auto two = std::move(second).future();
  EXPECT_TRUE(one.get().value().stored);
  EXPECT_TRUE(two.get().value().stored);
  EXPECT_EQ(client.get("key").value()->data, "second");
}

TEST_F(Calls, AreConsumedOnce) {
  auto call = async.get("key");
  auto moved = std::move(call);
  EXPECT_THROW(std::move(call).future(),
               std::bad_function_call);  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(std::move(moved).future().get());
  EXPECT_THROW(std::move(moved).then([](const auto&) {}),  // NOLINT(bugprone-use-after-move)
               std::bad_function_call);
}

TEST_F(Calls, AreStoppedByATokenThatWasStoppedSinceTheyWereMade) {
  std::stop_source source;
  const std::stop_token token = source.get_token();
  auto call = async.get("key", {.stop = &token});
  source.request_stop();
  const auto got = std::move(call).future().get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, Reason::cancelled);
}

TEST_F(Calls, AreTransformedOnTheDispatcherAlsoForAFuture) {
  const auto thread = [](const Result<GetResult>&) { return std::this_thread::get_id(); };
  const auto dispatcher =
      test::outcome_of(test::Form::callback, async.get("key").transform(thread));
  EXPECT_NE(dispatcher, std::this_thread::get_id());
  EXPECT_EQ(async.get("key").transform(thread).future().get(), dispatcher);
}

TEST_F(Calls, ATransformedOneIsStoppedByItsToken) {
  std::stop_source source;
  const std::stop_token token = source.get_token();
  auto call = async.get("key", {.stop = &token}).transform([](const Result<GetResult>& got) {
    return got ? std::optional<Reason>() : got.error().reason;
  });
  source.request_stop();
  EXPECT_EQ(std::move(call).future().get(), Reason::cancelled);
}

// A future needs no dispatcher, so a callback may wait for one.
TEST_F(Calls, AFutureBecomesReadyWhileACallbackRuns) {
  std::promise<bool> got;
  async.get("key").then(
      [&](const auto&) { got.set_value(async.get("key").future().get().has_value()); });
  EXPECT_TRUE(got.get_future().get());
}

}  // namespace
}  // namespace sheaf
