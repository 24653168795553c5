#include "client/runtime/login_plan.h"

#include <gtest/gtest.h>

namespace sheaf::client::runtime {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Kind = LoginPlan::Kind;
using Need = CredentialNeed;

protocol::SharedLogin login(std::string_view password) {
  return protocol::make_login("user", password);
}

// A plan and the time: `wall` runs with `mono`, from another start.
struct Scene {
  explicit Scene(Kind kind) : plan(kind) {}

  void pass(std::chrono::nanoseconds time) {
    now.mono += time;
    now.wall += std::chrono::duration_cast<milliseconds>(time);
  }
  bool answer(std::string_view password, std::optional<milliseconds> life = std::nullopt) {
    return plan.on_answer(login(password), life ? std::optional(now.wall + *life) : std::nullopt,
                          now);
  }
  // Makes a connection, which gets the password.
  void connect(std::string_view password, std::optional<milliseconds> life = std::nullopt) {
    EXPECT_TRUE(plan.on_connect(now));
    EXPECT_EQ(plan.take_asking(), Need::connect);
    EXPECT_TRUE(answer(password, life));
  }
  // Lets time pass until the plan wants to be called.
  void wait() {
    ASSERT_NE(plan.next(), never);
    ASSERT_GE(plan.next(), now.mono);
    pass(plan.next() - now.mono);
    plan.on_time(now);
  }
  std::string_view present() const {
    return plan.present() == nullptr ? "nobody" : plan.present()->password.view();
  }

  LoginPlan plan;
  Now now{.mono = 5s, .wall = 1'000'000s};
};

TEST(LoginPlan, EveryConnectionAsksAndThoseOfOneTimeShareTheAnswer) {
  Scene s(Kind::callback);
  EXPECT_TRUE(s.plan.on_connect(s.now));
  EXPECT_EQ(s.plan.take_asking(), Need::connect);
  EXPECT_TRUE(s.plan.on_connect(s.now));
  EXPECT_EQ(s.plan.take_asking(), std::nullopt) << "it is being asked";
  EXPECT_TRUE(s.answer("one"));
  EXPECT_EQ(s.plan.take_publication(), Publish::for_all) << "who waits for a login tries at once";
  EXPECT_EQ(s.present(), "one");
  s.connect("one");
  EXPECT_EQ(s.plan.take_publication(), Publish::nothing);
  s.pass(1h);
  s.connect("one");
  EXPECT_EQ(s.plan.next(), never) << "nothing is said to end";
}

TEST(LoginPlan, AnotherAnswerOfACallbackIsForNewConnections) {
  Scene s(Kind::callback);
  s.connect("one");
  s.plan.take_publication();
  s.connect("two");
  EXPECT_EQ(s.plan.take_publication(), Publish::for_new);
  EXPECT_EQ(s.present(), "two");
}

TEST(LoginPlan, AnotherContentOfAFileIsForAll) {
  Scene s(Kind::file);
  s.connect("one");
  s.plan.take_publication();
  s.connect("two");
  EXPECT_EQ(s.plan.take_publication(), Publish::for_all);
  s.plan.on_change();
  EXPECT_EQ(s.plan.take_asking(), Need::renewal);
  EXPECT_TRUE(s.answer("three"));
  EXPECT_EQ(s.plan.take_publication(), Publish::for_all);
  s.plan.on_change();  // the file was touched
  EXPECT_EQ(s.plan.take_asking(), Need::renewal);
  EXPECT_TRUE(s.answer("three"));
  EXPECT_EQ(s.plan.take_publication(), Publish::nothing);
}

TEST(LoginPlan, TheRenewalComesWhenFourFifthsAreOver) {
  Scene s(Kind::callback);
  s.connect("one", 100s);
  s.plan.take_publication();
  const Deadline start = s.now.mono;
  s.wait();
  EXPECT_EQ(s.now.mono - start, 80s);
  EXPECT_EQ(s.plan.take_asking(), Need::renewal);
  EXPECT_TRUE(s.answer("two", 100s));
  EXPECT_EQ(s.plan.take_publication(), Publish::for_all);
  EXPECT_EQ(s.plan.next() - s.now.mono, 80s);
}

TEST(LoginPlan, TheRenewalIsNeitherHoursBeforeTheEndNorAtIt) {
  for (const auto& [life, lead] : {std::pair<milliseconds, milliseconds>(24h, 5min),
                                   {1min, 12s},
                                   {4s, 1s},
                                   {2s, 1s},
                                   {1s, 500ms}}) {
    Scene s(Kind::callback);
    s.connect("one", life);
    EXPECT_EQ(s.plan.next() - s.now.mono, life - lead) << life.count();
  }
}

TEST(LoginPlan, TheSameAnswerWithALaterEndRenewsNobody) {
  Scene s(Kind::callback);
  s.connect("one", 10s);
  s.plan.take_publication();
  s.wait();
  EXPECT_EQ(s.plan.take_asking(), Need::renewal);
  EXPECT_TRUE(s.answer("one", 1h));
  EXPECT_EQ(s.plan.take_publication(), Publish::nothing);
  EXPECT_EQ(s.plan.next() - s.now.mono, 55min);
}

TEST(LoginPlan, ARenewalThatFailsIsTriedAgainUntilTheEndAndThenNobodyLogsIn) {
  Scene s(Kind::callback);
  s.connect("one", 100s);
  s.plan.take_publication();
  const Deadline end = s.now.mono + 100s;
  unsigned attempts = 0;
  for (s.wait(); s.now.mono < end; s.wait()) {
    EXPECT_EQ(s.plan.take_asking(), Need::renewal);
    s.plan.on_failure(s.now);
    ++attempts;
    EXPECT_EQ(s.plan.take_publication(), Publish::nothing) << "the old one is good until its end";
  }
  EXPECT_GE(attempts, 4u);
  EXPECT_LE(attempts, 8u);
  EXPECT_EQ(s.plan.take_publication(), Publish::for_all);
  EXPECT_EQ(s.present(), "nobody");
  EXPECT_EQ(s.now.mono, end);
}

TEST(LoginPlan, AnAnswerAfterAFailureIsForAllWhoWaited) {
  Scene s(Kind::callback);
  EXPECT_TRUE(s.plan.on_connect(s.now));
  EXPECT_EQ(s.plan.take_asking(), Need::connect);
  s.plan.on_failure(s.now);
  EXPECT_EQ(s.plan.next(), never) << "the next connection asks";
  s.connect("one");
  EXPECT_EQ(s.plan.take_publication(), Publish::for_all);
}

TEST(LoginPlan, ALoginThatHasEndedIsNone) {
  Scene s(Kind::callback);
  EXPECT_TRUE(s.plan.on_connect(s.now));
  EXPECT_EQ(s.plan.take_asking(), Need::connect);
  EXPECT_FALSE(s.answer("old", 0ms));
  EXPECT_EQ(s.present(), "nobody");
  EXPECT_TRUE(s.plan.on_connect(s.now));
  EXPECT_EQ(s.plan.take_asking(), Need::connect);
  EXPECT_FALSE(s.plan.on_answer(login("older"), milliseconds::min(), s.now));
  EXPECT_TRUE(s.plan.on_connect(s.now));
  EXPECT_EQ(s.plan.take_asking(), Need::connect);
  EXPECT_TRUE(s.plan.on_answer(login("endless"), milliseconds::max(), s.now));
  EXPECT_EQ(s.plan.next(), never);
}

TEST(LoginPlan, ConnectionsWithAnOlderLoginRenewItBeforeItsEnd) {
  Scene s(Kind::callback);
  s.connect("one", 100s);
  s.pass(10s);
  s.connect("two", 1h);
  s.plan.take_publication();
  EXPECT_EQ(s.plan.next() - s.now.mono, 70s) << "the first one ends in 90 s";
  s.wait();
  EXPECT_EQ(s.plan.take_asking(), Need::renewal);
  EXPECT_TRUE(s.answer("two", 1h));
  EXPECT_EQ(s.plan.take_publication(), Publish::for_all) << "the connection of the first has one";
  EXPECT_EQ(s.plan.next() - s.now.mono, 55min);
}

TEST(LoginPlan, AtTheEndOfAnOlderLoginANewerOneTakesItsPlace) {
  Scene s(Kind::callback);
  s.connect("one", 10s);
  s.connect("two", 1h);
  s.plan.take_publication();
  const Deadline end = s.now.mono + 10s;
  for (s.wait(); s.now.mono < end; s.wait()) {
    if (s.plan.take_asking()) s.plan.on_failure(s.now);
  }
  EXPECT_EQ(s.present(), "two");
  EXPECT_EQ(s.plan.take_publication(), Publish::for_all);
}

TEST(LoginPlan, ARefusalAsksOnceAndOnlyAnotherAnswerIsTriedAtOnce) {
  Scene s(Kind::callback);
  s.connect("wrong");
  s.plan.take_publication();
  s.plan.on_refused();
  EXPECT_EQ(s.plan.take_asking(), Need::refused);
  EXPECT_TRUE(s.answer("wrong"));
  EXPECT_EQ(s.plan.take_publication(), Publish::nothing);
  s.plan.on_refused();
  EXPECT_EQ(s.plan.take_asking(), std::nullopt) << "that is known";
  EXPECT_TRUE(s.plan.on_connect(s.now));
  EXPECT_EQ(s.plan.take_asking(), Need::refused) << "a later connection says why it asks";
  EXPECT_TRUE(s.answer("right"));
  EXPECT_EQ(s.plan.take_publication(), Publish::for_all);
  s.plan.on_refused();
  EXPECT_EQ(s.plan.take_asking(), Need::refused) << "another login, another refusal";
}

TEST(LoginPlan, AnAnswerThatComesTooLateServesTheNextConnection) {
  Scene s(Kind::callback);
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(s.plan.on_connect(s.now));
    EXPECT_EQ(s.plan.take_asking(), Need::connect);
    s.plan.on_wait_over();
    s.pass(2s);
    EXPECT_TRUE(s.answer("slow"));
    s.pass(9s);
    EXPECT_FALSE(s.plan.on_connect(s.now));
  }
  EXPECT_TRUE(s.plan.on_connect(s.now)) << "but one only";
  EXPECT_EQ(s.plan.take_asking(), Need::connect);
  s.plan.on_wait_over();
  EXPECT_TRUE(s.answer("slow"));
  s.pass(LoginPlan::spare_life);
  EXPECT_TRUE(s.plan.on_connect(s.now)) << "and soon";
}

TEST(LoginPlan, AChangeDuringAQuestionIsAskedForAfterwards) {
  Scene s(Kind::file);
  EXPECT_TRUE(s.plan.on_connect(s.now));
  EXPECT_EQ(s.plan.take_asking(), Need::connect);
  s.plan.on_change();
  EXPECT_EQ(s.plan.take_asking(), std::nullopt);
  EXPECT_TRUE(s.answer("one"));
  EXPECT_EQ(s.plan.take_asking(), Need::renewal);
  s.plan.on_failure(s.now);
  EXPECT_EQ(s.present(), "one") << "connections that stand keep it";
}

}  // namespace
}  // namespace sheaf::client::runtime
