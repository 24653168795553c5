// Replies of a wrong type, bytes that are not replies, unexpected replies, and too large ones.

#include <gtest/gtest.h>

#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

// A complete reply of each type, and the requests that it can answer.
struct Sample {
  std::string_view bytes;
  std::string_view answers;  // names of the requests below
};
constexpr Sample samples[] = {
    {"$1\r\nv\r\n", "get touch stats"},
    {"_\r\n", "get touch add"},
    {"$-1\r\n", "get touch add"},
    {"+OK\r\n", "set add"},
    {"+PONG\r\n", "ping"},
    {"+QUEUED\r\n", ""},
    {":0\r\n", "del expire"},
    {":1\r\n", "del expire"},
    {":2\r\n", ""},
    {":-1\r\n", ""},
    {"=5\r\ntxt:v\r\n", "stats"},
    {"#t\r\n", ""},
    {",1.5\r\n", ""},
    {"(1\r\n", ""},
    {"*0\r\n", ""},
    {"*1\r\n$1\r\nv\r\n", ""},
    {"%0\r\n", ""},
    {"~0\r\n", ""},
    {"$2\r\nOK\r\n", "get touch stats"},
};
struct Request {
  std::string_view name;
  Operation operation;
  Server server = Server::redis;
};
std::vector<Request> requests() {
  return {{"get", get("k")},
          {"touch", operation(Verb::touch, "k"), Server::garnet},
          {"expire", living(operation(Verb::touch, "k"), 1s)},
          {"set", set("k", "v")},
          {"add", with(set("k", "v"), Condition::if_absent)},
          {"del", operation(Verb::remove, "k")},
          {"ping", operation(Verb::probe)},
          {"ping", operation(Verb::server_version)},
          {"stats", operation(Verb::stats)}};
}

// Garnet's garbage may begin with whole replies from the past.
TEST(RespHostile, AReplyOfAnotherTypeThanWasAskedForEndsTheConnection) {
  for (const Request& request : requests()) {
    for (const Sample& sample : samples) {
      ReadyWire wire(request.server);
      wire.submit(request.operation);
      wire.submit(get("next"));
      wire.take();
      wire.feed(sample.bytes);
      const auto names = ' ' + std::string(sample.answers) + ' ';
      const bool fits = names.find(' ' + std::string(request.name) + ' ') != names.npos;
      EXPECT_EQ(wire.session.closed(), !fits) << request.name << ' ' << sample.bytes;
      if (fits) {
        EXPECT_EQ(wire.next().kind, Event::Kind::reply) << request.name << ' ' << sample.bytes;
        continue;
      }
      EXPECT_EQ(wire.next().sent, Sent::maybe);
      EXPECT_EQ(wire.next().sent, Sent::maybe);
      EXPECT_EQ(wire.end().reason, Reason::protocol_error);
      EXPECT_EQ(wire.session.close_reason().text,
                "the server broke the protocol: a reply of an unexpected type");
    }
  }
}

TEST(RespHostile, TheTypeIsCheckedAlsoWhenNobodyWaits) {
  ReadyWire wire;
  const Ticket given_up = wire.submit(set("k", "v"));
  wire.take();
  wire.session.cancel(given_up, wire.now());
  wire.feed("$1\r\nv\r\n");
  EXPECT_EQ(wire.end().reason, Reason::protocol_error);
}

TEST(RespHostile, AReplyToNothingEndsTheConnection) {
  for (const Sample& sample : samples) {
    ReadyWire wire;
    wire.feed(sample.bytes);
    EXPECT_EQ(wire.end().text, "the server broke the protocol: a reply without a request")
        << sample.bytes;
  }
  ReadyWire error;
  error.feed("-ERR something\r\n");
  EXPECT_EQ(error.end().reason, Reason::protocol_error);
  ReadyWire twice;
  EXPECT_EQ(twice.ask(get("k"), "$1\r\nv\r\n$1\r\nv\r\n").value, "v");
  EXPECT_EQ(twice.end().reason, Reason::protocol_error);
}

TEST(RespHostile, NoReplyMayComeBeforeItsRequestHasLeft) {
  for (const std::size_t left : {0u, 5u}) {
    ReadyWire wire;
    wire.submit(get("k"));
    wire.take(left);
    wire.feed("$1\r\nv\r\n");
    EXPECT_EQ(wire.next().sent, Sent::no);
    EXPECT_EQ(wire.end().text,
              "the server broke the protocol: a reply to a request that has not been sent");
  }
}

// ---- pieces and garbage

// A conversation with every kind of request, and its events.
class Conversation {
 public:
  void begin(Wire& wire) const {
    wire.submit(get("a"));
    wire.submit(many(keys_));
    wire.submit(set("b", "v"));
    wire.submit(asking(get("c")));
    wire.submit(operation(Verb::remove, "d"));
    wire.submit(operation(Verb::stats));
    wire.submit(get("e"));
    wire.submit(get("f"));
    Operation mget = many(keys_);
    mget.may_be_unsure = true;
    wire.submit(mget);
    wire.take();
  }
  std::vector<Seen> events_of(std::string_view bytes, std::size_t step) const {
    ReadyWire wire(Server::redis, options());
    begin(wire);
    wire.feed(bytes, step);
    return {wire.events.begin(), wire.events.end()};
  }
  static SessionOptions options() {
    SessionOptions options = test_options();
    options.value_limit = 100;
    return options;
  }
  const std::string& replies() const { return replies_; }

 private:
  const std::vector<std::string_view> keys_{"1", "2", "3"};
  const std::string replies_ =
      "$5\r\nhel\r\n\r\n"
      "$1\r\n1\r\n-MOVED 5649 [::1]:7000\r\n$1\r\n3\r\n"
      ">3\r\n+message\r\n$1\r\nx\r\n*1\r\n_\r\n"
      "+OK\r\n"
      "+OK\r\n_\r\n+PONG\r\n"
      "|1\r\n+ttl\r\n:1\r\n:0\r\n" +
      verbatim("# A\r\na:1\r\n") + bulk(std::string(120, 'v')) +
      "-CLUSTERDOWN Hash slot not served\r\n"
      "*3\r\n$5\r\n$1\r\nx\r\n_\r\n$0\r\n\r\n";
};

TEST(RespHostile, TheSameBytesMakeTheSameEventsInWhateverPieces) {
  const Conversation talk;
  const auto expected = talk.events_of(talk.replies(), talk.replies().size());
  ASSERT_EQ(expected.size(), 15u);
  EXPECT_EQ(expected[8].value, "a 1\n");
  EXPECT_EQ(expected[9].reason, Reason::too_large);
  EXPECT_EQ(expected[11].value, "$1\r\nx");
  for (std::size_t step = 1; step < 40; ++step) {
    EXPECT_EQ(talk.events_of(talk.replies(), step), expected) << step;
  }
  for (std::size_t split = 1; split < talk.replies().size(); ++split) {
    ReadyWire wire(Server::redis, Conversation::options());
    talk.begin(wire);
    wire.feed(talk.replies().substr(0, split));
    wire.feed(talk.replies().substr(split));
    EXPECT_EQ(std::vector<Seen>(wire.events.begin(), wire.events.end()), expected) << split;
    EXPECT_TRUE(wire.session.clean());
  }
}

bool is_prefix(const std::vector<Seen>& prefix, const std::vector<Seen>& of) {
  return prefix.size() <= of.size() && std::equal(prefix.begin(), prefix.end(), of.begin());
}

// Garnet 2.2.5 sends this for a key that has expired.
TEST(RespHostile, GarbageAtAnyByteEndsTheConnectionAndIsNeverAValue) {
  const Conversation talk;
  const auto expected = talk.events_of(talk.replies(), talk.replies().size());
  for (const std::string& garbage : {std::string(131'072, '\0'), std::string(1'000, '\n'),
                                     "\xff\xfe" + std::string(100'000, 'x')}) {
    for (std::size_t at = 0; at < talk.replies().size(); ++at) {
      auto events = talk.events_of(talk.replies().substr(0, at) + garbage, 40'000);
      ASSERT_FALSE(events.empty()) << at;
      ASSERT_EQ(events.back().kind, Event::Kind::closed) << at;
      while (!events.empty() && (events.back().kind == Event::Kind::closed ||
                                 events.back().kind == Event::Kind::failed)) {
        events.pop_back();
      }
      EXPECT_TRUE(is_prefix(events, expected)) << at;
    }
  }
}

// The beginning of each reply of a conversation, and the end.
std::vector<std::size_t> beginnings(std::string_view replies) {
  std::vector<std::size_t> all{0};
  ReplyReader reader;
  while (all.back() < replies.size()) {
    if (reader.read(replies.substr(all.back())) != ReplyReader::Progress::complete) break;
    all.push_back(all.back() + reader.size());
  }
  return all;
}

// The bytes after that byte look like replies and must not be read as replies.
TEST(RespHostile, AByteThatBeginsNoReplyIsFoundWhereverItIsAndWhereverTheReadsEnd) {
  const Conversation talk;
  const std::string& replies = talk.replies();
  const auto expected = talk.events_of(replies, replies.size());
  const std::vector<std::size_t> places = beginnings(replies);
  ASSERT_EQ(places.size(), 15u);
  for (const std::size_t at : places) {
    const std::string bytes = replies.substr(0, at) + '\0' + replies.substr(at);
    std::vector<Seen> before;  // for the replies before the byte
    for (std::size_t split = 1; split <= bytes.size(); ++split) {
      ReadyWire wire(Server::redis, Conversation::options());
      talk.begin(wire);
      wire.feed(std::string_view(bytes).substr(0, split));
      wire.feed(std::string_view(bytes).substr(split));
      std::vector<Seen> events(wire.events.begin(), wire.events.end());
      ASSERT_EQ(events.back().kind, Event::Kind::closed) << at << ' ' << split;
      EXPECT_EQ(wire.session.close_reason().reason, Reason::protocol_error);
      EXPECT_EQ(wire.session.counters().late_replies, 0u);
      events.pop_back();
      while (!events.empty() && events.back().kind == Event::Kind::failed) {
        EXPECT_EQ(events.back().sent, Sent::maybe) << at << ' ' << split;
        events.pop_back();
      }
      EXPECT_TRUE(is_prefix(events, expected)) << at << ' ' << split;
      if (split == 1) before = events;
      EXPECT_EQ(events, before) << at << ' ' << split;
    }
  }
}

TEST(RespHostile, NoByteButTheTypesOfRespBeginsAReply) {
  constexpr std::string_view types = "+-:$*_#,(=!%~>|";
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char first = static_cast<char>(byte);
    if (types.find(first) != types.npos) continue;
    const std::string bytes = first + "1\r\nv\r\n"s;
    for (std::size_t split = 1; split < bytes.size(); ++split) {
      ReadyWire wire;
      wire.submit(get("a"));
      wire.submit(set("b", "v"));
      wire.take();
      wire.feed(bytes.substr(0, split));
      wire.feed(bytes.substr(split));
      EXPECT_EQ(wire.next().sent, Sent::maybe) << byte;
      EXPECT_EQ(wire.next().sent, Sent::maybe) << byte;
      EXPECT_EQ(wire.end().reason, Reason::protocol_error) << byte;
    }
  }
}

TEST(RespHostile, GarbageIsNamedInTheReason) {
  ReadyWire wire;
  wire.submit(get("k"));
  wire.take();
  wire.feed("\0\0\0"sv);
  EXPECT_EQ(wire.end().text,
            "the server broke the protocol: a byte that begins no reply (0x00 at byte 0 of a "
            "reply)");
}

// ---- large ones

TEST(RespHostile, AValueAboveTheLimitIsRefusedAndTheConnectionGoesOn) {
  SessionOptions options = test_options();
  for (const std::uint64_t limit : {100ull, 1'500'000ull, 3'000'000ull}) {
    options.value_limit = limit;
    for (const std::size_t above : {std::size_t{1}, std::size_t{2'000'000}}) {
      ReadyWire wire(Server::redis, options);
      const std::string fits(limit, 'v');
      wire.submit(get("a"));
      wire.submit(get("b"));
      wire.take();
      wire.feed(bulk(std::string(limit + above, 'v')) + bulk(fits), 60'000);
      const Seen refused = wire.next();
      EXPECT_EQ(refused.status, Status::refused);
      EXPECT_EQ(refused.reason, Reason::too_large);
      EXPECT_EQ(refused.text, "the value is above value_limit");
      EXPECT_EQ(wire.next().value, fits) << limit << ' ' << above;
      EXPECT_TRUE(wire.session.clean());
    }
  }
}

TEST(RespHostile, OfALargeValueNothingIsKept) {
  ReadyWire wire;
  wire.submit(get("k"));
  wire.take();
  wire.feed("$300000000\r\n");
  const std::string part(1'000'000, 'v');
  for (int i = 0; i < 300; ++i) wire.feed(part);
  EXPECT_LE(wire.session.input_capacity(), 64u << 10);
  EXPECT_FALSE(wire.session.closed());
  wire.feed("\r\n");
  EXPECT_EQ(wire.next().reason, Reason::too_large);
}

TEST(RespHostile, ALargeValueMayBeOfNobodyAnyMore) {
  ReadyWire wire;
  const Ticket given_up = wire.submit(get("a"));
  wire.submit(get("b"));
  wire.take();
  wire.feed("$3000000\r\n");
  wire.session.cancel(given_up, wire.now());
  wire.feed(std::string(3'000'000, 'v') + "\r\n$1\r\nb\r\n", 100'000);
  EXPECT_EQ(wire.next().value, "b");
}

TEST(RespHostile, ALargeTextThatNobodyAskedForIsNotPassedOver) {
  for (const Request& request : requests()) {
    const bool is_text =
        request.name == "get" || request.name == "touch" || request.name == "stats";
    ReadyWire wire(request.server);
    wire.submit(request.operation);
    wire.take();
    wire.feed("$3000000\r\n");
    EXPECT_EQ(wire.session.closed(), !is_text) << request.name;
  }
  ReadyWire idle;
  idle.feed("$3000000\r\n");
  EXPECT_EQ(idle.end().text,
            "the server broke the protocol: a text above its limit (0x24 at byte 0 of a reply)");
  ReadyWire endless;
  endless.submit(get("k"));
  endless.take();
  endless.feed("$5000000000\r\n");
  EXPECT_EQ(endless.end().reason, Reason::protocol_error);
}

TEST(RespHostile, ATextThatIsLongerThanAnnouncedEndsTheConnection) {
  ReadyWire wire;
  wire.submit(get("k"));
  wire.take();
  wire.feed("$3000000\r\n" + std::string(3'000'002, 'v'), 100'000);
  EXPECT_EQ(wire.end().reason, Reason::protocol_error);
}

// ---- pushes

TEST(RespHostile, PushesAreSetAsideWhereverTheyCome) {
  ReadyWire wire;
  wire.feed(">1\r\n+idle\r\n");
  wire.submit(get("a"));
  wire.submit(get("b"));
  wire.take();
  wire.feed(">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n$1\r\na\r\n>1\r\n_\r\n>0\r\n$1\r\nb\r\n", 1);
  EXPECT_EQ(wire.next().value, "a");
  EXPECT_EQ(wire.next().value, "b");
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().bad_notifications, 4u);
}

}  // namespace
}  // namespace sheaf::protocol::resp
