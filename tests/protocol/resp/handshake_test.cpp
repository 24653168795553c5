#include "protocol/resp/greeting/handshake.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/wire/reply_reader.h"
#include "tests/protocol/resp/live_replies.h"
#include "tests/protocol/resp/reply_text.h"
#include "tests/support/logins.h"

namespace sheaf::protocol::resp {
namespace {

using State = Handshake::State;

// A conversation: what the client writes, as text, and the server's answers.
class Talk {
 public:
  explicit Talk(HandshakeOptions options = {}) : options_(std::move(options)) {
    handshake_.begin();
  }

  // The commands written since the last call, as `["PING"] ...`.
  std::string sent() {
    handshake_.write(writer_);
    std::string bytes;
    for (const Bytes part : output_.parts()) bytes += as_text(part);
    output_.taken(bytes.size());
    std::string out;
    ReplyReader reader;
    for (std::string_view left = bytes; reader.read(left) == ReplyReader::Progress::complete;
         left.remove_prefix(reader.size())) {
      if (!out.empty()) out += ' ';
      for (const Value word : reader.root()) {
        if (!out.empty() && out.back() != ' ') out += '_';
        out += word.text();
      }
    }
    return out;
  }
  State answer(std::string_view bytes) {
    ReplyReader reader;
    while (reader.read(bytes) == ReplyReader::Progress::complete) {
      handshake_.on_reply(reader.root());
      bytes.remove_prefix(reader.size());
    }
    EXPECT_TRUE(bytes.empty());
    return handshake_.state();
  }
  const Handshake& handshake() const { return handshake_; }
  const CloseReason& failure() const { return handshake_.failure(); }

 private:
  HandshakeOptions options_;
  Handshake handshake_{options_};
  OutputQueue output_;
  CommandWriter writer_{output_};
};

constexpr std::string_view old_setinfo =
    "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP.\r\n"
    "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP.\r\n";
constexpr std::string_view hello_without_login =
    "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
    "<proto> "
    "AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol "
    "version at the same time\r\n";

TEST(RespHandshake, WithGarnet) {
  Talk talk;
  EXPECT_EQ(talk.sent(), "HELLO_3");
  EXPECT_EQ(talk.sent(), "") << "once";
  EXPECT_EQ(talk.answer(live::garnet_hello_resp3), State::last);
  const std::string last = talk.sent();
  EXPECT_TRUE(last.starts_with("CLIENT_SETINFO_LIB-NAME_sheaf CLIENT_SETINFO_LIB-VER_")) << last;
  EXPECT_TRUE(last.ends_with(" CLUSTER_MYID PING")) << last;
  EXPECT_EQ(talk.answer("+OK\r\n+OK\r\n$3\r\nabc\r\n+PONG\r\n"), State::ready);
  EXPECT_EQ(talk.sent(), "");
  EXPECT_EQ(talk.handshake().owed(), 0u);
  const ServerFacts& server = talk.handshake().server();
  EXPECT_TRUE(server.is(Software::garnet)) << "though it calls itself redis";
  EXPECT_EQ(server.version, (ServerVersion{2, 2, 8}));
  EXPECT_EQ(server.role, Role::primary);
  EXPECT_TRUE(server.cluster);
  EXPECT_EQ(server.id, "abc");
  EXPECT_EQ(server.protocol, 3);
}

TEST(RespHandshake, WithRedisThatDoesNotKnowSetInfo) {
  Talk talk;
  talk.sent();
  EXPECT_EQ(talk.answer(live::redis_hello_resp3), State::last);
  talk.sent();
  EXPECT_EQ(talk.answer(old_setinfo), State::last);
  EXPECT_EQ(talk.answer("+PONG\r\n"), State::ready);
  const ServerFacts& server = talk.handshake().server();
  EXPECT_TRUE(server.at_least(Software::redis, {7, 0, 15}));
  EXPECT_FALSE(server.at_least(Software::redis, {7, 2, 0}));
  EXPECT_FALSE(server.at_least(Software::garnet, {0, 0, 0}));
  EXPECT_FALSE(server.cluster);
}

TEST(RespHandshake, TheLoginIsAlone) {
  Talk talk({.login = test::login_slot("app", "pw")});
  EXPECT_EQ(talk.sent(), "AUTH_app_pw");
  EXPECT_EQ(talk.answer("+OK\r\n"), State::greeting);
  EXPECT_EQ(talk.sent(), "HELLO_3");
  Talk without_user({.login = test::login_slot("", "pw")});
  EXPECT_EQ(without_user.sent(), "AUTH_pw");
}

TEST(RespHandshake, ALoginThatIsRefusedEndsIt) {
  for (const std::string_view error :
       {"-WRONGPASS invalid username-password pair or user is disabled.\r\n",
        "-WRONGPASS Invalid username/password combination\r\n", "-ERR invalid password\r\n",
        "-ERR Client sent AUTH, but configured authenticator does not accept passwords\r\n",
        "-ERR wrong number of arguments for 'auth' command\r\n"}) {
    Talk talk({.login = test::login_slot("app", "pw")});
    talk.sent();
    EXPECT_EQ(talk.answer(error), State::failed) << error;
    EXPECT_EQ(talk.failure().reason, Reason::authentication) << error;
    EXPECT_TRUE(talk.failure().permanent) << error;
    EXPECT_TRUE(talk.failure().text.starts_with("the server refused AUTH: ")) << error;
    EXPECT_EQ(talk.failure().text.find("pw"), std::string::npos) << "no password in a text";
    EXPECT_EQ(talk.sent(), "") << "nothing more is sent";
  }
}

TEST(RespHandshake, AServerThatWantsALoginSaysSoInItsOwnWay) {
  Talk redis;
  redis.sent();
  EXPECT_EQ(redis.answer(hello_without_login), State::failed);
  EXPECT_EQ(redis.failure().reason, Reason::authentication);
  EXPECT_TRUE(redis.failure().permanent);
  // Garnet answers HELLO without a login.
  Talk garnet;
  garnet.sent();
  EXPECT_EQ(garnet.answer(live::garnet_hello_resp3), State::last);
  garnet.sent();
  EXPECT_EQ(garnet.answer("-NOAUTH Authentication required.\r\n"), State::failed);
  EXPECT_EQ(garnet.failure().reason, Reason::authentication);
  // A server that does not know SETINFO reports the missing login in its reply to PING.
  Talk old_server;
  old_server.sent();
  EXPECT_EQ(old_server.answer(live::redis_hello), State::last);
  old_server.sent();
  EXPECT_EQ(old_server.answer(old_setinfo), State::last);
  EXPECT_EQ(old_server.answer("-NOAUTH Authentication required.\r\n"), State::failed);
}

TEST(RespHandshake, FallsBackToTheOldProtocol) {
  for (const std::string_view error :
       {"-ERR unknown command 'HELLO', with args beginning with: '3' \r\n",
        "-ERR unknown command\r\n", "-NOPROTO unsupported protocol version\r\n",
        "-ERR Unsupported protocol version\r\n",
        "-NOPERM this user has no permissions to run the 'hello' command\r\n",
        "-ERR command 'HELLO' is not allowed here\r\n",
        "-MISCONF Errors writing to the AOF file: No space left on device\r\n", "-odd\r\n"}) {
    Talk talk;
    talk.sent();
    EXPECT_EQ(talk.answer(error), State::asking) << error;
    EXPECT_EQ(talk.sent(), "INFO_server INFO_replication");
    const std::string info = "# Server\r\nredis_version:5.0.7\r\nredis_mode:cluster\r\n";
    EXPECT_EQ(talk.answer("$" + std::to_string(info.size()) + "\r\n" + info + "\r\n"),
              State::asking);
    EXPECT_EQ(talk.answer("$25\r\n# Replication\r\nrole:slave\r\n"), State::last);
    talk.sent();
    EXPECT_EQ(talk.answer(old_setinfo), State::last);
    EXPECT_EQ(talk.answer("$3\r\nabc\r\n+PONG\r\n"), State::ready);
    const ServerFacts expected{
        Software::redis, ServerVersion{5, 0, 7}, Role::replica, true, 2, "abc"};
    EXPECT_EQ(talk.handshake().server(), expected);
  }
}

TEST(RespHandshake, FactsMayStayUnknown) {
  Talk talk;
  talk.sent();
  talk.answer("-ERR unknown command\r\n");
  talk.sent();
  EXPECT_EQ(talk.answer("-NOPERM no\r\n-ERR unknown command\r\n"), State::last);
  talk.sent();
  EXPECT_EQ(talk.answer("-NOPERM no\r\n-NOPERM no\r\n-NOPERM no\r\n"), State::ready)
      << "whom an ACL forbids PING is logged in";
  EXPECT_EQ(talk.handshake().server(), ServerFacts());
}

TEST(RespHandshake, ReadonlyIsPartOfIt) {
  Talk talk({.readonly = true});
  talk.sent();
  talk.answer(live::garnet_hello_resp3);
  EXPECT_TRUE(talk.sent().ends_with(" CLUSTER_MYID READONLY PING"));
  EXPECT_EQ(talk.answer("+OK\r\n+OK\r\n$3\r\nabc\r\n+OK\r\n+PONG\r\n"), State::ready);

  Talk alone({.readonly = true});
  alone.sent();
  alone.answer(live::redis_hello);
  alone.sent();
  alone.answer(old_setinfo);
  EXPECT_EQ(alone.answer("-ERR This instance has cluster support disabled\r\n+PONG\r\n"),
            State::ready)
      << "a server of its own redirects nothing";

  Talk refused({.readonly = true});
  refused.sent();
  refused.answer(live::redis_hello);
  refused.sent();
  refused.answer(old_setinfo);
  EXPECT_EQ(refused.answer("-NOPERM no\r\n"), State::failed);
  EXPECT_EQ(refused.failure().reason, Reason::not_authorized);
}

TEST(RespHandshake, AServerThatHidesItsIdIsNoStranger) {
  const auto known = std::make_shared<KnownServers>();
  known->assign({"known"});
  Talk talk({.known = known});
  talk.sent();
  talk.answer(live::garnet_hello_resp3);
  talk.sent();
  EXPECT_EQ(talk.answer("+OK\r\n+OK\r\n-NOPERM no\r\n+PONG\r\n"), State::ready);
  EXPECT_EQ(talk.handshake().server().id, "");
}

// An address may pass to a server of another cluster, as that of a pod that has ended.
TEST(RespHandshake, AServerOfAnotherClusterIsRefused) {
  const auto known = std::make_shared<KnownServers>();
  const auto greet = [&](bool readonly) {
    Talk talk({.readonly = readonly, .known = known});
    talk.sent();
    talk.answer(live::garnet_hello_resp3);
    talk.sent();
    talk.answer("+OK\r\n+OK\r\n$5\r\nother\r\n");
    if (readonly) talk.answer("+OK\r\n");
    const State state = talk.answer("+PONG\r\n");
    if (state == State::failed) {
      EXPECT_EQ(talk.failure().reason, Reason::foreign_server);
      EXPECT_FALSE(talk.failure().permanent) << "the address may pass back at any time";
      EXPECT_EQ(talk.failure().text,
                "another server has the address: its ID other is not one of the cluster's");
    }
    return state;
  };
  for (const bool readonly : {false, true}) {
    known->assign({});
    EXPECT_EQ(greet(readonly), State::ready) << "nothing is known yet";
    known->assign({"b", "a"});
    EXPECT_EQ(greet(readonly), State::failed);
    known->assign({"a", "other"});
    EXPECT_EQ(greet(readonly), State::ready) << "a known server named it";
  }
}

// What a server answers in each step of a handshake without a login, up to the step of an error.
struct Before {
  std::string_view step;
  std::vector<std::string_view> replies;
};
const std::vector<Before> steps = {
    {"HELLO", {}},
    {"INFO", {"-ERR unknown command\r\n"}},
    {"CLIENT SETINFO", {live::redis_hello_resp3}},
    {"PING", {live::redis_hello_resp3, old_setinfo}},
};

// The step's question has been sent.
void go_to(const Before& before, Talk& talk) {
  talk.sent();
  for (const std::string_view reply : before.replies) {
    talk.answer(reply);
    talk.sent();
  }
}

TEST(RespHandshake, AServerThatAnswersByAnErrorIsAlive) {
  for (const std::string_view error :
       {"-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist "
        "to disk.\r\n",
        "-MISCONF Errors writing to the AOF file: No space left on device\r\n",
        "-BUSY Redis is busy running a script.\r\n", "-NOREPLICAS Not enough good replicas\r\n",
        "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
        "-CLUSTERDOWN The cluster is down\r\n", "-NOPERM no\r\n", "-ERR not allowed\r\n",
        "-no upstream host\r\n"}) {
    for (const Before& before : steps) {
      Talk talk;
      go_to(before, talk);
      State state = talk.handshake().state();
      for (int answers = 0; answers < 6 && talk.handshake().owed() > 0; ++answers) {
        state = talk.answer(error);
        talk.sent();
      }
      EXPECT_EQ(state, State::ready) << error << " to " << before.step;
    }
  }
}

TEST(RespHandshake, AServerThatTurnsTheClientAwayIsNotReadyWhateverTheStep) {
  struct Case {
    std::string_view error;
    bool permanent;
  };
  for (const auto& [error, permanent] :
       {Case{"-LOADING Redis is loading the dataset in memory\r\n", false},
        Case{
            "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n",
            false},
        Case{"-NOAUTH Authentication required.\r\n", true},
        Case{"-WRONGPASS invalid username-password pair or user is disabled.\r\n", true},
        Case{"-DENIED Redis is running in protected mode\r\n", true},
        Case{"-ERR max number of clients reached\r\n", false}}) {
    for (const Before& before : steps) {
      Talk talk;
      go_to(before, talk);
      EXPECT_EQ(talk.answer(error), State::failed) << error << " to " << before.step;
      EXPECT_EQ(talk.failure().permanent, permanent) << error << " to " << before.step;
    }
  }
}

// The connection would redirect every read.
TEST(RespHandshake, WithoutReadonlyAReplicaIsNotRead) {
  for (const std::string_view error :
       {"-MISCONF no\r\n", "-BUSY Redis is busy running a script.\r\n"}) {
    Talk talk({.readonly = true});
    talk.sent();
    talk.answer(live::redis_hello);
    talk.sent();
    talk.answer(old_setinfo);
    EXPECT_EQ(talk.answer(error), State::failed);
    EXPECT_FALSE(talk.failure().permanent);
  }
}

TEST(RespHandshake, OddRepliesBreakTheProtocol) {
  struct Case {
    std::vector<std::string_view> before;
    std::string_view odd;
  };
  for (const auto& [before, odd] :
       {Case{{}, "+OK\r\n"}, Case{{}, ":1\r\n"}, Case{{}, "$-1\r\n"},
        Case{{"-ERR unknown command\r\n"}, ":1\r\n"}, Case{{live::redis_hello}, "*0\r\n"},
        Case{{live::redis_hello}, "$2\r\nOK\r\n"},
        Case{{live::redis_hello, old_setinfo}, "+OK\r\n"},
        Case{{live::redis_hello, old_setinfo}, "$4\r\nPONG\r\n"}}) {
    Talk talk;
    talk.sent();
    for (const std::string_view reply : before) {
      talk.answer(reply);
      talk.sent();
    }
    EXPECT_EQ(talk.answer(odd), State::failed) << odd;
    EXPECT_EQ(talk.failure().reason, Reason::protocol_error) << odd;
    EXPECT_FALSE(talk.failure().permanent);
  }
  Talk login({.login = test::login_slot("", "pw")});
  login.sent();
  EXPECT_EQ(login.answer("+QUEUED\r\n"), State::failed);
}

TEST(RespHandshake, RepliesAfterAFailureChangeNothing) {
  Talk talk;
  talk.sent();
  talk.answer(live::redis_hello);
  talk.sent();
  EXPECT_EQ(talk.answer("-NOAUTH Authentication required.\r\n-NOAUTH x\r\n-NOAUTH y\r\n"),
            State::failed);
  EXPECT_EQ(talk.failure().text,
            "the server refused CLIENT SETINFO: NOAUTH Authentication required.");
}

TEST(ServerFacts, FormsOfHello) {
  const auto facts = [](const std::string& bytes) {
    ReplyReader reader;
    EXPECT_EQ(reader.read(bytes), ReplyReader::Progress::complete);
    return ServerFacts::of_hello(reader.root());
  };
  EXPECT_EQ(facts("*4\r\n+server\r\n+valkey\r\n+version\r\n+8.1.0\r\n"),
            (ServerFacts{Software::valkey, ServerVersion{8, 1, 0}, {}, false, 2}));
  EXPECT_EQ(facts("%2\r\n+proto\r\n$1\r\n3\r\n+role\r\n+replica\r\n").protocol, 3)
      << "as a text, in Garnet before November 2024";
  EXPECT_EQ(facts("*0\r\n"), ServerFacts());
  EXPECT_EQ(facts("%3\r\n+version\r\n:7\r\n+proto\r\n+x\r\n+mode\r\n_\r\n"), ServerFacts());
  EXPECT_EQ(facts("*3\r\n+server\r\n+redis\r\n+version\r\n"),
            (ServerFacts{.software = Software::redis}));
}

TEST(ServerFacts, FormsOfInfo) {
  const auto facts = [](std::string_view text) {
    ServerFacts read;
    read.add_info(text);
    return read;
  };
  EXPECT_EQ(
      facts("# Server\r\ngarnet_version:2.2.8\r\nredis_version:7.4.3\r\nredis_mode:cluster\r\n"),
      (ServerFacts{Software::garnet, ServerVersion{2, 2, 8}, {}, true, 2}));
  EXPECT_EQ(
      facts("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\nrole:master"),
      (ServerFacts{Software::valkey, ServerVersion{8, 0, 1}, Role::primary, false, 2}));
  EXPECT_EQ(facts("redis_version:\r\n:\r\n\n\r\nrole"), (ServerFacts{.software = Software::redis}));
  EXPECT_EQ(facts(""), ServerFacts());
}

}  // namespace
}  // namespace sheaf::protocol::resp
