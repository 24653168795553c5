// The contract of LeaderElection on every kind of endpoint: campaigns, terms and what observers
// see, blocking and asynchronous.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <latch>
#include <mutex>
#include <thread>

#include <sheaf/leader.h>

#include "tests/contract/forms.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using test::kept_lease;
using test::soon;

class Elections : public test::OnEndpoint {
 protected:
  LockerOptions called(const std::string& holder) const {
    return {.holder = holder, .lease = kept_lease};
  }
};
INSTANTIATE_TEST_SUITE_P(On, Elections, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Elections, OneLeadsUntilItResignsAndThenAnother) {
  LeaderElection a(*client, "role", called("pump A"));
  Client other = test::open(endpoint->uri());
  LeaderElection b(other, "role", called("pump B"));
  EXPECT_FALSE(a.leading());
  EXPECT_EQ(a.term(), nullptr);
  EXPECT_FALSE(b.leader().value().holder);
  FencingToken token;
  a.on_elected([&](const FencingToken& given) { token = given; });
  EXPECT_TRUE(a.campaign().value());
  EXPECT_TRUE(a.leading());
  EXPECT_FALSE(token.empty());
  EXPECT_EQ(token, a.term()->token());
  EXPECT_TRUE(a.campaign().value()) << "it leads already";
  EXPECT_EQ(a.term()->token(), token);
  EXPECT_FALSE(b.campaign({.wait = 0ns}).value());
  EXPECT_FALSE(b.campaign({.wait = 100ms}).value());
  EXPECT_EQ(b.leader().value().holder, "pump A");
  EXPECT_TRUE(a.resign().value());
  EXPECT_FALSE(a.leading());
  EXPECT_FALSE(a.resign().value());
  EXPECT_TRUE(b.campaign().value());
  EXPECT_EQ(a.leader().value().holder, "pump B");
}

TEST_P(Elections, ACampaignWaitsForTheLeaderToResign) {
  std::optional<LeaderElection> a(std::in_place, *client, "role", called("A"));
  EXPECT_TRUE(a->campaign().value());
  Client other = test::open(endpoint->uri());
  LeaderElection b(other, "role", called("B"));
  auto elected = b.async().campaign().future();
  a.reset();  // resigns
  EXPECT_TRUE(elected.get().value());
  EXPECT_TRUE(b.leading());
}

TEST_P(Elections, TheTermWritesAndHoldsNothingWhenItIsOver) {
  LeaderElection a(*client, "role", called("A"));
  EXPECT_TRUE(a.campaign().value());
  const auto term = a.term();
  EXPECT_FALSE(term->read("{role}n").value().has_value());
  EXPECT_TRUE(term->write("{role}n", "1").value().stored);
  const FencingToken old = term->token();
  EXPECT_TRUE(a.resign().value());
  EXPECT_EQ(term->write("{role}n", "2").error().reason, Reason::lock_lost);
  LeaderElection b(*client, "role", called("B"));
  EXPECT_TRUE(b.campaign().value());
  EXPECT_EQ(b.term()->read("{role}n").value()->data, "1");
  if (b.term()->strength() != LockStrength::fenced) return;
  EXPECT_EQ(client->set("{role}n", "late", {.fence = old}).error().reason, Reason::fencing_stale);
}

TEST_P(Elections, ATermThatAnotherTookIsLostOnceAndCampaignsAgain) {
  LeaderElection a(*client, "role", called("A"));
  std::mutex mutex;
  std::vector<std::string> seen;
  const auto note = [&](const std::string& what) {
    const std::scoped_lock lock(mutex);
    seen.push_back(what);
  };
  a.on_elected([&](const FencingToken&) { note("elected"); });
  std::latch again(1);
  a.on_lost([&](const Error& why) {
    note(std::string(to_string(why.reason)));
    client->remove("role").value();
    a.async().campaign().then([&](const Result<bool>& elected) {
      note(elected.value() ? "again" : "not again");
      again.count_down();
    });
  });
  EXPECT_TRUE(a.campaign().value());
  client->set("role", "thief").value();  // no program that follows the protocol does that
  again.wait();
  EXPECT_TRUE(a.leading());
  EXPECT_TRUE(a.resign().value());
  const std::vector<std::string> expected{"elected", std::string(to_string(Reason::lock_lost)),
                                          "elected", "again"};
  const std::scoped_lock lock(mutex);
  EXPECT_EQ(seen, expected);
}

TEST_P(Elections, StopTokensResignationsAndTheEndOfTheObjectEndACampaign) {
  LeaderElection a(*client, "role", called("A"));
  EXPECT_TRUE(a.campaign().value());
  // b has a client of its own: on memcached a request that is abandoned may end its connection, and
  // with it the term of a.
  Client other = test::open(endpoint->uri());
  std::optional<LeaderElection> b(std::in_place, other, "role", called("B"));
  std::stop_source source;
  const std::stop_token stop = source.get_token();
  auto stopped = b->async().campaign({.stop = &stop}).future();
  EXPECT_EQ(b->campaign().error().outcome, Outcome::invalid) << "one at a time";
  source.request_stop();
  EXPECT_EQ(stopped.get().error().reason, Reason::cancelled);
  EXPECT_EQ(b->campaign({.stop = &stop}).error().outcome, Outcome::not_sent);
  std::stop_source later;
  const std::stop_token stop_later = later.get_token();
  std::thread blocked(
      [&] { EXPECT_EQ(b->campaign({.stop = &stop_later}).error().reason, Reason::cancelled); });
  later.request_stop();
  blocked.join();
  auto resigned = b->async().campaign().future();
  EXPECT_FALSE(b->resign().value());
  EXPECT_EQ(resigned.get().error().reason, Reason::cancelled);
  auto destroyed = b->async().campaign().future();
  auto observing = b->async().next_leader().future();
  EXPECT_EQ(observing.get().value()->holder, "A");
  observing = b->async().next_leader().future();
  b.reset();
  EXPECT_EQ(destroyed.get().error().reason, Reason::cancelled);
  EXPECT_EQ(observing.get().error().reason, Reason::cancelled);
  EXPECT_TRUE(a.leading());
}

TEST_P(Elections, WhatIsNotAllowedEndsACampaignAtOnce) {
  EXPECT_EQ(LeaderElection(*client, "").campaign().error().reason, Reason::bad_argument);
  EXPECT_EQ(LeaderElection(*client, "").next_leader({}).error().outcome, Outcome::invalid);
  EXPECT_EQ(LeaderElection(*client, "x", {.lease = 1ms}).campaign().error().outcome,
            Outcome::invalid);
  LeaderElection a(*client, "role", called("A"));
  EXPECT_EQ(a.campaign({.timeout = 25h}).error().reason, Reason::bad_argument);
  EXPECT_TRUE(a.campaign().value());
  EXPECT_EQ(a.resign({.timeout = 0ns}).error().reason, Reason::bad_argument);
  EXPECT_TRUE(a.leading()) << "as LockGuard::release";
}

// What an official SDK would hold: SET name value NEX PX.
TEST_P(Elections, TheLockOfAnotherProgramIsALeaderWithAllOfItsValue) {
  client->set("role", "sdk-client", {.ttl = 1min}).value();
  LeaderElection a(*client, "role", called("A"));
  EXPECT_FALSE(a.campaign({.wait = 0ns}).value());
  EXPECT_EQ(a.leader().value().holder, "sdk-client");
  EXPECT_EQ(a.next_leader({.wait = soon}).value()->holder, "sdk-client");
}

TEST_P(Elections, ObserversSeeEachLeaderInTurn) {
  LeaderElection observer(*client, "role");
  EXPECT_FALSE(observer.next_leader({.wait = soon}).value()->holder) << "no one leads at first";
  EXPECT_FALSE(observer.next_leader({.wait = 0ns}).value().has_value());
  EXPECT_FALSE(observer.next_leader({.wait = 30ms}).value().has_value());
  Client other = test::open(endpoint->uri());
  for (const std::string name : {"A", "B", "B"}) {
    LeaderElection leader(other, "role", called(name));
    EXPECT_TRUE(leader.campaign().value());
    EXPECT_EQ(observer.next_leader({.wait = soon}).value()->holder, name);
    EXPECT_TRUE(leader.resign().value());
    EXPECT_FALSE(observer.next_leader({.wait = soon}).value()->holder);
  }
}

TEST_P(Elections, ACallbackGetsEachLeaderAndTheEnd) {
  std::mutex mutex;
  std::deque<std::string> seen;
  const auto has = [&](const std::string& what) {
    test::wait_for_condition(what, [&] {
      const std::scoped_lock lock(mutex);
      return !seen.empty() && seen.back() == what;
    });
  };
  Client other = test::open(endpoint->uri());
  std::optional<Client> own = test::open(endpoint->uri());
  LeaderElection observer(*own, "role");
  observer.on_leader([&](const Result<Leader>& leader) {
    const std::scoped_lock lock(mutex);
    seen.push_back(leader ? leader->holder.value_or("none")
                          : std::string(to_string(leader.error().outcome)));
  });
  has("none");
  LeaderElection a(other, "role", called("A"));
  EXPECT_TRUE(a.campaign().value());
  has("A");
  EXPECT_TRUE(a.resign().value());
  has("none");
  own.reset();
  has("shutdown");
  EXPECT_EQ(seen, (std::deque<std::string>{"none", "A", "none", "shutdown"}));
}

TEST_P(Elections, TheEndOfTheClientEndsTheTermAndTheCampaign) {
  std::optional<Client> own = test::open(endpoint->uri());
  LeaderElection a(*own, "role", called("A"));
  EXPECT_TRUE(a.campaign().value());
  LeaderElection b(*own, "role", called("B"));
  auto waiting = b.async().campaign().future();
  std::atomic<int> lost = 0;
  a.on_lost([&](const Error& why) {
    EXPECT_EQ(why.reason, Reason::closed);
    ++lost;
  });
  own.reset();
  EXPECT_EQ(lost, 1);
  EXPECT_FALSE(a.leading());
  EXPECT_EQ(waiting.get().error().outcome, Outcome::shutdown);
  EXPECT_EQ(a.leader().error().outcome, Outcome::shutdown);
  EXPECT_EQ(a.next_leader().error().outcome, Outcome::shutdown);
  EXPECT_EQ(a.campaign().error().outcome, Outcome::shutdown);
  EXPECT_EQ(a.resign().error().outcome, Outcome::shutdown);
  EXPECT_EQ(b.async().next_leader().future().get().error().outcome, Outcome::shutdown);
  EXPECT_EQ(b.async().campaign().future().get().error().outcome, Outcome::shutdown);
  EXPECT_EQ(b.async().leader().future().get().error().outcome, Outcome::shutdown);
}

TEST_P(Elections, AForkedChildLeadsNothingAndTheParentGoesOn) {
  LeaderElection a(*client, "role", called("A"));
  EXPECT_TRUE(a.campaign().value());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto again = a.campaign({.wait = 0ns});
    const bool forked = !again && again.error().reason == Reason::forked;
    _exit(!a.leading() && forked ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(a.leading());
  EXPECT_TRUE(a.resign().value());
}

class AsyncElections : public test::InEveryForm {};
INSTANTIATE_TEST_SUITE_P(On, AsyncElections, test::every_form(), test::name_of_form);

TEST_P(AsyncElections, EndAsTheBlockingOnes) {
  LeaderElection a(*client, "role", {.holder = "A", .lease = kept_lease});
  LeaderElection b(*client, "role", {.holder = "B", .lease = kept_lease});
  const auto of = [&](auto call) { return test::outcome_of(form, std::move(call)); };
  EXPECT_FALSE(of(b.async().next_leader()).value()->holder);
  EXPECT_FALSE(of(b.async().next_leader({.wait = 10ms})).value().has_value());
  EXPECT_TRUE(of(a.async().campaign()).value());
  EXPECT_TRUE(of(a.async().campaign()).value());
  EXPECT_EQ(of(b.async().next_leader({.wait = soon})).value()->holder, "A");
  EXPECT_EQ(of(b.async().leader()).value().holder, "A");
  EXPECT_FALSE(of(b.async().campaign({.wait = 0ns})).value());
  EXPECT_FALSE(of(b.async().resign()).value());
  EXPECT_TRUE(of(a.async().resign()).value());
  EXPECT_FALSE(of(a.async().resign()).value());
  EXPECT_TRUE(of(b.async().campaign({.wait = soon})).value());
  EXPECT_EQ(of(a.async().campaign({.timeout = 25h})).error().reason, Reason::bad_argument);
}

}  // namespace
}  // namespace sheaf
