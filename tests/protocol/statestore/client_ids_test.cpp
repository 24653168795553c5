// Client IDs that rules can name: which connection has which, and that a process that has the ID of
// an earlier one is not given its answers.

#include "protocol/statestore/client_ids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "protocol/statestore/sessions.h"
#include "tests/protocol/statestore/session_harness.h"

namespace sheaf::protocol::statestore {
namespace {

constexpr std::array uses{SessionUse::requests, SessionUse::reads, SessionUse::probes,
                          SessionUse::watches};
const Now test_time{1'000s, 1'700'000'000'000ms};

ClusterConfig exact(std::string id = "press-7") {
  ClusterConfig config;
  config.nodes = {{.host = "one"}, {.host = "two"}};
  config.client_id_exact = std::move(id);
  return config;
}

// The client ID of the CONNECT that a session sends.
std::string id_of(Session& session) {
  session.start(test_time);
  const std::string bytes = take_output(session, test_time, static_cast<std::size_t>(-1));
  const auto frame = mqtt5::read_frame(bytes);
  const auto connect = mqtt5::Connect::parse(frame.frame, bytes);
  return connect ? std::string(connect->client_id) : "no CONNECT";
}

class ExactClientIds : public testing::Test {
 protected:
  std::unique_ptr<Session> make(SessionUse use = SessionUse::requests, unsigned node = 0) {
    return sessions.make(node, use, test_time);
  }
  std::string next_id(SessionUse use = SessionUse::requests) { return id_of(*make(use)); }
  StoreSessions sessions{exact(), Random(1).fork()};
};

TEST_F(ExactClientIds, TheSuffixSaysWhatAConnectionIsFor) {
  EXPECT_EQ(next_id(SessionUse::requests), "press-7");
  EXPECT_EQ(next_id(SessionUse::reads), "press-7");
  EXPECT_EQ(next_id(SessionUse::probes), "press-7-probe");
  EXPECT_EQ(next_id(SessionUse::watches), "press-7-watch");
}

TEST_F(ExactClientIds, ConnectionsThatAreOpenTogetherAreNumbered) {
  std::vector<std::unique_ptr<Session>> open;
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    for (const SessionUse use : uses) {
      if (use == SessionUse::reads) continue;
      open.push_back(make(use));
      ids.push_back(id_of(*open.back()));
    }
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"press-7", "press-7-probe", "press-7-watch", "press-7-2",
                                           "press-7-probe-2", "press-7-watch-2", "press-7-3",
                                           "press-7-probe-3", "press-7-watch-3"}));
}

TEST_F(ExactClientIds, EachBrokerSeesTheExactId) {
  const auto first = make(SessionUse::requests, 0);
  const auto second = make(SessionUse::requests, 1);
  EXPECT_EQ(id_of(*first), "press-7");
  EXPECT_EQ(id_of(*second), "press-7");
}

TEST_F(ExactClientIds, TheNextConnectionTakesTheIdOfTheOneThatEnded) {
  const auto first = make();
  auto second = make();
  EXPECT_EQ(id_of(*first), "press-7");
  EXPECT_EQ(id_of(*second), "press-7-2");
  first->on_eof(test_time);
  EXPECT_EQ(id_of(*make()), "press-7") << "although the old session has not been destroyed";
  second.reset();
  const auto third = make();
  const auto fourth = make();
  EXPECT_EQ(id_of(*third), "press-7");
  EXPECT_EQ(id_of(*fourth), "press-7-2");
}

TEST_F(ExactClientIds, AConnectionThatIsStillBeingDialedHasNoIdYet) {
  const auto dialing = make();
  const auto faster = make();
  EXPECT_EQ(id_of(*faster), "press-7");
  EXPECT_EQ(id_of(*dialing), "press-7-2");
}

TEST_F(ExactClientIds, AServerThatTakesAnIndexAfterAnotherSeesTheExactId) {
  {
    const auto first = make();
  }
  sessions.forget(0);
  EXPECT_EQ(next_id(), "press-7");
}

TEST_F(ExactClientIds, TheSessionSaysThatItsNameIsItsOwn) {
  const auto session = make(SessionUse::watches);
  id_of(*session);
  EXPECT_EQ(session->own_name(), "press-7-watch");
  ClusterConfig config = exact("");
  StoreSessions others(config, Random(1).fork());
  const auto other = others.make(0, SessionUse::requests, test_time);
  EXPECT_TRUE(id_of(*other).starts_with("sheaf-")) << "with a random part";
  EXPECT_EQ(other->own_name(), "");
}

// ---- a process that starts again

// A connection that is ready, of a client whose random numbers come from `seed`.
class OneProcess {
  StoreSessions sessions_;  // outlives the session

 public:
  explicit OneProcess(std::uint64_t seed) : sessions_(exact(), Random(seed).fork()) {
    session = sessions_.make(0, SessionUse::requests, test_time);
    session->start(test_time);
    take_output(*session, test_time, static_cast<std::size_t>(-1));
    feed(connack());
    take_output(*session, test_time, static_cast<std::size_t>(-1));
    feed(suback());
    const SeenRequest hello = take_request();
    feed(reply_bytes(hello.correlation, script("$-1\r\n")));
    EXPECT_TRUE(session->ready());
  }
  void feed(std::string_view bytes) {
    const std::span<std::byte> space = session->input_space();
    std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), space.begin());
    session->on_input(bytes.size(), test_time);
    Event event;
    while (session->poll_event(event)) ++events;
  }
  SeenRequest take_request() {
    const auto requests =
        Wire::requests_in(take_output(*session, test_time, static_cast<std::size_t>(-1)));
    return requests.empty() ? SeenRequest{} : requests.front();
  }
  SeenRequest ask() {
    Operation operation;
    operation.verb = Verb::get;
    operation.key = "key";
    EXPECT_TRUE(session->submit(operation, test_time));
    return take_request();
  }
  static ReplyScript script(std::string payload) {
    ReplyScript script;
    script.payload = std::move(payload);
    script.topic = response_topic(ResponseTopicForm::rust, "press-7");
    return script;
  }

  std::unique_ptr<Session> session;
  unsigned events = 0;
};

TEST(RestartedProcess, NoRequestOfItEqualsOneOfTheProcessBefore) {
  std::set<std::string> correlations;
  std::set<std::string> timestamps;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    OneProcess run(seed);
    for (int i = 0; i < 100; ++i) {
      const SeenRequest request = run.ask();
      EXPECT_EQ(request.response_topic, response_topic(ResponseTopicForm::rust, "press-7"));
      EXPECT_TRUE(correlations.insert(request.correlation).second);
      EXPECT_TRUE(timestamps.insert(request.timestamp).second) << "at the same wall clock, too";
    }
  }
}

TEST(RestartedProcess, AnAnswerToTheProcessBeforeIsNotTakenForOneOfItsOwn) {
  OneProcess before(1);
  const SeenRequest old = before.ask();
  OneProcess after(2);
  const SeenRequest own = after.ask();
  const unsigned events = after.events;
  after.feed(reply_bytes(old.correlation, OneProcess::script("$3\r\nold\r\n")));
  EXPECT_EQ(after.events, events);
  EXPECT_EQ(after.session->in_flight(), 1u);
  EXPECT_EQ(after.session->counters().late_replies, 1u);
  after.feed(reply_bytes(own.correlation, OneProcess::script("$3\r\nnew\r\n")));
  EXPECT_EQ(after.events, events + 1);
}

}  // namespace
}  // namespace sheaf::protocol::statestore
