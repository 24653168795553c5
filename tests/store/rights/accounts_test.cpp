// Rates, accounts that appear and disappear, and the log of refusals, in virtual time.

#include "store/rights/accounts.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "store/rights/refusal_log.h"

namespace sheaf::store::rights {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""h;

constexpr Deadline start = 5h;

TEST(RateLimiter, ASecondsWorthPassesAtOnceAndThenAsTimePasses) {
  RateLimiter limiter;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(limiter.take(4, start)) << i;
  EXPECT_FALSE(limiter.take(4, start));
  EXPECT_FALSE(limiter.take(4, start + 249ms));
  EXPECT_TRUE(limiter.take(4, start + 250ms));
  EXPECT_FALSE(limiter.take(4, start + 250ms));
  EXPECT_FALSE(limiter.rested(start + 250ms));
  EXPECT_TRUE(limiter.rested(start + 1250ms));
}

TEST(RateLimiter, RestDoesNotSaveUpMoreThanASecondsWorth) {
  RateLimiter limiter;
  EXPECT_TRUE(limiter.take(1, start));
  EXPECT_TRUE(limiter.take(1, start + 1h));
  EXPECT_FALSE(limiter.take(1, start + 1h));
}

TEST(RateLimiter, WithoutALimitEverythingPasses) {
  RateLimiter limiter;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limiter.take(unlimited, start));
}

// In any span of time no more requests than the rate allows, and at a steady rate all of them.
TEST(RateLimiter, NoSpanOfTimeHasMoreThanItsShare) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const std::uint64_t rate = 1 + random.below(50);
    RateLimiter limiter;
    Deadline now = start;
    std::vector<Deadline> passed;
    for (int i = 0; i < 500; ++i) {
      now += std::chrono::milliseconds(random.below(60));
      if (limiter.take(rate, now)) passed.push_back(now);
    }
    for (std::size_t first = 0; first < passed.size(); ++first) {
      for (std::size_t last = first; last < passed.size(); ++last) {
        const double seconds = std::chrono::duration<double>(passed[last] - passed[first]).count();
        const double share = static_cast<double>(rate) * (seconds + 1);
        ASSERT_LE(static_cast<double>(last - first + 1), share + 1e-3) << seed;
      }
    }
  }
}

TEST(Accounts, TheConnectionsOfOneNameShareOneAccount) {
  Accounts accounts(1);
  const Account ann = accounts.join("user ann");
  EXPECT_NE(ann, nobody);
  EXPECT_EQ(accounts.join("user ann"), ann);
  EXPECT_NE(accounts.join("user bob"), ann);
  EXPECT_EQ(accounts.join(""), nobody);
  const Quota once{.requests = 1};
  EXPECT_TRUE(accounts.take_request(ann, once, start));
  EXPECT_FALSE(accounts.take_request(ann, once, start));
  EXPECT_TRUE(accounts.take_request(nobody, once, start));
}

TEST(Accounts, OneThatReconnectsHasNoNewRate) {
  const Engine engine{EngineOptions()};
  Accounts accounts(1);
  const Quota once{.requests = 1};
  const Account ann = accounts.join("user ann");
  EXPECT_TRUE(accounts.take_request(ann, once, start));
  accounts.leave(ann);
  accounts.forget_idle(engine, start + 999ms);
  EXPECT_EQ(accounts.join("user ann"), ann);
  EXPECT_FALSE(accounts.take_request(ann, once, start + 999ms));
  accounts.leave(ann);
  accounts.forget_idle(engine, start + 1s);
  EXPECT_EQ(accounts.size(), 0u);
  EXPECT_EQ(accounts.join("user bob"), ann) << "numbers are used again";
}

TEST(Accounts, ThoseThatAreConnectedAreNeverForgotten) {
  const Engine engine{EngineOptions()};
  Accounts accounts(1);
  for (int i = 0; i < 300; ++i) accounts.join("client " + std::to_string(i));
  for (int i = 0; i < 10; ++i) accounts.forget_idle(engine, start);
  EXPECT_EQ(accounts.size(), 300u);
  accounts.leave(250);
  for (int i = 0; i < 4; ++i) accounts.forget_idle(engine, start);
  EXPECT_EQ(accounts.size(), 299u);
}

TEST(Accounts, OneThatHasSomethingInTheStoreIsKept) {
  Engine engine{EngineOptions()};
  Accounts accounts(1);
  const Account ann = accounts.join("client ann");
  Request watch;
  watch.client = 7;
  watch.client_id = "ann";
  watch.response_topic = "clients/ann/r";
  watch.correlation = "1";
  watch.payload = "*2\r\n$9\r\nKEYNOTIFY\r\n$3\r\nkey\r\n";
  watch.account = ann;
  ASSERT_EQ(engine.execute(watch, {}).payload, "+OK\r\n");
  accounts.leave(ann);
  accounts.forget_idle(engine, start);
  EXPECT_EQ(accounts.join("client ann"), ann);
  accounts.leave(ann);
  engine.disconnect(watch.client);
  accounts.forget_idle(engine, start);
  EXPECT_EQ(accounts.size(), 0u);
}

// A client that connects again and again, each time with another ID.
TEST(Accounts, ThoseThatComeAndGoLeaveNothing) {
  const Engine engine{EngineOptions()};
  Accounts accounts(1);
  for (int i = 0; i < 100'000; ++i) {
    accounts.leave(accounts.join("client " + std::to_string(i)));
    if (i % 50 == 0) accounts.forget_idle(engine, start);
    ASSERT_LE(accounts.size(), 200u);
  }
}

TEST(RefusalLog, ALineNamesUserClientVerbAndKey) {
  RefusalLog log;
  EXPECT_EQ(log.line({"ann", "press-1"}, "SET", "line4/\n", "not authorized", start),
            "not authorized: user \"ann\", client \"press-1\", SET of \"line4/\\x0A\"");
  EXPECT_EQ(log.line({std::nullopt, "press-1"}, "GET", "k", "not authorized", start),
            "not authorized: no user, client \"press-1\", GET of \"k\"");
}

TEST(RefusalLog, AfterTenLinesThereIsOneASecondWhichCountsTheOthers) {
  RefusalLog log;
  const auto line = [&](Deadline now) { return log.line({"u", "c"}, "GET", "k", "no", now); };
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(line(start)) << i;
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(line(start + 900ms));
  const auto next = line(start + 1s);
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->ends_with("; 7 more were not logged")) << *next;
  EXPECT_FALSE(line(start + 1s));
  EXPECT_FALSE(line(start + 2s)->contains("7 more"));
}

}  // namespace
}  // namespace sheaf::store::rights
