#include <gtest/gtest.h>

#include <expected>
#include <set>
#include <string>

#include <sheaf/result.h>
#include <sheaf/stats.h>

namespace sheaf {
namespace {

using namespace std::chrono_literals;

TEST(ErrorMessage, NamesTheTimeAndTheNodeOfADeadline) {
  const Error error{Outcome::unknown, Reason::timed_out, "127.0.0.1:1883", 1s, ""};
  EXPECT_EQ(error.message(), "unknown: timed out after 1.00 s at 127.0.0.1:1883");
}

TEST(ErrorMessage, EndsARefusalWithTheServersWords) {
  const Error error{Outcome::refused, Reason::fencing_stale, "127.0.0.1:1883", 0s, "old token"};
  EXPECT_EQ(error.message(), "refused by 127.0.0.1:1883: fencing token is stale: old token");
}

TEST(ErrorMessage, SaysHowLongARefusalTook) {
  const Error error{Outcome::refused, Reason::quota, "b:1883", 1200us, ""};
  EXPECT_EQ(error.message(), "refused by b:1883 after 1.20 ms: quota is used up");
}

TEST(ErrorMessage, ShowsALocalRefusalByItsTextAlone) {
  const Error error{Outcome::invalid, Reason::bad_argument, "", 0s, "key is empty"};
  EXPECT_EQ(error.message(), "invalid: key is empty");
}

TEST(ErrorMessage, NamesTheReasonWhenThereIsNoText) {
  const Error error{Outcome::shutdown, Reason::closed, "", 0s, ""};
  EXPECT_EQ(error.message(), "shutdown: the client is closed");
}

TEST(ErrorMessage, AddsTheTextBehindReasonTimeAndNode) {
  const Error error{Outcome::not_sent, Reason::connect_failed, "b:1883", 500ms,
                    "connection refused"};
  EXPECT_EQ(error.message(),
            "not sent: connecting failed after 500 ms at b:1883: connection refused");
}

TEST(ErrorMessage, NamesTheNodeOfALocalRefusal) {
  const Error error{Outcome::invalid, Reason::too_large, "b:1883", 0s,
                    "value has 9 bytes, 8 is most"};
  EXPECT_EQ(error.message(), "invalid at b:1883: value has 9 bytes, 8 is most");
}

TEST(ErrorMessage, DoesNotRepeatTheReasonWhenTheTextOpensWithIt) {
  const Error error{Outcome::refused, Reason::syntax, "b:1", 0s, "syntax error"};
  EXPECT_EQ(error.message(), "refused by b:1: syntax error");
}

TEST(ErrorMessage, DoesNotRepeatTheReasonWhenTheTextHasItInside) {
  const Error error{Outcome::refused, Reason::fencing_required, "b:1", 0s,
                    "a fencing token is required for this request"};
  EXPECT_EQ(error.message(), "refused by b:1: a fencing token is required for this request");
}

TEST(ErrorMessage, SaysThatNoReasonWasGivenOnlyWithoutOne) {
  Error error{Outcome::refused, Reason::other, "b:1", 0s, ""};
  EXPECT_EQ(error.message(), "refused by b:1: no reason was given");
  error.text = "ERR bad command";
  EXPECT_EQ(error.message(), "refused by b:1: ERR bad command");
  EXPECT_EQ(to_string(error.reason), "other") << "programs print it next to the text";
}

TEST(ErrorMessage, StaysOneLineWhateverTheServerSays) {
  const Error error{Outcome::refused, Reason::other, "b:1", 0s, "two\r\nlines\x1b[2J"};
  EXPECT_EQ(error.message(), "refused by b:1: two\\x0D\\x0Alines\\x1B[2J");
}

TEST(ErrorMessage, CutsAnEndlessText) {
  const Error error{Outcome::refused, Reason::other, "b:1", 0s, std::string(1 << 20, 'x')};
  EXPECT_LT(error.message().size(), 600u);
}

TEST(ErrorWhy, SaysCauseHistoryEffectAndWhatToDo) {
  Error error{Outcome::unknown, Reason::connection_lost, "b1:1883", 12ms, ""};
  error.history = "is down since 1.00 s (Connection refused)";
  EXPECT_EQ(
      error.why(),
      "unknown: connection lost after 12.0 ms at b1:1883. The connection ended before the answer "
      "came. b1:1883 is down since 1.00 s (Connection refused). The request was sent: it may have "
      "been carried out, or be carried out later. Check the server's log for restarts and closed "
      "connections.");
  EXPECT_EQ(error.origin(), Origin::network);
}

TEST(ErrorWhy, APauseOfThisProcessIsNotHeldAgainstTheNode) {
  Error error{Outcome::unknown, Reason::timed_out, "b1:1883", 1s, ""};
  EXPECT_EQ(error.origin(), Origin::network);
  error.paused = true;
  EXPECT_EQ(error.origin(), Origin::process);
  EXPECT_TRUE(error.why().contains("This process itself did not run"));
  EXPECT_FALSE(error.why().contains("`timeout`"));
}

TEST(ErrorWhy, RepeatsAndContradictsNothing) {
  Error down{Outcome::not_sent, Reason::node_down, "b1:1883", 0s, "Connection refused"};
  down.history = "is down since 1.00 s (Connection refused), before that up for 35 s";
  EXPECT_EQ(down.why(),
            "not sent: node down at b1:1883: Connection refused. b1:1883 is down since 1.00 s, "
            "before that up for 35 s. Nothing was sent: it is safe to repeat. Check its name or "
            "address, and that the server is running and listens there. A client that stays open "
            "keeps probing it; calls succeed as soon as it answers.");
  const Error unanswered{Outcome::not_sent, Reason::connection_lost, "b1:1883", 0s, ""};
  EXPECT_FALSE(unanswered.why().contains("in flight")) << "nothing was sent";
  const Error sentence{Outcome::refused, Reason::other, "b:1", 0s, "ERR no such thing."};
  EXPECT_EQ(sentence.why(),
            "refused by b:1: ERR no such thing. The server answered that it did not carry it out.");
}

TEST(ErrorWhy, EveryReasonEndsWithWhatIsKnownOfTheEffect) {
  for (int i = 0; i <= static_cast<int>(Reason::read_only); ++i) {
    const Error error{Outcome::not_sent, static_cast<Reason>(i), "", 0s, ""};
    EXPECT_TRUE(error.why().contains("it is safe to repeat.")) << i;
    EXPECT_TRUE(error.why().ends_with('.')) << error.why();
  }
  EXPECT_EQ((Error{Outcome::refused, Reason::quota, "b", 0s, ""}.origin()), Origin::server);
  EXPECT_EQ((Error{Outcome::overloaded, Reason::queue_full, "b", 0s, ""}.origin()),
            Origin::process);
  EXPECT_EQ((Error{Outcome::invalid, Reason::bad_argument, "", 0s, ""}.origin()), Origin::caller);
}

TEST(Names, EveryOutcomeAndReasonHasItsOwn) {
  std::set<std::string_view> outcomes;
  for (int i = 0; i <= static_cast<int>(Outcome::invalid); ++i) {
    outcomes.insert(to_string(static_cast<Outcome>(i)));
  }
  EXPECT_EQ(outcomes.size(), static_cast<std::size_t>(Outcome::invalid) + 1);
  std::set<std::string_view> reasons;
  for (int i = 0; i <= static_cast<int>(Reason::incomplete); ++i) {
    reasons.insert(to_string(static_cast<Reason>(i)));
  }
  EXPECT_EQ(reasons.size(), static_cast<std::size_t>(Reason::incomplete) + 1);
}

TEST(Names, HealthIsOneWord) {
  EXPECT_EQ(to_string(NodeHealth::connecting), "connecting");
  EXPECT_EQ(to_string(NodeHealth::up), "up");
  EXPECT_EQ(to_string(NodeHealth::down), "down");
  EXPECT_EQ(to_string(NodeHealth::recovering), "recovering");
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 7;
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(*good, 7);
  const Result<int> bad = Failure({Outcome::invalid, Reason::bad_argument, "", 0s, "no"});
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().text, "no");
  EXPECT_EQ(bad.value_or(3), 3);
}

TEST(Result, ThrowsTheMessageWhenAskedForAMissingValue) {
  const Result<int> bad = Failure({Outcome::invalid, Reason::bad_argument, "", 0s, "no"});
  try {
    (void)bad.value();
    FAIL() << "no exception";
  } catch (const BadResultAccess& access) {
    EXPECT_STREQ(access.what(), "invalid: no");
  }
}

TEST(Result, ChainsWhileThereIsAValue) {
  const auto half = [](int n) -> Result<int> {
    if (n % 2 == 0) return n / 2;
    return Failure({Outcome::invalid, Reason::bad_argument, "", 0s, "odd"});
  };
  EXPECT_EQ(*Result<int>(8).and_then(half).and_then(half), 2);
  EXPECT_EQ(Result<int>(6).and_then(half).and_then(half).error().text, "odd");
  EXPECT_EQ(*Result<int>(3).transform([](int n) { return std::to_string(n); }), "3");
  const Result<int> kept = 8;
  EXPECT_EQ(*kept.and_then(half), 4);
  EXPECT_EQ(kept.transform([](int n) { return n + 1; }), 9);
  Result<std::string> text = std::string("a");
  EXPECT_EQ(text.transform([](std::string& t) { return (t += "b").size(); }), 2u);
  EXPECT_EQ(text, "ab");
  EXPECT_TRUE(kept.transform([](int) {}).has_value());
  EXPECT_EQ(Result<void>().transform([] { return 1; }), 1);
  EXPECT_EQ(Result<void>().and_then([] { return Result<int>(2); }), 2);
}

TEST(Result, AnErrorCanBeMended) {
  const Error error{Outcome::unknown, Reason::timed_out, "b:1", 1s, "late"};
  const Result<int> failed = Failure(error);
  const auto seven = [](const Error&) { return Result<int>(7); };
  EXPECT_EQ(failed.or_else(seven), 7);
  EXPECT_EQ(Result<int>(3).or_else(seven), 3);
  const auto rename = [](Error e) { return e.text = "too late", e; };
  EXPECT_EQ(failed.transform_error(rename).error().text, "too late");
  EXPECT_EQ(Result<int>(3).transform_error(rename), 3);
  EXPECT_EQ(failed.error_or(Error{}), error);
  EXPECT_EQ(Result<int>(3).error_or(error), error);
}

TEST(Result, AreEqualWithEqualValuesOrErrors) {
  const Error error{Outcome::unknown, Reason::timed_out, "b:1", 1s, "late"};
  EXPECT_EQ(Result<int>(3), Result<int>(3));
  EXPECT_NE(Result<int>(3), Result<int>(4));
  EXPECT_NE(Result<int>(3), Result<int>(Failure(error)));
  EXPECT_EQ(Result<int>(Failure(error)), Result<int>(Failure(error)));
  EXPECT_NE(Result<int>(Failure(error)), 3);
}

TEST(Result, BecomesAnExpected) {
  const std::expected<int, Error> three = Result<int>(3);
  EXPECT_EQ(three, 3);
  const Error error{Outcome::unknown, Reason::timed_out, "b:1", 1s, "late"};
  const std::expected<std::string, Error> failed = Result<std::string>(Failure(error));
  EXPECT_EQ(failed.error(), error);
  const std::expected<void, Error> done = Result<void>();
  EXPECT_TRUE(done.has_value());
}

}  // namespace
}  // namespace sheaf
