// Where the map of a cluster comes from: which server is asked, when, and the effects of the
// answers.

#include "cluster/map_fetcher.h"

#include "tests/cluster/redirects_harness.h"
#include "tests/cluster/scripted_map.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;

class MapFetcherTest : public RedirectsTest {
 protected:
  MapFetcherTest() { begin_with({.seeds = {a, b}}); }
  ~MapFetcherTest() override {
    cluster->shut_down(loop.now());
    loop.settle();
    fetcher.reset();
  }

  void begin_with(MapTerms terms, std::vector<std::string_view> questions = {"OWNS"}) {
    make(std::move(terms), std::move(questions));
    connect();
  }
  // No dial has been answered yet.
  void make(MapTerms terms, std::vector<std::string_view> questions = {"OWNS"}) {
    if (cluster != nullptr) cluster->shut_down(loop.now());
    loop.settle();
    cluster.reset();
    fetcher.reset();
    script = {
        .servers = {a, b}, .owners = {{100, 0}, {16'384, 1}}, .questions = std::move(questions)};
    auto map = std::make_unique<MapOfScript>(script);
    auto first = MapFetcher::first_topology(terms.seeds, *map, table);
    cluster = std::make_unique<ClientCluster>(
        config, std::move(first), node::NodeParts{loop, network, network, log}, Random(1).fork());
    RedirectRules rules;
    rules.table = &table;
    fetcher = std::make_unique<MapFetcher>(MapFetcher::Parts{*cluster, loop, log, table},
                                           std::move(map), std::move(terms), Random(3).fork());
    rules.source = fetcher.get();
    rules.calm.known = false;
    cluster->follow_redirects(rules, Random(2).fork());
    loop.settle();
  }
  // The server that has the question; empty if no server has it.
  std::string questioned() {
    for (const Member& member : cluster->topology().members()) {
      node::FakeSession* const found = session(member.identity());
      if (found != nullptr && found->in_flight() > 0 &&
          found->verbs.back() == protocol::Verb::command) {
        return member.identity();
      }
    }
    return {};
  }
  void give(std::string_view value) {
    protocol::Reply reply;
    reply.value = value;
    node::FakeSession* const there = session(questioned());
    there->answer(reply);
    network.deliver(*there);
    connect();
  }
  void give_map() { give("map"); }
  void refuse() {
    protocol::Reply reply;
    reply.status = protocol::Status::refused;
    node::FakeSession* const there = session(questioned());
    there->answer(reply);
    network.deliver(*there);
    connect();
  }
  // The server of the next question, however late it comes.
  std::string next_question() {
    for (int i = 0; i < 650 && questioned().empty(); ++i) loop.pass(100ms);
    return questioned();
  }
  std::vector<std::string> members() {
    std::vector<std::string> names;
    for (const Member& member : cluster->topology().members()) names.push_back(member.identity());
    std::ranges::sort(names);
    return names;
  }

  ScriptedMap script;
  std::unique_ptr<MapFetcher> fetcher;
};

TEST_F(MapFetcherTest, TheMapIsAskedForAtOnceAndWhoWaitsForItGoesOn) {
  ASSERT_NE(questioned(), "");
  RedirectedOp& op = start("7");
  EXPECT_EQ(op.ends, 0u);
  give_map();
  EXPECT_EQ(owner_of(99), "a:1");
  EXPECT_EQ(owner_of(100), "b:1");
  loop.pass(10ms);
  ASSERT_EQ(in_flight("a:1"), 1u);
  answer("a:1");
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(fetcher->problem().text, "");
  EXPECT_EQ(questioned(), "") << "once is enough";
  loop.pass(20s);
  EXPECT_EQ(questioned(), "");
  EXPECT_NE(next_question(), "") << "now and then it is asked for again";
}

TEST_F(MapFetcherTest, WhoeverGivesNoMapIsFollowedByTheNext) {
  const std::string first = questioned();
  give("nonsense");
  const std::string second = questioned();
  EXPECT_NE(second, "");
  EXPECT_NE(second, first);
  EXPECT_EQ(fetcher->problem().text, first + ": no map");
  give_map();
  EXPECT_EQ(owner_of(0), "a:1");
  EXPECT_EQ(fetcher->problem().text, "");
}

// Otherwise a client that may not use the first form would begin with a pause of a second.
TEST_F(MapFetcherTest, AServerThatRefusesAQuestionIsAskedTheNextOneAtOnce) {
  begin_with({.seeds = {a, b}}, {"FIRST", "SECOND", "THIRD"});
  const std::string first = questioned();
  refuse();
  EXPECT_EQ(questioned(), first);
  refuse();
  EXPECT_EQ(questioned(), first);
  give_map();
  EXPECT_EQ(owner_of(0), "a:1");
  EXPECT_EQ(script.asked.size(), 3u);
}

TEST_F(MapFetcherTest, EveryServerIsAskedEveryQuestionOnceInARound) {
  begin_with({.seeds = {a, b}}, {"FIRST", "SECOND", "THIRD"});
  const std::string first = questioned();
  for (int i = 0; i < 3; ++i) refuse();
  const std::string second = questioned();
  EXPECT_NE(second, first);
  EXPECT_NE(second, "");
  for (int i = 0; i < 3; ++i) refuse();
  EXPECT_EQ(questioned(), "");
  EXPECT_EQ(script.asked.size(), 6u);
  loop.pass(1'001ms);
  EXPECT_NE(questioned(), "");
}

TEST_F(MapFetcherTest, AMapThatTookHalfOfItAsksTheSameServerForTheRest) {
  begin_with({.seeds = {a, b}}, {"OWNS", "HOSTS"});
  RedirectedOp& op = start("7");
  const std::string first = questioned();
  give("half");
  EXPECT_EQ(questioned(), first);
  EXPECT_EQ(fetcher->problem().text, "no server has answered yet");
  EXPECT_EQ(op.ends, 0u);
  give_map();
  loop.pass(10ms);
  answer("a:1");
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(script.asked.size(), 2u);
}

TEST_F(MapFetcherTest, TheRestOfAMapMayComeFromAnotherServer) {
  begin_with({.seeds = {a, b}}, {"OWNS", "HOSTS"});
  const std::string first = questioned();
  give("half");
  node::FakeSession* const there = session(first);
  there->on_eof(loop.now());
  network.deliver(*there);
  connect();
  EXPECT_NE(questioned(), "");
  EXPECT_NE(questioned(), first);
  give_map();
  EXPECT_TRUE(fetcher->known());
}

// The only seed is out of date. What it names is asked next, not the seed again.
TEST_F(MapFetcherTest, ASeedWithoutAMapNamesTheServersThatAreAskedNext) {
  make({.seeds = {a}});
  script.servers = {b};
  script.owners = {{16'384, 0}};
  script.others = {b, c};
  connect();
  RedirectedOp& op = start("7");
  ASSERT_EQ(questioned(), "a:1");
  give("nonsense");
  connect();
  const std::string second = questioned();
  EXPECT_TRUE(second == "b:1" || second == "c:1") << second;
  give_map();
  connect();
  loop.pass(10ms);
  ASSERT_EQ(in_flight("b:1"), 1u);
  answer("b:1");
  EXPECT_TRUE(op.answered);
}

// A server may be out of date, or a slot may really have no owner. Each round asks a few servers.
TEST_F(MapFetcherTest, AMapWithoutTheOwnerOfAWantedSlotIsFollowedByTheNextServer) {
  script.owners = {{100, 0}};
  script.others = {b, c};
  RedirectedOp& op = start("200");
  const std::string first = questioned();
  give_map();
  connect();
  const std::string second = questioned();
  EXPECT_NE(second, "");
  EXPECT_NE(second, first);
  EXPECT_EQ(fetcher->problem().text, "");
  EXPECT_EQ(op.ends, 0u);
  script.owners = {{100, 0}, {16'384, 1}};
  give_map();
  loop.pass(300ms);
  ASSERT_EQ(in_flight("b:1"), 1u);
  answer("b:1");
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(questioned(), "");
}

TEST_F(MapFetcherTest, ASlotThatNobodyOwnsCostsFourQuestionsARound) {
  begin_with(
      {.seeds = {{"a", 1, 1}, {"b", 1, 1}, {"c", 1, 1}, {"d", 1, 1}, {"e", 1, 1}, {"f", 1, 1}}});
  script.servers = {a, b};
  script.owners = {{100, 0}, {150, 1}};
  script.others = {{"c", 1, 1}, {"d", 1, 1}, {"e", 1, 1}, {"f", 1, 1}};
  start("200");
  unsigned asked = 0;
  while (!questioned().empty() && asked < 10) {
    give_map();
    connect();
    ++asked;
  }
  EXPECT_EQ(asked, 4u);
}

TEST_F(MapFetcherTest, AServerThatIsSilentIsPassedOverSoon) {
  const std::string first = questioned();
  loop.pass(301ms);
  const std::string second = questioned();
  EXPECT_NE(second, "");
  EXPECT_NE(second, first);
}

// Four round trips of 100 ms, and no other server to ask.
TEST_F(MapFetcherTest, TheOnlySeedMayBeSlow) {
  make({.seeds = {a}});
  script.servers = {a};
  script.owners = {{16'384, 0}};
  RedirectedOp& op = start("7", 1s);
  loop.pass(400ms);
  connect();
  ASSERT_EQ(questioned(), "a:1");
  loop.pass(100ms);
  give_map();
  loop.pass(250ms);
  ASSERT_EQ(in_flight("a:1"), 1u);
  answer("a:1");
  EXPECT_TRUE(op.answered);
}

TEST_F(MapFetcherTest, ASlowSeedHasASecondTurnAfterTheOthers) {
  make({.seeds = {a, b}});
  loop.pass(50ms);
  network.refuse();  // one of them is down, the other is slow
  loop.pass(500ms);
  network.accept();
  EXPECT_NE(questioned(), "");
  give_map();
  EXPECT_EQ(owner_of(7), "a:1");
}

TEST_F(MapFetcherTest, SeedsThatStaySilentHaveTheirSecondTurnOnce) {
  make({.seeds = {a, b}, .patience = 1s});
  connect();
  std::vector<std::string> asked;
  for (int i = 0; i < 26; ++i) {
    const std::string now = questioned();
    if (asked.empty() || asked.back() != now) asked.push_back(now);
    loop.pass(100ms);
  }
  ASSERT_GE(asked.size(), 4u);
  EXPECT_EQ(asked[2], asked[0]);
  EXPECT_EQ(asked[3], asked[1]);
  loop.pass(100ms);
  EXPECT_EQ(questioned(), "") << "then there is a pause";
}

TEST_F(MapFetcherTest, WhileThereIsNoMapAllAreAskedAgainEverySecondAndTheReasonIsSaid) {
  give("nonsense");
  give("nonsense");
  EXPECT_EQ(questioned(), "");
  const RedirectedOp& op = start("7", 500ms);
  loop.pass(501ms);
  EXPECT_EQ(op.outcome, Outcome::not_sent);
  const std::string_view end =
      ": no map; so the map of the cluster could not be fetched, and no server owns slot 7 "
      "(no time is left for another attempt)";
  EXPECT_TRUE(op.text.ends_with(end)) << op.text;
  loop.pass(600ms);
  EXPECT_NE(questioned(), "");
  give_map();
  EXPECT_EQ(owner_of(0), "a:1");
}

TEST_F(MapFetcherTest, ACallThatWaitsInVainSaysWhyTheLatestServerGaveNoMap) {
  make({.seeds = {a, b}});
  while (network.dialing() > 0) network.refuse();
  const RedirectedOp& op = start("7", 500ms);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(op.ends, 0u) << "they may come back";
    while (network.dialing() > 0) network.refuse();
    loop.pass(10ms);
  }
  loop.pass(200ms);
  EXPECT_EQ(op.outcome, Outcome::not_sent);
  EXPECT_EQ(op.reason, Reason::node_down);
  EXPECT_NE(op.text.find(":1: connection refused"), op.text.npos) << op.text;
}

TEST_F(MapFetcherTest, WhileEveryServerRefusesTheLogInCallsEndAtOnce) {
  make({.seeds = {a, b}});
  const RedirectedOp& first = start("7", 60s);
  while (network.dialing() > 0) network.refuse_log_in();
  loop.pass(300ms);
  EXPECT_EQ(first.ends, 1u);
  EXPECT_EQ(first.outcome, Outcome::not_sent);
  EXPECT_EQ(first.reason, Reason::authentication);
  const std::string text(first.text);
  EXPECT_EQ(text.substr(text.find(":1: ")),
            ":1: WRONGPASS; so the map of the cluster could not be fetched, and no server owns "
            "slot 7");
  EXPECT_EQ(text.find(":1: "), 1u) << "the reason comes first";
  const RedirectedOp& next = start("7", 60s);
  EXPECT_EQ(next.ends, 1u);
  EXPECT_EQ(next.reason, Reason::authentication);
  for (int i = 0; i < 150 && owner_of(7).empty(); ++i) {  // the password is right from now on
    connect();
    for (const char* const server : {"a:1", "b:1"}) {
      const node::FakeSession* const there = session(server);
      if (there == nullptr || there->in_flight() == 0) continue;
      there->verbs.back() == protocol::Verb::command ? give_map() : answer(server);
    }
    loop.pass(100ms);
  }
  EXPECT_EQ(owner_of(7), "a:1");
  RedirectedOp& last = start("7", 60s);
  connect();
  ASSERT_EQ(last.ends, 0u) << last.text;
  answer("a:1");
  EXPECT_TRUE(last.answered);
}

TEST_F(MapFetcherTest, WithAnotherLoginEveryServerIsAskedAtOnce) {
  make({.seeds = {a, b}});
  while (network.dialing() > 0) network.refuse_log_in();
  loop.pass(1ms);
  EXPECT_EQ(network.dialing(), 0u);
  cluster->renew_logins(loop.now());
  loop.settle();
  EXPECT_EQ(network.dialing(), 2u);
}

TEST_F(MapFetcherTest, WhileNoServerGetsThroughItsHandshakeCallsEndAtOnceAndItHeals) {
  make({.seeds = {a, b}});
  const RedirectedOp& first = start("7", 60s);
  while (network.dialing() > 0) network.cut_handshake();
  loop.pass(300ms);
  EXPECT_EQ(first.ends, 1u);
  EXPECT_EQ(first.outcome, Outcome::not_sent);
  EXPECT_EQ(first.reason, Reason::node_down);
  EXPECT_NE(first.text.find(":1: TLS: the server ended"), first.text.npos) << first.text;
  for (int i = 0; i < 150 && owner_of(7).empty(); ++i) {
    connect();
    for (const char* const server : {"a:1", "b:1"}) {
      const node::FakeSession* const there = session(server);
      if (there == nullptr || there->in_flight() == 0) continue;
      there->verbs.back() == protocol::Verb::command ? give_map() : answer(server);
    }
    loop.pass(100ms);
  }
  EXPECT_EQ(owner_of(7), "a:1");
}

// The server that refuses may only have to start.
TEST_F(MapFetcherTest, WhileOneServerRefusesConnectionsCallsWaitThoughAnotherCutsTheHandshake) {
  make({.seeds = {a, b}});
  const RedirectedOp& op = start("7", 60s);
  network.cut_handshake();
  for (int i = 0; i < 30; ++i) {
    while (network.dialing() > 0) network.refuse();
    loop.pass(100ms);
  }
  EXPECT_EQ(op.ends, 0u) << op.text;
}

TEST_F(MapFetcherTest, WhileOneServerMayStillAnswerCallsWaitThoughAnotherRefusesTheLogIn) {
  make({.seeds = {a, b}});
  const RedirectedOp& op = start("7", 60s);
  network.refuse_log_in();
  while (network.dialing() > 0) network.refuse();
  for (int i = 0; i < 30; ++i) {
    while (network.dialing() > 0) network.refuse();
    loop.pass(100ms);
  }
  EXPECT_EQ(op.ends, 0u) << op.text;
}

TEST_F(MapFetcherTest, ServersJoinAndLeaveAsTheMapSays) {
  give_map();
  script.servers = {b, c};
  script.owners = {{50, 1}, {16'384, 0}};
  ASSERT_NE(next_question(), "");
  give_map();
  EXPECT_EQ(members(), (std::vector<std::string>{"b:1", "c:1"}));
  EXPECT_EQ(owner_of(0), "c:1");
  EXPECT_EQ(owner_of(50), "b:1");
}

// "c:1 of a:1"; empty: no server replicates another.
std::string replicas_of(const Topology& topology) {
  std::string text;
  for (const Member& member : topology.members()) {
    if (!member.is_replica()) continue;
    text.append(text.empty() ? "" : ", ").append(member.identity()).append(" of ");
    text.append(topology.members()[member.primary].identity());
  }
  return text;
}

TEST_F(MapFetcherTest, ReplicasAreMembersWhereReadsMayGoToThem) {
  for (const bool wanted : {false, true}) {
    begin_with({.seeds = {a, b}, .replicas = wanted});
    script.others = {c};
    script.replicas = {{c, 0}};
    give_map();
    EXPECT_EQ(replicas_of(cluster->topology()), wanted ? "c:1 of a:1" : "");
    EXPECT_EQ(members().size(), wanted ? 3u : 2u);
    EXPECT_EQ(owner_of(0), "a:1");
  }
}

TEST_F(MapFetcherTest, AnotherPrimaryOfAReplicaIsANewTopologyAndTheSameOneIsNone) {
  begin_with({.seeds = {a, b}, .replicas = true});
  script.replicas = {{c, 0}};
  give_map();
  const std::uint64_t before = epoch();
  ASSERT_NE(next_question(), "");
  give_map();
  EXPECT_EQ(epoch(), before);
  script.replicas = {{c, 1}};
  ASSERT_NE(next_question(), "");
  give_map();
  EXPECT_EQ(replicas_of(cluster->topology()), "c:1 of b:1");
}

TEST_F(MapFetcherTest, AReplicaThatGetsASlotIsNoReplicaAndTheOthersStay) {
  begin_with({.seeds = {a, b}, .replicas = true});
  script.replicas = {{c, 0}, {{"d", 1, 1}, 1}};
  give_map();
  start("7");
  moved("a:1", 7, "c");
  EXPECT_EQ(owner_of(7), "c:1");
  EXPECT_EQ(replicas_of(cluster->topology()), "d:1 of b:1");
}

TEST_F(MapFetcherTest, AReplicaThatMayNotHaveThePasswordIsNoMember) {
  begin_with({.seeds = {{"127.0.0.1", 1}}, .loopback_only = true, .replicas = true});
  script.servers = {{"127.0.0.1", 1}, {"10.0.0.1", 1}};
  script.replicas = {{{"10.0.0.2", 1}, 0}, {{"127.0.0.1", 2}, 0}, {{"127.0.0.1", 3}, 1}};
  give_map();
  EXPECT_EQ(replicas_of(cluster->topology()), "127.0.0.1:2 of 127.0.0.1:1");
}

TEST_F(MapFetcherTest, AListenerHasEachNewTopologyWhetherAMapOrARedirectMadeIt) {
  struct Listener final : MapListener {
    std::vector<std::uint64_t> epochs;
    void on_map(std::shared_ptr<const Topology> topology,
                std::shared_ptr<const protocol::KnownServers>) override {
      epochs.push_back(topology->epoch());
    }
  } listener;
  begin_with({.seeds = {a, b}, .listener = &listener});
  give_map();
  start("7");
  moved("a:1", 7, "b");
  EXPECT_EQ(listener.epochs, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(epoch(), 3u);
}

TEST_F(MapFetcherTest, TheSameMapChangesNothing) {
  give_map();
  const std::uint64_t before = epoch();
  script.servers = {b, a};
  script.owners = {{100, 1}, {16'384, 0}};
  ASSERT_NE(next_question(), "");
  give_map();
  EXPECT_EQ(epoch(), before) << "the order of servers is no difference";
}

TEST_F(MapFetcherTest, OnceNobodyKnownAnswersTheSeedsAndTheOthersAreAskedToo) {
  give_map();
  script.servers = {b};
  script.owners = {{16'384, 0}};
  script.others = {c};
  ASSERT_NE(next_question(), "");
  give_map();
  ASSERT_EQ(members(), std::vector<std::string>{"b:1"});
  ASSERT_EQ(next_question(), "b:1");
  give("nonsense");
  EXPECT_EQ(members(), (std::vector<std::string>{"a:1", "b:1", "c:1"}));
  EXPECT_EQ(owner_of(0), "b:1") << "its slots stay its own";
  script.servers = {c};
  loop.pass(1'001ms);
  give_map();
  EXPECT_EQ(members(), std::vector<std::string>{"c:1"});
  EXPECT_EQ(owner_of(0), "c:1");
}

TEST_F(MapFetcherTest, RedirectsToServersThatOwnNothingYetAreFollowed) {
  script.others = {c};
  give_map();
  RedirectedOp& op = start("7");
  moved("a:1", 7, "c");
  connect();
  ASSERT_EQ(in_flight("c:1"), 1u);
  answer("c:1");
  EXPECT_EQ(op.node, "c:1");
}

TEST_F(MapFetcherTest, AMovedSlotIsMendedAndTheMapThatCameLaterHolds) {
  give_map();
  RedirectedOp& op = start("7");
  moved("a:1", 7, "b");
  EXPECT_EQ(owner_of(7), "b:1");
  answer("b:1");
  EXPECT_TRUE(op.answered);
  loop.pass(1'100ms);
  ASSERT_NE(questioned(), "") << "the map is wanted";
  give_map();
  EXPECT_EQ(owner_of(7), "a:1");
}

TEST_F(MapFetcherTest, AServerThatLeadsToAStrangerIsAskedFirst) {
  give_map();
  const char* const hosts[] = {"c", "d", "e", "f"};
  for (std::size_t i = 0; i < std::size(hosts); ++i) {
    const std::string server = i % 2 == 0 ? "a:1" : "b:1";
    if (next_question() != "") give_map();
    loop.pass(2s);
    start(i % 2 == 0 ? "7" : "107", test::latency + 4ms);  // too little for another attempt
    moved(server, i % 2 == 0 ? 7 : 107, hosts[i]);
    loop.pass(20ms);
    EXPECT_EQ(questioned(), server) << i;
    if (questioned() != "") give_map();
  }
}

TEST_F(MapFetcherTest, APasswordIsForLoopbackServersOnly) {
  const NodeConfig here{"127.0.0.1", 1, 1};
  begin_with({.seeds = {here}, .loopback_only = true});
  script.servers = {here, {"10.0.0.1", 1, 1}, {"localhost", 2, 1}};
  script.owners = {{100, 0}, {200, 1}, {16'384, 2}};
  script.others = {{"10.0.0.2", 1, 1}};
  give_map();
  EXPECT_FALSE(fetcher->names("10.0.0.2"));
  EXPECT_EQ(fetcher->ban("10.0.0.2"),
            "the password would reach it unencrypted, which needs allow_plain_password=1");
  EXPECT_EQ(fetcher->ban("127.0.0.1"), "");
  EXPECT_EQ(members(), (std::vector<std::string>{"127.0.0.1:1", "localhost:2"}));
  EXPECT_EQ(owner_of(0), "127.0.0.1:1");
  EXPECT_EQ(owner_of(100), "");
  EXPECT_EQ(owner_of(200), "localhost:2");
  bool said = false;
  for (const LogRecord& record : log.records) {
    said = said || (record.node == "10.0.0.1:1" &&
                    record.text.find("allow_plain_password=1") != record.text.npos);
  }
  EXPECT_TRUE(said);
}

TEST_F(MapFetcherTest, NothingIsAskedOfAClusterThatShutsDown) {
  const std::string there = questioned();
  ASSERT_NE(there, "");
  cluster->shut_down(loop.now());
  loop.pass(5s);
  EXPECT_EQ(questioned(), "");
}

}  // namespace
}  // namespace sheaf::cluster
