#include "protocol/resp/wire/server_error.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sheaf::protocol::resp {
namespace {

using Target = Redirect::Target;

struct Exact {
  std::string_view text;
  ErrorKind kind;
  Execution execution;
};

// Errors as servers send them, byte for byte: Garnet 2.2.5 and 2.2.8, Redis 7.0.15.
constexpr Exact exact[] = {
    {"MOVED 12182 127.0.0.1:17303", ErrorKind::moved, Execution::not_executed},
    {"ASK 93 127.0.0.1:17402", ErrorKind::ask, Execution::not_executed},
    {"TRYAGAIN Multiple keys request during rehashing of slot", ErrorKind::try_again,
     Execution::not_executed},
    {"CLUSTERDOWN Hash slot not served", ErrorKind::cluster_down, Execution::not_executed},
    {"CLUSTERDOWN The cluster is down", ErrorKind::cluster_down, Execution::not_executed},
    {"CLUSTERDOWN Hashlot not served", ErrorKind::cluster_down, Execution::not_executed},
    {"MIGRATING", ErrorKind::migrating, Execution::not_executed},
    {"LOADING Redis is loading the dataset in memory", ErrorKind::loading, Execution::not_executed},
    {"READONLY You can't write against a read only replica.", ErrorKind::read_only,
     Execution::not_executed},
    {"ERR You can't write against a read only replica.", ErrorKind::read_only,
     Execution::not_executed},
    {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
     ErrorKind::master_down, Execution::not_executed},
    {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
     ErrorKind::busy, Execution::not_executed},
    {"UNBLOCKED force unblock from blocking operation, instance state changed "
     "(master -> replica?)",
     ErrorKind::unblocked, Execution::not_executed},
    {"NOREPLICAS Not enough good replicas to write.", ErrorKind::no_replicas,
     Execution::not_executed},
    {"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist on "
     "disk.",
     ErrorKind::misconfigured, Execution::not_executed},
    {"OOM command not allowed when used memory > 'maxmemory'.", ErrorKind::out_of_memory,
     Execution::not_executed},
    {"NOAUTH Authentication required.", ErrorKind::no_auth, Execution::not_executed},
    {"NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
     "<proto> "
     "AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
     "protocol "
     "version at the same time",
     ErrorKind::no_auth, Execution::not_executed},
    {"WRONGPASS Invalid username/password combination", ErrorKind::wrong_pass, Execution::refused},
    {"WRONGPASS Invalid password", ErrorKind::wrong_pass, Execution::refused},
    {"WRONGPASS invalid username-password pair or user is disabled.", ErrorKind::wrong_pass,
     Execution::refused},
    {"ERR invalid password", ErrorKind::wrong_pass, Execution::refused},
    {"ERR Client sent AUTH, but configured authenticator does not accept passwords",
     ErrorKind::auth_unwanted, Execution::refused},
    {"ERR Client sent AUTH, but no password is set", ErrorKind::auth_unwanted, Execution::refused},
    {"ERR AUTH <password> called without any password configured for the default user. Are you "
     "sure your configuration is correct?",
     ErrorKind::auth_unwanted, Execution::refused},
    {"NOPERM this user has no permissions to run the command", ErrorKind::no_perm,
     Execution::refused},
    {"DENIED Redis is running in protected mode because", ErrorKind::denied, Execution::refused},
    {"NOPROTO unsupported protocol version", ErrorKind::no_proto, Execution::refused},
    {"ERR Unsupported protocol version", ErrorKind::no_proto, Execution::refused},
    {"ERR max number of clients reached", ErrorKind::too_many_clients, Execution::not_executed},
    {"CROSSSLOT Keys in request do not hash to the same slot", ErrorKind::cross_slot,
     Execution::refused},
    {"CROSSSLOT Keys in request don't hash to the same slot", ErrorKind::cross_slot,
     Execution::refused},
    {"WRONGTYPE Operation against a key holding the wrong kind of value.", ErrorKind::wrong_type,
     Execution::refused},
    {"ERR unknown command", ErrorKind::unknown_command, Execution::refused},
    {"ERR unknown command 'FOO', with args beginning with: 'bar' ", ErrorKind::unknown_command,
     Execution::refused},
    {"ERR unknown subcommand 'TRACKING'.", ErrorKind::unknown_subcommand, Execution::refused},
    {"ERR unknown subcommand 'NOSUCH'. Try CLUSTER HELP", ErrorKind::unknown_subcommand,
     Execution::refused},
    {"ERR Unknown subcommand or wrong number of arguments for 'x'. Try CLUSTER HELP.",
     ErrorKind::unknown_subcommand, Execution::refused},
    {"ERR wrong number of arguments for 'INCR' command", ErrorKind::wrong_arguments,
     Execution::refused},
    {"ERR syntax error", ErrorKind::syntax, Execution::refused},
    {"ERR value is not an integer or out of range.", ErrorKind::bad_number, Execution::refused},
    {"ERR invalid expire time in 'set' command", ErrorKind::bad_expiry, Execution::refused},
    {"ETAG must be a numerical value greater than or equal to 0", ErrorKind::bad_etag,
     Execution::refused},
    {"NOSCRIPT No matching script. Please use EVAL.", ErrorKind::no_script,
     Execution::not_executed},
    {"BUSYKEY Target key name already exists.", ErrorKind::busy_key, Execution::refused},
    {"EXECABORT Transaction discarded because of previous errors.", ErrorKind::exec_abort,
     Execution::refused},
    {"ERR This instance has cluster support disabled", ErrorKind::cluster_disabled,
     Execution::refused},
    {"ERR This instance has Lua scripting support disabled", ErrorKind::scripts_disabled,
     Execution::refused},
    {"ERR Protocol Error: Expected '$', got ' '", ErrorKind::protocol_error, Execution::unknown},
    {"ERR Protocol error: invalid bulk length", ErrorKind::protocol_error, Execution::unknown},
    {"IOERR Migrate keys failed", ErrorKind::io_error, Execution::unknown},
    {"ERR SELECT is not allowed in cluster mode", ErrorKind::plain, Execution::refused},
    {"ERR Node is not configured as a REPLICA", ErrorKind::plain, Execution::refused},
    {"MY own error of a script", ErrorKind::other, Execution::unknown},
};

TEST(ServerError, KnowsWhatServersSend) {
  for (const Exact& row : exact) {
    const ServerError error = ServerError::parse(row.text);
    EXPECT_EQ(error.kind, row.kind) << row.text;
    EXPECT_EQ(error.execution(), row.execution) << row.text;
    EXPECT_EQ(error.text, std::string_view(row.text).substr(0, row.text.find(", with args")))
        << "without what was asked";
    const bool leads_on = row.kind == ErrorKind::moved || row.kind == ErrorKind::ask;
    EXPECT_EQ(error.redirect.has_value(), leads_on) << row.text;
  }
}

TEST(ServerError, TellsTheErrorAndNotTheScriptAroundIt) {
  const ServerError error = ServerError::parse(
      "ERR increment or decrement would overflow script: "
      "8a2e5b1ef3d7a5a5d0d6d5b9c3c1e1a2f3b4c5d6, on @user_script:1.");
  EXPECT_EQ(error.kind, ErrorKind::overflow);
  EXPECT_EQ(error.execution(), Execution::refused);
  EXPECT_EQ(error.reason(), Reason::bad_argument);
  EXPECT_EQ(error.text, "ERR increment or decrement would overflow");
}

TEST(ServerError, NeedsTheWholeFirstWord) {
  for (const std::string_view text :
       {"", " ", "MO", "MOVE", "MOVEDx 1 a:1", "moved 1 a:1", "AS", "ASKING 1 a:1", "TRYAGAINx",
        "CLUSTERDOW", "LOADIN", "err syntax error", "ERRx", "-MOVED 1 a:1", " MOVED 1 a:1",
        "\tMOVED 1 a:1", "MOVED\t1 a:1", "ZZZ", "A"}) {
    EXPECT_EQ(ServerError::parse(text).kind, ErrorKind::other) << text;
    EXPECT_EQ(ServerError::parse(text).execution(), Execution::unknown) << text;
  }
}

TEST(ServerError, TakesEveryFormOfEndpoint) {
  const auto target = [](std::string_view endpoint) {
    return ServerError::parse("MOVED 16383 " + std::string(endpoint)).redirect;
  };
  const auto named = [](std::string_view host, std::uint16_t port) {
    return Redirect{16383, Target::named, host, port};
  };
  EXPECT_EQ(*ServerError::parse("MOVED 16383 10.0.0.1:1").redirect, named("10.0.0.1", 1));
  EXPECT_EQ(*ServerError::parse("MOVED 16383 ::1:7000").redirect, named("::1", 7000));
  EXPECT_EQ(*ServerError::parse("MOVED 16383 2001:db8::2:1:65535").redirect,
            named("2001:db8::2:1", 65535));
  EXPECT_EQ(*ServerError::parse("MOVED 16383 [::1]:7000").redirect, named("::1", 7000));
  EXPECT_EQ(*ServerError::parse("MOVED 16383 redis-1.example.com:7000").redirect,
            named("redis-1.example.com", 7000));
  EXPECT_EQ(*target(":7001"), (Redirect{16383, Target::answering_host, {}, 7001}));
  EXPECT_EQ(*target("?:7001"), (Redirect{16383, Target::unknown_host, {}, 7001}));
  EXPECT_EQ(ServerError::parse("ASK 0 a:1").redirect->slot, 0);
}

TEST(ServerError, PortZeroMeansThatNobodyServesTheSlot) {
  for (const std::string_view text : {"MOVED 949 unassigned:0", "MOVED 949 ?:0", "MOVED 949 :0",
                                      "MOVED 949 unassigned:7000", "MOVED 949 10.0.0.1:0"}) {
    const ServerError error = ServerError::parse(text);
    EXPECT_EQ(error.kind, ErrorKind::cluster_down) << text;
    EXPECT_FALSE(error.redirect) << text;
    EXPECT_EQ(error.execution(), Execution::not_executed) << text;
  }
}

TEST(ServerError, OddRedirectsAreNeverFollowed) {
  for (const std::string& text :
       std::vector<std::string>{"MOVED",
                                "MOVED ",
                                "MOVED  ",
                                "MOVED 1",
                                "MOVED 1 ",
                                "MOVED 1 a",
                                "MOVED 1 a:",
                                "MOVED 16384 a:1",
                                "MOVED 99999 x:1",
                                "MOVED -1 a:1",
                                "MOVED +1 a:1",
                                "MOVED 01 a:1",
                                "MOVED 1x a:1",
                                "MOVED x a:1",
                                "MOVED 18446744073709551617 a:1",
                                "MOVED 1 a:65536",
                                "MOVED 1 a:-1",
                                "MOVED 1 a:+1",
                                "MOVED 1 a:01",
                                "MOVED 1 a:1x",
                                "MOVED 1 a:1 ",
                                "MOVED 1  a:1",
                                "MOVED 1 a b:1",
                                "MOVED 1 a:1 b",
                                "MOVED 1 a\x01:1",
                                "MOVED 1 \x7f:1",
                                "MOVED 1 \xc3\xa9:1",
                                "MOVED 1 a:99999999999999999999",
                                "MOVED 1 " + std::string(256, 'h') + ":1"}) {
    const ServerError error = ServerError::parse(text);
    EXPECT_EQ(error.kind, ErrorKind::bad_redirect) << text;
    EXPECT_FALSE(error.redirect) << text;
    EXPECT_EQ(error.execution(), Execution::unknown) << text;
  }
}

TEST(ServerError, NoBeginningOfARedirectLeadsSomewhereElse) {
  const std::string text = "ASK 12182 10.0.0.1:17303";
  for (std::size_t size = 0; size < text.size(); ++size) {
    // A string of exactly this size, so that AddressSanitizer detects a read past its end.
    const std::string cut = text.substr(0, size);
    const ServerError error = ServerError::parse(cut);
    if (error.redirect) {
      // Only a cut inside the port looks like a whole line; the reader finds the end of the line.
      EXPECT_GT(size, text.rfind(':') + 1);
      EXPECT_EQ(error.redirect->host, "10.0.0.1");
    }
  }
}

TEST(ServerError, SomeAreAboutTheConnection) {
  struct Case {
    std::string_view text;
    bool ends_connection;
    bool permanent;
  };
  const Case cases[] = {
      {"NOAUTH Authentication required.", true, true},
      {"DENIED Redis is running in protected mode", true, true},
      {"ERR max number of clients reached", true, false},
      {"ERR Protocol error: invalid bulk length", true, false},
      {"NOPERM this user has no permissions", false, true},
      {"WRONGPASS invalid username-password pair", false, true},
      {"LOADING Redis is loading", false, false},
      {"ERR syntax error", false, false},
      {"MOVED 1 a:1", false, false},
  };
  for (const Case& expected : cases) {
    const ServerError error = ServerError::parse(expected.text);
    EXPECT_EQ(error.ends_connection(), expected.ends_connection) << expected.text;
    EXPECT_EQ(error.permanent(), expected.permanent) << expected.text;
  }
}

TEST(ServerError, ReasonsAreThoseOfOtherEndpoints) {
  EXPECT_EQ(ServerError::parse("OOM x").reason(), Reason::quota);
  EXPECT_EQ(ServerError::parse("NOAUTH x").reason(), Reason::authentication);
  EXPECT_EQ(ServerError::parse("NOPERM x").reason(), Reason::not_authorized);
  EXPECT_EQ(ServerError::parse("WRONGTYPE x").reason(), Reason::wrong_type);
  EXPECT_EQ(ServerError::parse("ERR unknown command").reason(), Reason::unknown_command);
  EXPECT_EQ(ServerError::parse("ERR syntax error").reason(), Reason::syntax);
  EXPECT_EQ(ServerError::parse("MOVED").reason(), Reason::protocol_error);
  EXPECT_EQ(ServerError::parse("ERR x").reason(), Reason::other);
}

}  // namespace
}  // namespace sheaf::protocol::resp
